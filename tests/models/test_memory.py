"""Estimates of memory: they grow as they should, and are not below what is really kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from explorer.errors import GramscopeError
from explorer.models.memory import Footprint, refuse_large_picture, refuse_unless_free
from explorer.models.recipes import Recipe
from explorer.models.synthetic import SyntheticSource
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


def leave(bytes_left: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.models.memory.free_bytes", lambda device: bytes_left)


def test_what_fits_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    leave(8 * 8 * 1000**2, monkeypatch)
    refuse_large_picture(1000, CPU)
    with pytest.raises(GramscopeError):
        refuse_large_picture(1001, CPU)


def test_the_sentence_says_how_much_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    leave(3_210_000_000, monkeypatch)
    with pytest.raises(GramscopeError) as refused:
        refuse_unless_free(102_400_000_000, CPU, "This", "Use less.")
    assert str(refused.value) == (
        "This needs about 102.4 GB of memory, and 3.2 GB are free on this machine. Use less."
    )


def test_a_large_synthetic_head_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    leave(1_000_000, monkeypatch)
    monkeypatch.setattr(SyntheticSource, "_make", lambda self: pytest.fail("it was made"))
    with pytest.raises(GramscopeError, match=r"4,096 tokens and 64 dimensions needs about 12.8 MB.* 1.0 MB"):
        SyntheticSource(Recipe(tokens=4096, dim=64))


def test_an_input_that_cannot_be_cut_is_refused_before_the_model_runs(
    tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = opened(tiny("vit"))
    leave(10_000, monkeypatch)
    monkeypatch.setattr(type(source), "run", lambda *_, **__: pytest.fail("the model ran"))
    with pytest.raises(GramscopeError, match=r"tokens needs about .* are free .* smaller input"):
        source.capture([0], Input(), CPU)
