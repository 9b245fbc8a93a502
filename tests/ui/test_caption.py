"""Captions of every kind of panel."""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest

from explorer.params import Params
from explorer.ui.exporting.caption import caption
from explorer.views.picture import Provenance


def told(source: str, params: dict[str, Any]) -> str:
    view: Any = SimpleNamespace(
        title="A panel", name="attention", help="",
        provenance=lambda: Provenance(source, params, "float64 on CPU"),
    )  # fmt: skip
    return caption([view])


def test_a_head_is_named_with_its_contamination_and_pursuit() -> None:
    text = told("digits", asdict(Params(layer=2, head=1, level=0.08, lam=3.0)))
    assert text.startswith("A panel: Row i says how query i spreads its attention")
    assert " digits, layer 2, head 1. Contamination: sparse, level 0.08, " in text
    assert "λ = 3, μ by default, 4 iterations." in text and text.endswith("(float64 on CPU).")


def test_a_picture_of_all_heads_names_none() -> None:
    params = asdict(Params())
    del params["layer"], params["head"]
    assert "digits. Nothing is contaminated." in told("digits", params)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"layer": 1, "head": 0, "scaling": "unit"}, "model, layer 1, head 0. Setting: scaling unit."),
        (
            {"data": {"family": "spike", "theta": 3.0, "file": ""}, "L": 64},
            "Setting: family spike, theta 3, L 64.",
        ),
        ({"spectrum": [3, 1], "none": None}, "Setting: spectrum 3 1."),
        ({"checkpoints": [""], "inputs": ["built-in 0"]}, "Setting: inputs built-in 0."),
        ({"spectrum": (4.0, 2.5), "theta": 4.0}, "Setting: spectrum 4 2.5, theta 4."),
        ({}, "model. Made with"),
    ],
)
def test_other_settings_are_listed(params: dict[str, Any], words: str) -> None:
    assert words in told("model", params)
