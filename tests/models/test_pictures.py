"""Preprocessing is what transformers' own does; pictures from strangers are only pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from explorer.errors import GramscopeError
from explorer.models.pictures import SAMPLES, Preprocessing, load_image, sample_image
from tests.models.conftest import transformers

PROCESSORS = [
    ("ViTImageProcessorPil", {}),
    (
        "ViTImageProcessorPil",
        {"size": {"height": 30, "width": 50}, "resample": 3, "image_mean": [0.1, 0.2, 0.3]},
    ),
    ("ViTImageProcessorPil", {"do_normalize": False}),
    ("ViTImageProcessorPil", {"do_rescale": False, "do_normalize": False}),
    ("CLIPImageProcessorPil", {}),
    ("CLIPImageProcessorPil", {"size": {"shortest_edge": 40}, "crop_size": {"height": 64, "width": 32}}),
    ("DeiTImageProcessorPil", {}),
    ("BitImageProcessorPil", {"size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}}),
]


def picture(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)


@pytest.mark.parametrize(("name", "settings"), PROCESSORS)
@pytest.mark.parametrize("shape", [(300, 200), (200, 301), (20, 33)])
def test_preprocessing_is_that_of_transformers(
    name: str, settings: dict[str, Any], shape: tuple[int, int]
) -> None:
    processor = getattr(transformers, name)(**settings)
    pixels = picture(*shape)
    expected = processor(Image.fromarray(pixels), return_tensors="pt")["pixel_values"].float()
    ours = Preprocessing.from_settings(processor.to_dict(), (224, 224))
    torch.testing.assert_close(ours.normalise(ours.frame(pixels)), expected, atol=1e-6, rtol=1e-6)


def test_old_settings_are_understood() -> None:
    old = Preprocessing.from_settings({"size": 24, "crop_size": 20, "do_center_crop": True}, (16, 16))
    assert old.frame(picture(48, 96)).shape == (20, 20, 3)
    assert Preprocessing.from_settings({"size": 24}, (16, 16)).frame(picture(48, 96)).shape == (24, 24, 3)
    assert Preprocessing.from_settings({}, (16, 16)).frame(picture(48, 96)).shape == (16, 16, 3)


def test_normalised_values_turn_back_into_the_picture() -> None:
    preprocessing = Preprocessing((9, 7), mean=(0.4, 0.5, 0.6), std=(0.2, 0.3, 0.4))
    pixels = picture(9, 7)
    assert np.array_equal(preprocessing.pixels_of(preprocessing.normalise(pixels)), pixels)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "1", "CMYK", "I;16"])
def test_every_mode_becomes_colour(tmp_path: Path, mode: str) -> None:
    name = "a.tif" if mode == "CMYK" else "a.png"
    Image.new(mode, (5, 4)).save(tmp_path / name)
    assert load_image(tmp_path / name).shape == (4, 5, 3)


def test_sixteen_bits_keep_their_shades(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0, 32896, 65535]], np.uint16)).save(tmp_path / "a.png")
    assert load_image(tmp_path / "a.png")[0, :, 0].tolist() == [0, 128, 255]


def test_photographs_are_turned_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (8, 4)).save(tmp_path / "a.jpg", exif=exif)
    assert load_image(tmp_path / "a.jpg").shape == (8, 4, 3)


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    with pytest.raises(GramscopeError, match="not a whole picture"):
        load_image(tmp_path / "a.png")
    Image.fromarray(picture(40, 40)).save(tmp_path / "b.png")
    (tmp_path / "b.png").write_bytes((tmp_path / "b.png").read_bytes()[:400])
    with pytest.raises(GramscopeError, match="not a whole picture"):
        load_image(tmp_path / "b.png")


def test_a_picture_that_claims_too_many_pixels_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.new("1", (2000, 2000)).save(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 3_000_000)
    with pytest.raises(GramscopeError, match="too many pixels"):
        load_image(tmp_path / "a.png")


def test_samples_are_photographs() -> None:
    for index in range(len(SAMPLES)):
        assert sample_image(index).shape == (427, 640, 3) and sample_image(index).std() > 30
