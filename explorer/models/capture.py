"""Keep the heads of chosen layers from one forward pass of a transformers model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch import Tensor, nn

from explorer.errors import Stopped
from explorer.models.attention_call import AttentionCall
from explorer.models.attention_calls import handling
from explorer.models.base import LayerHeads, ShouldStop, never
from explorer.models.safety import Progress, silent

VALUE_NAMES = ("v_proj", "value", "v_lin", "v", "c_attn", "query_key_value", "qkv_proj", "qkv", "Wqkv")


class _Enough(Exception):
    """Ends a forward pass whose later layers nobody asked for."""


class _ValueInputs:
    """What the value projection that ran last in this thread has read."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.projection: nn.Module | None = None
        self.x = torch.empty(0)

    def note(self, projection: nn.Module, args: tuple[Any, ...]) -> None:
        if threading.get_ident() == self.thread:
            self.projection, self.x = projection, args[0]


def value_projection(attention: nn.Module) -> nn.Module | None:
    """Return the submodule that computes the values, alone or fused with queries and keys."""
    children = dict(attention.named_children())
    return next((children[name] for name in VALUE_NAMES if hasattr(children.get(name), "weight")), None)


@contextmanager
def _watching_values(body: nn.Module) -> Iterator[_ValueInputs]:
    inputs = _ValueInputs()
    found = (value_projection(module) for module in body.modules())
    hooks = [projection.register_forward_pre_hook(inputs.note) for projection in found if projection]
    try:
        yield inputs
    finally:
        for hook in hooks:
            hook.remove()


def _value_rows(rows: int, queries: int, groups: int, width: int) -> Iterator[slice | Tensor]:
    """Where the values' rows, (groups * width), may lie in a projection of so many rows."""
    yield slice(rows - groups * width, rows)
    if rows == (queries + 2 * groups) * width:
        yield torch.arange(rows).view(groups, -1, width)[:, -1].flatten()


def value_weights(projection: nn.Module, x: Tensor, v: Tensor, queries: int) -> Tensor | None:
    """Find the value weights by what they must do: v = x w_vᵀ (+ bias).

    Separate projections have them alone; fused ones behind those of queries and keys, or
    interleaved head by head (GPT-NeoX), so each place is tried on a few tokens.

    Parameters
    ----------
    projection : Module
        Linear, or GPT-2's Conv1D, whose weight is transposed.
    x : Tensor, shape (N, C)
    v : Tensor, shape (Hkv, N, Dv)
    queries : int
        How many query heads.

    Returns
    -------
    Tensor, shape (Hkv, Dv, C), or None
        None where no place reproduces v (values normalised or rotated after the projection).
    """
    weight: Any = projection.weight if isinstance(projection, nn.Linear) else projection.weight.T
    groups, _, width = v.shape
    if weight.shape[-1] != x.shape[-1] or weight.shape[0] < groups * width:
        return None
    bias = getattr(projection, "bias", None)
    few, read = v[:, :4].cpu().double(), x[:4].cpu().double()
    for rows in _value_rows(weight.shape[0], queries, groups, width):
        w = weight[rows].view(groups, width, -1)
        b = 0.0 if bias is None else bias[rows].view(groups, 1, width).cpu().double()
        error = read @ w.cpu().double().mT + b - few
        if error.norm() <= torch.finfo(v.dtype).eps ** 0.5 * few.norm():
            return w.detach()
    return None


def _keep(call: AttentionCall, inputs: _ValueInputs) -> LayerHeads:
    """Copy one layer's heads out of a call, so that nothing else of the pass stays alive."""
    q, v = call.q[0].contiguous(), call.v[0].contiguous()
    x = w_v = None
    if inputs.projection is not None and inputs.projection is value_projection(call.module):
        x = inputs.x.reshape(-1, inputs.x.shape[-1]).detach()
        w_v = value_weights(inputs.projection, x, v, call.q.shape[1])
    visible = None if call.visible is None else call.visible[0, 0].expand(call.q.shape[-2], -1)
    return LayerHeads(
        q=q if call.prescale == 1 else q / call.prescale, k=call.k[0].contiguous(), v=v,
        scale=call.scale * call.prescale, mask=visible,
        bias=None if call.bias is None else call.bias[0].detach(), softcap=call.softcap, x=x, w_v=w_v,
    )  # fmt: skip


def head_output(body: nn.Module, run: Callable[[], Any], layer: int, head: int) -> Tensor:
    """Run a model as far as `layer` and return what one head says, (B, N, Dv); differentiable.

    Parameters
    ----------
    body : Module
        The stack of layers.
    run : callable
        Runs `body` once.
    """
    said: list[Tensor] = []

    def handler(call: AttentionCall) -> Tensor:
        output = call.proceed()
        if call.layer == layer:
            said.append(output[:, head])
            raise _Enough
        return output

    with handling(body, handler), suppress(_Enough):
        run()
    return said[0]


@torch.no_grad()
def capture_heads(
    body: nn.Module,
    run: Callable[[], Any],
    layers: Sequence[int],
    should_stop: ShouldStop = never,
    progress: Progress = silent,
) -> dict[int, LayerHeads]:
    """Run a model as far as the last of `layers` and keep those layers' heads.

    Parameters
    ----------
    body : Module
        The stack of layers.
    run : callable
        Runs `body` once on a batch of one.
    layers : sequence of int
        True numbers, from 0.

    Returns
    -------
    dict of int to LayerHeads
        Without the layers that the pass did not reach.

    Raises
    ------
    Stopped
        If `should_stop` said so between two layers.
    """
    kept: dict[int, LayerHeads] = {}
    last = max(layers)

    def handler(call: AttentionCall) -> Tensor:
        if should_stop():
            raise Stopped
        if call.layer in layers:
            kept[call.layer] = _keep(call, inputs)
        progress(call.layer + 1, last + 1, f"layer {call.layer}")
        if call.layer == last:
            raise _Enough
        return call.proceed()

    with _watching_values(body) as inputs, handling(body, handler), suppress(_Enough):
        run()
    return kept
