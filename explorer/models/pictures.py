"""Images from files, and from pixels to what a vision model reads."""

from __future__ import annotations

import importlib.util
import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.safety import refuse_irregular_file

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")
"""Pictures that are plain data; PostScript, for one, is a program."""
SAMPLES = ("china.jpg", "flower.jpg")
"""Photographs that come with scikit-learn."""


def load_image(path: Path) -> np.ndarray:
    """Return a picture as uint8 (H, W, 3), turned upright, without transparency.

    Raises
    ------
    GramscopeError
        If the file is no picture, is damaged, or is absurdly large.
    """
    refuse_irregular_file(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(path.read_bytes()), formats=FORMATS) as image:
                image.load()
                return np.asarray(_eight_bits(ImageOps.exif_transpose(image)).convert("RGB"))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise GramscopeError(
            f"{path.name} has too many pixels. Make it smaller first.", str(error)
        ) from error
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise GramscopeError(
            f"{path.name} is not a whole picture of a kind that can be read ({', '.join(FORMATS)}).",
            str(error),
        ) from error


def _eight_bits(image: Image.Image) -> Image.Image:
    """Scale pictures of 16 bits a pixel, which Pillow would clip."""
    if not image.mode.startswith("I"):
        return image
    return Image.fromarray((np.asarray(image).astype(np.float64) / 257).clip(0, 255).astype(np.uint8))


def sample_image(index: int) -> np.ndarray:
    """Return a built-in picture as uint8 (H, W, 3), counted round."""
    spec = importlib.util.find_spec("sklearn")
    assert spec is not None and spec.submodule_search_locations is not None
    root = Path(spec.submodule_search_locations[0]) / "datasets" / "images"
    return load_image(root / SAMPLES[index % len(SAMPLES)])


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """From a picture to what a model reads.

    Attributes
    ----------
    size : (int, int) or None
        Height and width to resize to.
    shortest : int or None
        Length of the shorter side to resize to, keeping the proportions, where `size` is None.
    crop : (int, int) or None
        Height and width of the middle that is kept, edges filled with black.
    resample : int
        Pillow's number of the filter (2 bilinear, 3 bicubic).
    rescale : float
        What pixel values are multiplied with.
    mean, std : tuple of float
        Of the channels, subtracted and divided by after rescaling.
    """

    size: tuple[int, int] | None
    shortest: int | None = None
    crop: tuple[int, int] | None = None
    resample: int = 3
    rescale: float = 1 / 255
    mean: tuple[float, ...] = (0.5, 0.5, 0.5)
    std: tuple[float, ...] = (0.5, 0.5, 0.5)

    @classmethod
    def from_settings(cls, settings: dict[str, Any], size: tuple[int, int]) -> Preprocessing:
        """Read a preprocessor_config.json; `size` stands in for one that it lacks."""

        def pair(value: Any) -> tuple[int, int] | None:
            if isinstance(value, dict):
                return (value["height"], value["width"]) if "height" in value else None
            return (int(value), int(value)) if isinstance(value, int) else None

        wanted, cropped = settings.get("size", {}), settings.get("crop_size")
        shortest = wanted.get("shortest_edge") if isinstance(wanted, dict) else None
        if isinstance(wanted, int) and settings.get("do_center_crop"):
            shortest, wanted = wanted, {}
        resized, normal = settings.get("do_resize", True), settings.get("do_normalize", True)
        return cls(
            size=(pair(wanted) or size) if resized and shortest is None else None,
            shortest=shortest if resized else None,
            crop=(pair(cropped) or size) if settings.get("do_center_crop") else None,
            resample=settings.get("resample", 3),
            rescale=settings.get("rescale_factor", 1 / 255) if settings.get("do_rescale", True) else 1.0,
            mean=tuple(settings.get("image_mean", (0.5,) * 3)) if normal else (0.0,) * 3,
            std=tuple(settings.get("image_std", (0.5,) * 3)) if normal else (1.0,) * 3,
        )

    def frame(self, pixels: np.ndarray) -> np.ndarray:
        """Resize and crop uint8 (H, W, 3)."""
        image = Image.fromarray(pixels)
        if self.shortest is not None:
            short, long = sorted(image.size)
            other = int(self.shortest * long / short)
            width = self.shortest if image.width == short else other
            image = image.resize((width, self.shortest + other - width), Image.Resampling(self.resample))
        elif self.size is not None:
            image = image.resize(self.size[::-1], Image.Resampling(self.resample))
        return np.asarray(image) if self.crop is None else _middle(np.asarray(image), self.crop)

    def normalise(self, pixels: np.ndarray) -> Tensor:
        """Turn uint8 (H, W, 3) into float32 (1, 3, H, W)."""
        values = torch.from_numpy(pixels.astype(np.float32)) * self.rescale
        values = (values - torch.tensor(self.mean)) / torch.tensor(self.std)
        return values.permute(2, 0, 1)[None]

    def unit_of(self, values: Tensor) -> Tensor:
        """Turn normalised values (B, C, H, W) back into a picture's own, from 0 to 1."""
        mean, std = self._channels(values)
        return (values * std + mean) / (255 * self.rescale)

    def of_unit(self, picture: Tensor) -> Tensor:
        """Normalise a picture (B, C, H, W) of values from 0 to 1; differentiable."""
        mean, std = self._channels(picture)
        return (picture * (255 * self.rescale) - mean) / std

    def _channels(self, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and deviation of as many channels, (C, 1, 1)."""
        mean, std = (torch.tensor(part[: like.shape[1]]).to(like) for part in (self.mean, self.std))
        return mean[:, None, None], std[:, None, None]

    def pixels_of(self, values: Tensor) -> np.ndarray:
        """Turn normalised values (1, 3, H, W) back into uint8 (H, W, 3) to look at."""
        values = values[0].permute(1, 2, 0).float().cpu() * torch.tensor(self.std) + torch.tensor(self.mean)
        return (values / self.rescale).round().clamp(0, 255).to(torch.uint8).numpy()


def _middle(pixels: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Cut the middle out, filling up with black where the picture is smaller."""
    height, width = pixels.shape[:2]
    rows, columns = size
    short = max(rows - height, 0), max(columns - width, 0)
    if any(short):
        edges = [(-(-missing // 2), missing // 2) for missing in short]
        pixels = np.pad(pixels, (*edges, (0, 0)))
        height, width = pixels.shape[:2]
    top, left = (height - rows) // 2, (width - columns) // 2
    return pixels[top : top + rows, left : left + columns]
