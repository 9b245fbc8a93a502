"""Contaminated inputs as sources read them: pixels, attacks on a model's loss or on one head, words."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch

from explorer.errors import GramscopeError, Stopped
from explorer.models.base import Capture
from explorer.models.digits import sample_source
from explorer.models.huggingface import HuggingFaceSource, open_huggingface
from explorer.models.synthetic import SyntheticSource
from explorer.models.vit_source import StateDictSource
from explorer.params import Change, Input, PixelKind

CPU = torch.device("cpu")
PIXELS = get_args(PixelKind)
IMAGES = ["digits", "vit"]


@pytest.fixture(scope="module")
def sources(tiny: Any) -> dict[str, StateDictSource | HuggingFaceSource]:
    return {"digits": sample_source(), "vit": open_huggingface(tiny("vit"))}


def read(source: Any, change: Change | None = None, layer: int = 1) -> Capture:
    return source.capture([layer], Input(index=3 if source.samples > 3 else 0, change=change), CPU)


def same(a: Capture, b: Capture) -> bool:
    (first,), (second,) = a.layers.values(), b.layers.values()
    return all(torch.equal(getattr(first, part), getattr(second, part)) for part in "qkv")


@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("kind", PIXELS)
def test_pixels_move_the_heads_and_come_back(sources: Any, name: str, kind: PixelKind) -> None:
    source = sources[name]
    clean, moved = read(source), read(source, Change(kind, 0.4, 1))
    assert not same(clean, moved)
    assert not np.array_equal(clean.image, moved.image)
    assert same(moved, read(source, Change(kind, 0.4, 1)))
    still = read(source, Change(kind, 0.0, 1))
    assert same(clean, still) and np.array_equal(clean.image, still.image)
    assert any(moved.changed) and not any(still.changed) and not clean.changed


@pytest.mark.parametrize("name", IMAGES)
def test_the_patches_that_changed_are_those_that_look_changed(sources: Any, name: str) -> None:
    source = sources[name]
    clean, moved = read(source), read(source, Change("occlusion", 0.1, 2))
    height, width = (size // count for size, count in zip(clean.image.shape[:2], clean.grid, strict=True))
    for token, touched in zip(moved.tokens, moved.changed, strict=True):
        if token.patch is None:
            assert not touched
            continue
        r, c = token.patch
        part = np.s_[r * height : (r + 1) * height, c * width : (c + 1) * width]
        assert touched == (clean.image[part] != moved.image[part]).any()


@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("target", ["loss", "output"])
@pytest.mark.parametrize("kind", ["fgsm", "pgd"])
def test_attacks_stay_inside_the_budget_as_the_model_reads_it(
    sources: Any, name: str, target: str, kind: str
) -> None:
    source, epsilon = sources[name], 0.05
    change = Change(kind, epsilon, 0, target, steps=3, layer=1, head=2)
    index = Input(index=3 if name == "digits" else 0)
    clean, moved = (_values(source, dataclasses.replace(index, change=c)) for c in (None, change))
    unit = source.reader.preprocessing.unit_of
    assert 0 < float((unit(moved) - unit(clean)).abs().max()) <= epsilon * (1 + 1e-5)
    if target == "loss":
        truth = source.label(index)
        truth = int(source.logits(clean, CPU).argmax()) if truth is None else truth
        before, after = (source.logits(x, CPU).log_softmax(-1)[0, truth] for x in (clean, moved))
        assert after < before
    else:
        still, far = (source.head_output(x, 1, 2, CPU) for x in (clean, moved))
        assert float((far - still).norm()) > 0.01 * float(still.norm())


def _values(source: Any, input: Input) -> torch.Tensor:
    prepared = source.prepare(1, input, CPU) if isinstance(source, HuggingFaceSource) else source.prepare(
        input, CPU)  # fmt: skip
    return prepared.arguments["pixel_values"]


@pytest.mark.parametrize("name", IMAGES)
def test_a_heads_output_is_attention_over_what_was_captured(sources: Any, name: str) -> None:
    source = sources[name]
    head = read(source).head(1, 2)
    expected = (head.scale * head.q @ head.k.T).softmax(-1) @ head.v
    index = Input(index=3 if name == "digits" else 0)
    torch.testing.assert_close(
        source.head_output(_values(source, index), 1, 2, CPU)[0], expected, atol=1e-5, rtol=1e-4
    )


@pytest.mark.parametrize("name", IMAGES)
def test_an_attack_leaves_no_gradient_behind(sources: Any, name: str) -> None:
    source = sources[name]
    read(source, Change("pgd", 0.05, steps=2))
    model = source.model if name == "digits" else source.loaded.model
    assert all(parameter.grad is None for parameter in model.parameters())
    heads = read(source, Change("fgsm", 0.05)).layers[1]
    assert not any(getattr(heads, part).requires_grad for part in "qkv")


def test_an_attack_fools_the_digits_model(sources: Any) -> None:
    source = sources["digits"]
    right = fooled = 0
    for index in range(20):
        truth = source.label(Input(index=index))
        clean, moved = (
            int(source.predict(Input(index=index, change=change), CPU).argmax())
            for change in (None, Change("pgd", 0.2, steps=10))
        )
        right += clean == truth
        fooled += clean == truth and moved != truth
    assert fooled > right / 2


def test_an_attack_can_be_stopped(sources: Any) -> None:
    calls = 0

    def stop() -> bool:
        nonlocal calls
        calls += 1
        return calls > 3

    with pytest.raises(Stopped):
        sources["digits"].capture([1], Input(change=Change("pgd", 0.1, steps=50)), CPU, stop)
    assert calls == 4


def test_what_cannot_be_done_is_refused_with_a_sentence(sources: Any, tiny: Any) -> None:
    text = open_huggingface(tiny("bert"))
    with pytest.raises(GramscopeError, match="it is for images only"):
        text.capture([0], Input(text="1 2 3", change=Change("pgd", 0.1)), CPU)
    with pytest.raises(GramscopeError, match="reads text: “blur” cannot"):
        text.capture([0], Input(text="1 2 3", change=Change("blur", 0.1)), CPU)
    with pytest.raises(GramscopeError, match="“swap” cannot be done to an image"):
        read(sources["digits"], Change("swap", 0.1))
    with pytest.raises(GramscopeError, match="looks at images: “swap” cannot"):
        read(sources["vit"], Change("swap", 0.1))
    with pytest.raises(GramscopeError, match="reads no input"):
        SyntheticSource().refuse_entry("blur")


def test_a_model_without_classes_can_be_attacked_at_a_head_only(tiny: Any) -> None:
    source = open_huggingface(tiny("dinov2"))
    assert source.targets == ("output",)
    assert any(read(source, Change("fgsm", 0.05, target="output")).changed)
    with pytest.raises(GramscopeError, match="no classification head"):
        read(source, Change("fgsm", 0.05))


def test_values_that_are_no_picture_are_refused(sources: Any, tmp_path: Path) -> None:
    path = tmp_path / "strange.npy"
    np.save(path, np.full((1, 8, 8), 40.0, np.float32))
    with pytest.raises(GramscopeError, match="between black and white"):
        sources["digits"].capture([0], Input(path=str(path), change=Change("blur", 1.0)), CPU)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_words_move_the_heads_and_come_back(tiny: Any, family: str) -> None:
    source = open_huggingface(tiny(family))
    text = Input(text="11 12 13 14 15 16 17 18")
    clean = source.capture([1], text, CPU)
    for kind in ("swap", "mask", "delete"):
        moved, again, still = (
            source.capture([1], dataclasses.replace(text, change=Change(kind, level, 4)), CPU)
            for level in (0.25, 0.25, 0.0)
        )
        assert same(moved, again) and same(still, clean)
        if kind == "delete":
            assert len(moved.tokens) == 6 and len(moved.origin) == 6
        else:
            assert sum(moved.changed) == 2 and not same(moved, clean)
