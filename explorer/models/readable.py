"""Whether every layer of a transformers model has heads that can be shown; if not, why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from explorer.errors import GramscopeError, Stopped
from explorer.models.attention_calls import handling
from explorer.models.base import ShouldStop, never
from explorer.params import Input

if TYPE_CHECKING:
    from explorer.models.attention_call import AttentionCall
    from explorer.models.huggingface import HuggingFaceSource
    from explorer.models.loading import Loaded

OPENS = "Models such as BERT, GPT-2, Llama, T5 (its encoder), ViT and CLIP (its vision tower) open."
OWN_CODE = "is computed by the family’s own code, where it cannot be read"
SIZES = {
    "num_hidden_layers": "number of layers",
    "num_attention_heads": "number of heads",
    "hidden_size": "width",
}
TRIAL = 4
"""Tokens of a text, or one whole image."""


def not_shown(name: str, kind: Any, why: str) -> GramscopeError:
    """Say that a model of a class cannot be shown, and why, and what can."""
    family = kind.config_class.model_type
    return GramscopeError(
        f"{name} ({kind.__name__}, of the family “{family}”) cannot be shown: {why}. {OPENS}"
    )


def asks(kind: Any) -> bool:
    """Whether a class of models says that it lets others compute its attention."""
    return bool(kind._supports_attention_backend or kind._supports_sdpa)


def attention_kinds(model: Any) -> str:
    """Name the classes of a model's layers that call themselves attention; empty: it has none."""
    kinds = {type(module).__name__ for module in model.modules()}
    return ", ".join(sorted(kind for kind in kinds if "Attention" in kind or kind.endswith("MLA")))


def refuse_without_heads(name: str, loaded: Loaded) -> None:
    """Raise where a model has no attention, or not as many heads in every layer.

    Raises
    ------
    GramscopeError
        With the reason.
    """
    config, kind = loaded.config, type(loaded.model)
    if not attention_kinds(loaded.model):
        raise not_shown(name, kind, "it has no attention, so there are no heads to show")
    for size, words in SIZES.items():
        value = getattr(config, size, None)
        if isinstance(value, list | tuple):
            why = f"its {words} changes from stage to stage ({', '.join(map(str, value))})"
            raise not_shown(name, kind, f"{why}, so it has no heads of the same tokens in every layer")
        if not isinstance(value, int):
            parts = ", ".join(sorted(getattr(config, "sub_configs", {})))
            why = f"its config gives no {words} of its own"
            raise not_shown(name, kind, f"{why}, but joins other models ({parts})" if parts else why)


def refuse_unreadable(source: HuggingFaceSource, should_stop: ShouldStop = never) -> None:
    """Run one short input through all layers and raise where one has no heads that can be read.

    Raises
    ------
    GramscopeError
        With the reason.
    Stopped
        If `should_stop` said so between two layers.
    """
    calls: list[AttentionCall] = []
    prepared = source.reader.read(Input(), TRIAL)
    model = source.loaded.model

    def look(call: AttentionCall) -> torch.Tensor:
        if should_stop():
            raise Stopped
        _refuse_strange_call(source, call, len(prepared.tokens))
        calls.append(call)
        return call.proceed()

    try:
        with torch.no_grad(), handling(source.loaded.body, look):
            source.run(prepared, model.device)
    except GramscopeError:
        if calls or asks(type(model)):
            raise
    if not calls:
        raise not_shown(source.name, type(model), f"its attention ({attention_kinds(model)}) {OWN_CODE}")
    if len(calls) < source.layers:
        why = f"only {len(calls)} of its {source.layers} layers have softmax attention that can be read"
        raise not_shown(source.name, type(model), why)
    if len(calls) > source.layers:
        why = f"its {source.layers} layers attend {len(calls)} times, so a head is not one attention"
        raise not_shown(source.name, type(model), why)


def _refuse_strange_call(source: HuggingFaceSource, call: AttentionCall, tokens: int) -> None:
    batch, heads, queries, _ = call.q.shape
    name, kind = source.name, type(source.loaded.model)
    where = f"layer {call.layer}" if call.layer else "its first layer"
    if call.beyond:
        raise not_shown(name, kind, f"{where} {call.beyond}, which the softmax of one head does not have")
    if batch != 1:
        raise not_shown(name, kind, f"{where} attends within {batch} windows, each for itself")
    if heads != source.heads:
        raise not_shown(name, kind, f"{where} has {heads} heads, and the config says {source.heads}")
    if call.visible is not None and call.visible.shape[1] != 1:
        raise not_shown(name, kind, f"{where} hides other keys in each head")
    if not queries == call.k.shape[2] == tokens:
        why = f"{where} has {queries} queries and {call.k.shape[2]} keys for an input of {tokens} tokens"
        raise not_shown(name, kind, f"{why}, so its tokens cannot be named")
