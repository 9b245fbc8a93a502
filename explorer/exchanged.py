"""Attention functions that take the place of a model's own during its forward pass, batched over heads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from explorer.answers import Exchange
from explorer.errors import GramscopeError, Stopped
from explorer.maths.attention import fused_attention, widest
from explorer.maths.contamination import contaminate
from explorer.maths.pcp_batch import low_rank_part
from explorer.maths.references import scaled_attention
from explorer.maths.rpc import pap
from explorer.models.attention_call import AttentionCall
from explorer.models.attention_calls import Handler
from explorer.models.base import ShouldStop
from explorer.models.vit import Attention
from explorer.models.vit_attention import softmax as vit_softmax
from explorer.params import Params


def softmax(call: AttentionCall) -> Tensor:
    """Compute plain softmax attention by the call that the model itself uses, bit for bit."""
    if isinstance(call.module, Attention):
        return vit_softmax(call.q, call.k, call.v, call.scale, call.layer)
    return call.softmax()


def attention_of(exchange: Exchange, p: Params, should_stop: ShouldStop) -> Handler:
    """Return the attention that takes the place of softmax, by the window's convention.

    Computed in float64 where the device has it, and given back in the model's precision. Mask, position
    bias and cap are honoured; with queries that are keys the heads that share keys share the output.

    Raises
    ------
    GramscopeError
        On its call, if it is not defined for the layer's heads.
    """
    made: dict[str, Callable[[AttentionCall, float], Tensor]] = {
        "symmetric": _symmetric,
        "rpc": lambda call, scale: _rpc(call, scale, p),
        "scaled": lambda call, scale: _scaled(call, scale, exchange.s),
        "pcp": lambda call, scale: _pcp(call, scale, p, should_stop),
    }
    attend = made[exchange.attention]

    def handle(call: AttentionCall) -> Tensor:
        heads = call.q.shape[1]
        q, k, v = (widest(x) for x in (call.q / call.prescale, call.k, call.v))
        output = attend(replace(call, q=q, k=k, v=v, native=None), call.scale * call.prescale)
        return output.to(call.v.dtype).repeat_interleave(heads // output.shape[1], dim=1)

    return handle


def _symmetric(call: AttentionCall, scale: float) -> Tensor:
    return fused_attention(call.k, call.k, call.v, scale, call.visible, call.bias, call.softcap)


def _rpc(call: AttentionCall, scale: float, p: Params) -> Tensor:
    width = call.q.shape[1] * call.q.shape[-1] if p.form == "published" else call.k.shape[-1]
    symmetric = p.queries == "symmetric"
    k, v = (call.k, call.v) if symmetric else (call.keys, call.values)
    return pap(
        call.q, k, v, scale, form=p.form, queries=p.queries, width=width, lam=p.lam, mu=p.mu,
        iterations=p.iterations, mask=call.visible, bias=call.bias, softcap=call.softcap,
    ).output  # fmt: skip


def _scaled(call: AttentionCall, scale: float, s: float) -> Tensor:
    if call.bias is not None or call.softcap is not None:
        what = "adds a position bias to" if call.bias is not None else "caps"
        raise GramscopeError(
            f"Scaled attention is not defined here: layer {call.layer} {what} its scores, and the formula "
            "has no place for that. Choose RPC or symmetric softmax."
        )
    return scaled_attention(call.q, call.keys, call.values, scale, s, call.visible)


def _pcp(call: AttentionCall, scale: float, p: Params, should_stop: ShouldStop) -> Tensor:
    low = low_rank_part(call.k, p.lam if p.form == "pcp" else None, should_stop=should_stop)
    if p.queries == "symmetric":
        return fused_attention(low, low, call.v, scale, call.visible, call.bias, call.softcap)
    asked = replace(call, k=low)
    return fused_attention(call.q, asked.keys, call.values, scale, call.visible, call.bias, call.softcap)


def contaminated(attend: Handler, p: Params, symmetric: bool) -> Handler:
    """Return `attend` of keys (and values, where asked) that are contaminated head by head.

    Each head gets what `contaminate` gives it alone, so that the layer on screen gets the same here.

    Parameters
    ----------
    symmetric : bool
        Whether the model's queries are its keys, and are contaminated with them.
    """

    def handle(call: AttentionCall) -> Tensor:
        k = _contaminate_heads(call.k, p)
        v = _contaminate_heads(call.v, p) if p.contaminate_values else call.v
        return attend(replace(call, q=k if symmetric else call.q, k=k, v=v, native=None))

    return handle


def _contaminate_heads(x: Tensor, p: Params) -> Tensor:
    """Contaminate all heads (B, H, N, D) at once: the pattern depends on N, D and the seed alone."""
    probe = torch.linspace(-1, 1, x.shape[-2] * x.shape[-1], dtype=torch.float64).view(x.shape[-2:])
    kind: str = p.contamination
    moved = contaminate(probe, p.contamination, p.level, p.magnitude, p.seed)  # type: ignore[arg-type]
    base = torch.zeros_like(probe) if kind == "replace" else probe
    pattern = ((moved.values - base) / probe.std(correction=0)).to(x)
    size = x.std((-2, -1), correction=0, keepdim=True)
    start = torch.zeros_like(x) if kind == "replace" else x
    return torch.where(moved.hit.to(x.device), start + size * pattern, x)


def only_in(layers: tuple[int, ...], attend: Handler, should_stop: ShouldStop) -> Handler:
    """Return `attend` for these layers, and each model's own attention elsewhere, stopping between layers."""

    def handle(call: AttentionCall) -> Tensor:
        if should_stop():
            raise Stopped
        return attend(call) if call.layer in layers else call.proceed()

    return handle
