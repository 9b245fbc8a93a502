"""Pure functions on tensors: no Qt, no files, no state. What notebooks use most can be imported from here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "attention_weights": "attention",
    "eigenpairs": "gram",
    "key_gram": "gram",
    "measure_draws": "evidence_draws",
    "measure_heads": "evidence",
    "projection_errors": "projection",
    "value_matrix": "gram",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
