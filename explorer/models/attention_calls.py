"""The one attention function that models are loaded with: it hands each call to whoever listens.

transformers lets a model be loaded with an attention function of ours. Ours computes what the
default one computes, by the same kernel, unless a handler is at work in this thread (`handling`);
a handler sees each self-attention call with its layer number, and returns the output. MPNet never
calls the function: its calls are put together from its projections.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from explorer.models.attention_call import AttentionCall
from explorer.models.offline import transformers

NAME = "gramscope"
UNREGISTERED = ("MPNetSelfAttention",)
"""Attention layers that compute by themselves, in MPNet's way: projections q, k, v and o."""

BEYOND = {
    "s_aux": "adds a sink to its softmax",
    "sinks": "adds a sink to its softmax",
    "indices": "lets each query choose a few keys",
    "block_indices": "lets each query choose a few keys",
}
"""What some families pass besides, and what it does."""

Handler = Callable[[AttentionCall], Tensor]
"""Returns the output of one call, (B, Hq, N, Dv); `AttentionCall.proceed` leaves it as it would be."""


class _Listener:
    """A handler of one body's calls, and the number of the next layer to call."""

    def __init__(self, body: nn.Module, handler: Handler) -> None:
        self.modules, self.handler, self.next_layer = frozenset(body.modules()), handler, 0
        self.thread = threading.get_ident()

    def restart(self, *_: Any) -> None:
        if threading.get_ident() == self.thread:
            self.next_layer = 0

    def number(self) -> int:
        self.next_layer += 1
        return self.next_layer - 1


_listeners: ContextVar[tuple[_Listener, ...]] = ContextVar("attention listeners", default=())
"""Of this thread, the innermost first."""


def _answer(call: AttentionCall) -> Tensor:
    """Ask the listeners to the call's model, the innermost of which counts its layers."""
    concerned = [listener for listener in _listeners.get() if call.module in listener.modules]
    if not concerned:
        return call.softmax()
    return _ask(concerned, replace(call, layer=concerned[0].number()))


def _ask(concerned: list[_Listener], call: AttentionCall) -> Tensor:
    others = concerned[1:]
    return concerned[0].handler(replace(call, outer=partial(_ask, others) if others else None))


@contextmanager
def handling(body: nn.Module, handler: Handler) -> Iterator[None]:
    """Hand every attention call of this thread to `handler` for the time of the context.

    Contexts nest: the inner handler is asked first, and `AttentionCall.proceed` asks the outer one.

    Parameters
    ----------
    body : Module
        The stack of layers; each of its forward passes counts the layers from 0 again, in the order
        in which they run, so that a layer which is used several times (ALBERT) has as many numbers.
    handler : callable
        See `Handler`.
    """
    listener = _Listener(body, handler)
    token = _listeners.set((listener, *_listeners.get()))
    hook = body.register_forward_pre_hook(listener.restart)
    try:
        yield
    finally:
        _listeners.reset(token)
        hook.remove()


class _Raised(Exception):
    """Carries what a replacement raised through a model."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


@contextmanager
def replacing(body: nn.Module, attend: Handler, layers: Collection[int]) -> Iterator[None]:
    """Put another attention in the place of softmax in some layers for the time of the context.

    What `attend` raises leaves the context as it is: the model's own code in between cannot take it for a
    fault of the model.

    Parameters
    ----------
    attend : callable
        Takes an `AttentionCall`, returns (B, Hq, N, Dv); `AttentionCall.softmax` itself changes no bit.
    layers : collection of int
        True numbers.
    """

    def handle(call: AttentionCall) -> Tensor:
        try:
            return attend(call) if call.layer in layers else call.proceed()
        except (_Raised, torch.OutOfMemoryError):
            raise
        except Exception as error:
            raise _Raised(error) from error

    with handling(body, handle):
        try:
            yield
        except _Raised as raised:
            raise raised.error from None


def tap(model: nn.Module) -> None:
    """Make the calls of unregistered attention layers answered too, for good."""
    for module in model.modules():
        if type(module).__name__ in UNREGISTERED:
            _tap(module)


def _tap(attention: Any) -> None:
    """Put a layer's call together from its projections, before its output projection reads the result."""
    parts = threading.local()

    def start(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = dict(zip(("hidden_states", "attention_mask", "position_bias"), args, strict=False), **kwargs)
        parts.mask, parts.bias = given.get("attention_mask"), given.get("position_bias")

    def split(flat: Tensor) -> Tensor:
        return flat.unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)

    def note(name: str) -> Callable[..., None]:
        return lambda module, args, output: setattr(parts, name, split(output))

    def finish(module: nn.Module, args: tuple[Tensor]) -> tuple[Tensor]:
        call = AttentionCall(
            attention, parts.q, parts.k, parts.v, parts.q.shape[-1] ** -0.5,
            mask=None if parts.mask is None else parts.mask > torch.finfo(parts.mask.dtype).min / 2,
            bias=parts.bias, native=split(args[0]),
        )  # fmt: skip
        parts.__dict__.clear()
        return (_answer(call).transpose(1, 2).flatten(2),)

    attention.register_forward_pre_hook(start, with_kwargs=True)
    for name in ("q", "k", "v"):
        getattr(attention, name).register_forward_hook(note(name))
    attention.o.register_forward_pre_hook(finish)


def _seen_and_added(mask: Tensor, heads: int) -> tuple[Tensor | None, Tensor | None]:
    """Part what a model adds to its scores, (B or 1, Hq or 1, N, N), into a mask of bool and a bias."""
    seen = mask > torch.finfo(mask.dtype).min / 2
    added = mask.masked_fill(~seen, 0)
    bias = added.expand(-1, heads, -1, -1) if bool(added.any()) else None
    return None if bool(seen.all()) else seen, bias


def _attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None,
    scaling: float | None = None, is_causal: bool | None = None, position_bias: Tensor | None = None,
    softcap: float | None = None, **others: Any,
) -> tuple[Tensor, None]:  # fmt: skip
    """Stand where transformers expects an attention function; returns (B, N, Hq, Dv)."""
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    mask, bias = attention_mask, position_bias
    if mask is not None and mask.is_floating_point():
        mask, added = _seen_and_added(mask, query.shape[1])
        if added is not None:
            bias = added if bias is None else bias + added
    call = AttentionCall(
        module, query, key, value, query.shape[-1] ** -0.5 if scaling is None else scaling,
        mask=mask, causal=attention_mask is None and bool(causal) and query.shape[-2] > 1,
        bias=bias, softcap=softcap,
        beyond=next((what for name, what in BEYOND.items() if others.get(name) is not None), ""),
    )  # fmt: skip
    return _answer(call).transpose(1, 2).contiguous(), None


def register() -> str:
    """Make our attention function known to transformers and return the name to load models with.

    The mask function is the one of the fused kernel, which makes no mask where causality says it
    all: a long input then costs no N² floats.
    """
    masking, modeling = transformers("masking_utils"), transformers("modeling_utils")
    modeling.ALL_ATTENTION_FUNCTIONS.register(NAME, _attention)
    masking.ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, masking.sdpa_mask)
    return NAME
