"""Which head a transformers model has: what it was made to say, and whether its weights are there."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from typing import Any, Literal

import torch

from explorer.models.offline import transformers

Says = Literal["classes", "masked", "next"]
TASKS: dict[Says, tuple[str, ...]] = {
    "classes": ("IMAGE_CLASSIFICATION", "SEQUENCE_CLASSIFICATION"),
    "masked": ("MASKED_LM",),
    "next": ("CAUSAL_LM",),
}
"""By what is said, transformers' own tables of the models that say it."""


def _tables(says: Says) -> Iterator[Any]:
    auto = transformers("models.auto.modeling_auto")
    for task in TASKS[says]:
        yield getattr(auto, f"MODEL_FOR_{task}_MAPPING_NAMES")


def _flat(entries: Collection[Any]) -> Iterator[Any]:
    for entry in entries:
        yield from entry if isinstance(entry, tuple) else (entry,)


@cache
def head_of(name: str) -> Says | None:
    """Return what models of a class say; None for a bare model, and for what is not shown."""
    for says in TASKS:
        if any(name in _flat(table.values()) for table in _tables(says)):
            return says
    return None


def class_with_head(config: Any, weights: Collection[str]) -> Any | None:
    """Return the family's class whose head is among the weights, whatever the config calls the model.

    Parameters
    ----------
    weights : collection of str
        Names in the checkpoint.

    Returns
    -------
    type or None
        None where no head is there whole, and for encoder–decoders, whose encoder alone is run.
    """
    if config.is_encoder_decoder:
        return None
    auto = transformers("models.auto.modeling_auto")
    for task in (task for tasks in TASKS.values() for task in tasks):
        table = getattr(auto, f"MODEL_FOR_{task}_MAPPING")
        for kind in _flat([table[type(config)]] if type(config) in table else []):
            prefix = f"{kind.base_model_prefix}."
            if any(name.startswith(prefix) for name in weights) and _has_head(kind, config, weights):
                return kind
    return None


def _has_head(kind: Any, config: Any, weights: Collection[str]) -> bool:
    """Whether every parameter outside the layers, but for those tied to others, is among the weights."""
    with torch.device("meta"):
        model = kind(config)
    tied = set(model._tied_weights_keys or ()) if getattr(config, "tie_word_embeddings", False) else set()
    own = {name for name, _ in model.named_parameters() if not name.startswith(f"{kind.base_model_prefix}.")}
    return bool(own - tied) and own - tied <= set(weights)
