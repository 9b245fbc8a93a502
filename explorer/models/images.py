"""Images made ready for a model: a file, one of a folder, a tensor, or a built-in photograph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.maths.pixels import contaminate_pixels
from explorer.models.base import Kind, Token
from explorer.models.batch import TENSORS, count_entries, entry_of, image_files, read_tensor
from explorer.models.pictures import SAMPLES, Preprocessing, load_image, sample_image
from explorer.models.prepared import Prepared
from explorer.models.tokens import patch_tokens
from explorer.params import ENTERS, Input, PixelKind

ROUNDING = 1e-4
"""How far outside of black and white a value may lie by rounding."""

UNCLASSED = ("siglip_vision_model", "ijepa")
"""Families whose only tokens are the patches."""


def special_tokens(config: Any) -> tuple[str, ...]:
    """Name the tokens that stand before the patches."""
    if config.model_type in UNCLASSED:
        return ()
    distilled = ("[DIST]",) if config.model_type == "deit" else ()
    registers = getattr(config, "num_register_tokens", 0)
    return ("[CLS]", *distilled, *(f"[REG{number}]" for number in range(registers)))


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (int(value[0]), int(value[1]))


class ImageReader:
    """Reads images for one model.

    Parameters
    ----------
    config : object
        transformers' configuration of a vision model: image_size, patch_size, num_channels.
    preprocessing : Preprocessing or None
        None: the whole image is resized to the model's size, values between −1 and 1.
    """

    kind: Kind = "image"
    samples: int = len(SAMPLES)

    def __init__(self, config: Any, preprocessing: Preprocessing | None) -> None:
        size = _pair(config.image_size)
        self.patch, self.special = _pair(config.patch_size), special_tokens(config)
        self.channels = config.num_channels
        self.fixed = None if config.model_type.startswith("dinov2") else size
        self.preprocessing = preprocessing or Preprocessing(size)
        self.missing: tuple[str, ...] = ()
        if preprocessing is None:
            self.missing = (
                f"preprocessor_config.json: images are resized to {size[0]} × {size[1]} and scaled to −1…1",
            )

    def count(self, input: Input) -> int:
        """How many images the input's files have; without any, the built-in samples."""
        return count_entries(input.files) if input.path else self.samples

    def read(self, input: Input, limit: int | None = None) -> Prepared:
        """Prepare an image.

        Raises
        ------
        GramscopeError
            If it is no image, not of a size that the model reads, or the input's change does not suit.
        """
        prepared, change = self._read(input), input.change
        if change is None or ENTERS[change.kind] == "attack":
            return prepared
        if ENTERS[change.kind] != "pixels":
            raise GramscopeError(
                f"“{change.kind}” cannot be done to an image. Choose a change of its pixels."
            )
        kind = cast(PixelKind, change.kind)
        return self.repaint(prepared, lambda x: contaminate_pixels(x, kind, change.level, change.seed))

    def repaint(self, prepared: Prepared, paint: Callable[[Tensor], Tensor]) -> Prepared:
        """Let `paint` change an image's values, (1, C, H, W) from 0 to 1; the others stay bit for bit.

        Raises
        ------
        GramscopeError
            If the values are none of an image's.
        """
        clean = prepared.arguments["pixel_values"]
        unit = self.preprocessing.unit_of(clean.float())
        if float(unit.min()) < -ROUNDING or float(unit.max()) > 1 + ROUNDING:
            raise GramscopeError(
                "This tensor's values, undone the model's normalisation, do not lie between black and white, "
                "so pixels cannot be changed in units of their range. Open a picture instead."
            )
        assert prepared.image is not None
        unit = unit.clamp(0, 1)
        painted = paint(unit).to(unit)
        moved = painted != unit
        where = moved[0].any(0)
        values = torch.where(moved, self.preprocessing.of_unit(painted).to(clean), clean)
        return replace(
            prepared,
            arguments={**prepared.arguments, "pixel_values": values},
            image=np.where(where[..., None], self.preprocessing.pixels_of(values), prepared.image),
            changed=self._touched(prepared.tokens, where),
        )

    def _touched(self, tokens: Sequence[Token], moved: Tensor) -> tuple[bool, ...]:
        """Return for each token whether a pixel (H, W) of its patch has moved."""
        height, width = self.patch

        def touched(token: Token) -> bool:
            if token.patch is None:
                return False
            top, left = token.patch[0] * height, token.patch[1] * width
            return bool(moved[top : top + height, left : left + width].any())

        return tuple(map(touched, tokens))

    def _read(self, input: Input) -> Prepared:
        if not input.path:
            if input.text:
                raise GramscopeError("This model looks at images, not text. Drop or open an image.")
            return self.of_pixels(sample_image(input.index))
        path, index = entry_of(input.files, input.index)
        if path.suffix.lower() in TENSORS:
            return self.of_tensor(read_tensor(path))
        files = image_files(path)
        return self.of_pixels(load_image(files[index % len(files)]))

    def of_pixels(self, pixels: np.ndarray) -> Prepared:
        """Prepare uint8 (H, W, 3)."""
        pixels = self.preprocessing.frame(pixels)
        if self.fixed is not None and pixels.shape[:2] != self.fixed:
            pixels = Preprocessing(self.fixed, resample=self.preprocessing.resample).frame(pixels)
        return self.of_normalised(self.preprocessing.normalise(pixels), pixels)

    def of_tensor(self, values: Tensor) -> Prepared:
        """Prepare uint8 (H, W, 3) as a picture, or floats (C, H, W) or (1, C, H, W) as they are."""
        if values.dtype == torch.uint8 and values.ndim == 3 and values.shape[-1] == 3:
            return self.of_pixels(values.numpy())
        batch = values[None] if values.ndim == 3 else values
        if not values.is_floating_point() or batch.ndim != 4 or batch.shape[:2] != (1, self.channels):
            raise GramscopeError(
                f"A tensor of shape {tuple(values.shape)} and type {values.dtype} is no image. A picture is "
                f"uint8 of shape (H, W, 3); what the model reads is floats of shape ({self.channels}, H, W)."
            )
        return self.of_normalised(batch, self.preprocessing.pixels_of(batch))

    def of_normalised(self, values: Tensor, pixels: np.ndarray) -> Prepared:
        """Name the tokens of (1, C, H, W)."""
        height, width = values.shape[2:]
        wrong = (
            (height, width) != self.fixed if self.fixed else height % self.patch[0] or width % self.patch[1]
        )
        if wrong:
            needed = f"{self.fixed[0]} × {self.fixed[1]}" if self.fixed else f"a multiple of {self.patch[0]}"
            raise GramscopeError(
                f"The model reads images of {needed} pixels; this one has {height} × {width}."
            )
        grid = height // self.patch[0], width // self.patch[1]
        return Prepared({"pixel_values": values}, patch_tokens(grid, self.special), pixels, grid)
