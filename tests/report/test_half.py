"""Checkpoints whose kernel overflows: in half precision, and with keys a hundred times as large."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from explorer.maths.evidence_draws import Draws
from explorer.models.open import open_path
from explorer.params import Input
from explorer.report.run import run_report
from tests.report.test_tables import heads_of, numbers

DRAWS = Draws(cheap=20, costly=2)
TEXT = Input(
    text="The harbour was quiet on Monday, and the crane lifted forty green containers, although nobody "
    "trusted the number that one of the scales had reported; the clerk copied the other readings."
)
Weights = dict[str, torch.Tensor]


def half(weights: Weights) -> Weights:
    return {name: w.half() if w.is_floating_point() else w for name, w in weights.items()}


def bfloat(weights: Weights) -> Weights:
    return {name: w.bfloat16() if w.is_floating_point() else w for name, w in weights.items()}


def large_keys(weights: Weights) -> Weights:
    return {name: w * 100 if ".self.key." in name else w for name, w in weights.items()}


def altered(minilm: str, folder: Path, change: Any) -> Path:
    """Write the checkpoint again, its weights changed."""
    folder.mkdir()
    for file in Path(minilm).iterdir():
        if file.is_file() and file.name != "model.safetensors":
            shutil.copy(file, folder)
    changed = change(load_file(Path(minilm) / "model.safetensors"))
    save_file(
        {name: w.contiguous() for name, w in changed.items()}, folder / "model.safetensors", {"format": "pt"}
    )
    return folder


def report(path: str | Path, out: Path) -> list[dict[str, Any]]:
    outcome = run_report(path, [TEXT], out=out, layers=[5], heads=[0, 7], draws=DRAWS, untrained=0)
    assert outcome.exit_code == 0
    return [head for _, head in heads_of(out)]


def absent(heads: list[dict[str, Any]]) -> set[str]:
    """Return what is no number, but for eigenvalues under the tolerance and their eigenvectors."""
    found = {place for place, value in numbers(heads).items() if value is None}
    return {place for place in found if "log10_values" not in place and ".gamma.eigenvectors." not in place}


@pytest.mark.parametrize("change", [half, bfloat])
def test_half_precision_has_the_numbers_of_full(change: Any, minilm: str, tmp_path: Path) -> None:
    path = altered(minilm, tmp_path / "half", change)
    layer = open_path(path).capture([5], TEXT, torch.device("cpu")).layers[5]
    assert layer.k.dtype == change({"w": torch.ones(1)})["w"].dtype
    scores = layer.scale * layer.k.double() @ layer.k.double().mT
    assert not torch.isfinite(scores.exp().half()).all()  # raw exp in half precision is no number
    mine, theirs = report(path, tmp_path / "mine"), report(minilm, tmp_path / "theirs")
    assert not absent(mine)
    for one, other in zip(mine, theirs, strict=True):
        for key, value in other["measures"].items():
            size = 90 if key == "gamma_angle" else 1
            assert one["measures"][key] == pytest.approx(value, abs=0.1 * size), key
        np.testing.assert_allclose(
            one["projections"]["log10_phi"], other["projections"]["log10_phi"], atol=0.3
        )


def test_keys_a_hundred_times_as_large_are_measured(minilm: str, tmp_path: Path) -> None:
    path = altered(minilm, tmp_path / "large", large_keys)
    layer = open_path(path).capture([5], TEXT, torch.device("cpu")).layers[5]
    scores = layer.scale * layer.k.double() @ layer.k.double().mT
    assert not torch.isfinite(scores.exp()).all()  # not even in double precision
    heads = report(path, tmp_path / "out")
    found = numbers(heads)
    for place in absent(heads):  # a z over draws that are all alike is none; its rank is told
        score = place.removesuffix(".z")
        assert score != place and found[f"{score}.std"] < 1e-8 and found[f"{score}.p"] is not None
    assert all(head["health"]["under_tolerance"] > 0 for head in heads)
