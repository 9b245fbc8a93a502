"""Images reach the model with their patches in their places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from explorer.errors import GramscopeError
from explorer.params import Input
from tests.models.conftest import FAMILIES, transformers
from tests.models.test_attention_calls import CPU, opened

PREFIX = {
    "vit": ["[CLS]"], "deit": ["[CLS]", "[DIST]"], "dinov2": ["[CLS]"], "clip": ["[CLS]"],
    "clip_vision": ["[CLS]"],
    "dinov2_with_registers": ["[CLS]", "[REG0]", "[REG1]", "[REG2]", "[REG3]"],
}  # fmt: skip


@pytest.mark.parametrize("name", PREFIX)
def test_special_tokens_stand_apart_and_patches_in_the_grid(name: str, tiny: Callable[[str], Path]) -> None:
    capture = opened(tiny(name)).capture([0], Input(), CPU)
    assert capture.grid == (4, 4)
    assert [token.text for token in capture.tokens if token.special] == PREFIX[name]
    patches = [token.patch for token in capture.tokens if not token.special]
    assert patches == [(row, column) for row in range(4) for column in range(4)]
    assert capture.image is not None and capture.image.shape == (32, 32, 3)


def test_a_patch_token_answers_to_its_own_pixels(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    source = opened(tiny("vit"))
    pixels = np.full((32, 32, 3), 128, np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    pixels[8:16, 24:32] = 255
    Image.fromarray(pixels).save(tmp_path / "b.png")
    first, second = (
        source.capture([0], Input(path=str(tmp_path / name)), CPU) for name in ("a.png", "b.png")
    )
    moved = (first.layers[0].k - second.layers[0].k).abs().sum((0, 2)) > 1e-6
    assert [first.tokens[i].patch for i in torch.nonzero(moved).flatten().tolist()] == [(1, 3)]


def test_the_folder_says_how_images_are_prepared(tmp_path: Path) -> None:
    FAMILIES["vit"].make().save_pretrained(tmp_path)
    lacking = opened(tmp_path)
    assert "resized to 32 × 32" in lacking.facts["missing"]
    transformers.ViTImageProcessorPil(
        size={"height": 32, "width": 32}, image_mean=[0.2] * 3, image_std=[0.1] * 3
    ).save_pretrained(tmp_path)
    source = opened(tmp_path)
    assert source.facts["missing"] == "nothing"
    values = source.prepare(1, Input(), CPU).arguments["pixel_values"]
    assert values.max() > 5


def test_a_processor_of_another_size_is_followed_by_a_resize(tmp_path: Path) -> None:
    FAMILIES["vit"].make().save_pretrained(tmp_path)
    transformers.ViTImageProcessorPil(size={"height": 48, "width": 48}).save_pretrained(tmp_path)
    assert opened(tmp_path).capture([0], Input(), CPU).grid == (4, 4)


def test_dino_reads_the_size_that_its_processor_gives(tmp_path: Path) -> None:
    FAMILIES["dinov2"].make().save_pretrained(tmp_path)
    transformers.ViTImageProcessorPil(size={"height": 48, "width": 24}).save_pretrained(tmp_path)
    assert opened(tmp_path).capture([0], Input(), CPU).grid == (6, 3)


def test_a_processor_that_makes_no_sense_is_named(tmp_path: Path) -> None:
    FAMILIES["vit"].make().save_pretrained(tmp_path)
    (tmp_path / "preprocessor_config.json").write_text('{"size": {"height": 32}}')
    with pytest.raises(GramscopeError, match=r"preprocessor_config\.json makes no sense"):
        opened(tmp_path)


def test_tensors_are_pictures_or_what_the_model_reads(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    source, path = opened(tiny("vit")), tmp_path / "a.npy"
    draw = np.random.default_rng(0)
    np.save(path, draw.integers(0, 256, (50, 40, 3), np.uint8))
    assert source.capture([0], Input(path=str(path)), CPU).grid == (4, 4)
    np.save(path, draw.normal(size=(3, 32, 32)).astype(np.float32))
    assert source.capture([0], Input(path=str(path)), CPU).image is not None
    np.save(path, draw.normal(size=(3, 30, 32)).astype(np.float32))
    with pytest.raises(GramscopeError, match="reads images of 32 × 32 pixels; this one has 30 × 32"):
        source.capture([0], Input(path=str(path)), CPU)
    np.save(path, draw.normal(size=(2, 3, 32, 32)))
    with pytest.raises(GramscopeError, match="is no image"):
        source.capture([0], Input(path=str(path)), CPU)


def test_a_folder_is_leafed_through_and_text_is_refused(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    source = opened(tiny("vit"))
    for shade in (0, 255):
        Image.new("RGB", (9, 9), (shade,) * 3).save(tmp_path / f"{shade:03}.png")
    folder = str(tmp_path)
    assert source.count(Input(path=folder)) == 2 and source.count(Input()) == source.samples == 2
    images = [source.capture([0], Input(path=folder, index=index), CPU).image for index in (0, 1, 2)]
    assert [int(image[0, 0, 0]) for image in images if image is not None] == [0, 255, 0]
    with pytest.raises(GramscopeError, match="looks at images, not text"):
        source.capture([0], Input(text="a cat"), CPU)
