"""The one attention function that models are loaded with: it hands each call to whoever listens.

transformers lets a model be loaded with an attention function of ours. Ours computes what the
default one computes, by the same kernel, unless a handler is at work in this thread (`handling`);
a handler sees each self-attention call with its layer number, and returns the output. MPNet never
calls the function: its calls are put together from its projections.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from explorer.models.attention_call import AttentionCall
from explorer.models.offline import transformers

NAME = "gramscope"
UNREGISTERED = ("MPNetSelfAttention",)
"""Attention layers that compute by themselves, in MPNet's way: projections q, k, v and o."""

Handler = Callable[[AttentionCall], Tensor]
"""Returns the output of one call, (B, Hq, N, Dv); `AttentionCall.proceed` leaves it as it would be."""


class _Listener:
    """A handler, the one around it, and the number of the next layer to call."""

    def __init__(self, handler: Handler, outer: _Listener | None) -> None:
        self.handler, self.outer, self.next_layer = handler, outer, 0

    def restart(self, *_: Any) -> None:
        self.next_layer = 0

    def answer(self, call: AttentionCall) -> Tensor:
        outer = None if self.outer is None else self.outer.answer
        call = replace(call, layer=self.next_layer, outer=outer)
        self.next_layer += 1
        return self.handler(call)


def _answer(call: AttentionCall) -> Tensor:
    listener = _listener.get()
    return call.softmax() if listener is None else listener.answer(call)


_listener: ContextVar[_Listener | None] = ContextVar("attention listener", default=None)


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
    listener = _Listener(handler, _listener.get())
    token = _listener.set(listener)
    with ExitStack() as stack:
        stack.callback(_listener.reset, token)
        stack.callback(body.register_forward_pre_hook(listener.restart).remove)
        for module in body.modules():
            if type(module).__name__ in UNREGISTERED:
                _tap(module, stack)
        yield


@contextmanager
def replacing(body: nn.Module, attend: Handler, layers: Collection[int]) -> Iterator[None]:
    """Put another attention in the place of softmax in some layers for the time of the context.

    Parameters
    ----------
    attend : callable
        Takes an `AttentionCall`, returns (B, Hq, N, Dv); `AttentionCall.softmax` itself changes no bit.
    layers : collection of int
        True numbers.
    """
    with handling(body, lambda call: attend(call) if call.layer in layers else call.proceed()):
        yield


def _tap(attention: Any, stack: ExitStack) -> None:
    """Make an unregistered attention layer's calls answered: before its output projection reads them."""
    parts: dict[str, Any] = {}

    def start(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        parts.update(zip(("hidden_states", "attention_mask", "position_bias"), args, strict=False), **kwargs)

    def note(name: str) -> Callable[..., None]:
        def hook(module: nn.Module, args: Any, output: Tensor) -> None:
            parts[name] = output.unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)

        return hook

    def finish(module: nn.Module, args: tuple[Tensor]) -> tuple[Tensor]:
        q, mask = parts["q"], parts["attention_mask"]
        call = AttentionCall(
            attention, q, parts["k"], parts["v"], q.shape[-1] ** -0.5,
            mask=None if mask is None else mask > torch.finfo(mask.dtype).min / 2,
            bias=parts["position_bias"],
            native=args[0].unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2),
        )  # fmt: skip
        parts.clear()
        return (_answer(call).transpose(1, 2).flatten(2),)

    hooks = [getattr(attention, name).register_forward_hook(note(name)) for name in ("q", "k", "v")]
    hooks.append(attention.register_forward_pre_hook(start, with_kwargs=True))
    hooks.append(attention.o.register_forward_pre_hook(finish))
    for hook in hooks:
        stack.callback(hook.remove)


def _attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None,
    scaling: float | None = None, is_causal: bool | None = None, position_bias: Tensor | None = None,
    softcap: float | None = None, **_: Any,
) -> tuple[Tensor, None]:  # fmt: skip
    """Stand where transformers expects an attention function; returns (B, N, Hq, Dv)."""
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    call = AttentionCall(
        module, query, key, value, query.shape[-1] ** -0.5 if scaling is None else scaling,
        mask=attention_mask, causal=attention_mask is None and bool(causal) and query.shape[-2] > 1,
        bias=position_bias, softcap=softcap,
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
