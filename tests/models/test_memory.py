"""Estimates of memory: they grow as they should, and are not below what is really kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from explorer.models.memory import Footprint
from explorer.params import Input
from tests.models.test_attention_calls import CPU, IDS, opened


@pytest.mark.parametrize("budget", [10**4, 10**6, 10**9])
@pytest.mark.parametrize("layers", [1, 12])
def test_what_fits_fits_and_one_more_does_not(budget: int, layers: int) -> None:
    footprint = Footprint(per_token=4096, per_pair=5, passing=20_000, passing_pair=7)
    tokens = footprint.tokens_that_fit(budget, layers)
    assert tokens == 1 or footprint.bytes(tokens, layers) <= budget
    assert footprint.bytes(tokens + 1, layers) > budget


@pytest.mark.parametrize("name", ["bert", "llama", "gemma2", "t5", "mpnet", "opt", "gpt2"])
def test_the_estimate_covers_what_is_kept(name: str, tiny: Callable[[str], Path]) -> None:
    source = opened(tiny(name))
    capture = source.capture([0, 1, 2], IDS, CPU)
    tokens = len(capture.tokens)
    kept = sum(
        part.numel() * part.element_size()
        for heads in capture.layers.values()
        for part in (heads.q, heads.k, heads.v, heads.x, heads.mask, heads.bias)
        if part is not None
    )
    passing = source.footprint.bytes(tokens, 0)
    assert kept <= source.footprint.bytes(tokens, 3) - passing <= 1.5 * kept


def test_a_long_input_is_cut_to_free_memory(
    tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = opened(tiny("t5"))
    text = Input(text=" ".join(["5"] * 5000))
    monkeypatch.setattr("explorer.models.huggingface.free_bytes", lambda device: 20_000_000)
    capture = source.capture([0], text, torch.device("cpu"))
    assert capture.truncated_from == 5000 and 100 < len(capture.tokens) < 1000
    assert "memory allows" in capture.notes[0]
