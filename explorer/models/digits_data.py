"""Handwritten digits of 8 × 8 pixels: the data set of scikit-learn, shipped as one small file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from explorer.models.safety import load_arrays
from explorer.settings import resource

SPLIT_SEED = 0
TEST_IMAGES = 360
INK = 16
"""The value of a pixel that is all ink; paper is 0."""
MEAN, STD = 0.5, 0.5
"""Of the pixels, paper 0 and ink 1: what is subtracted and divided by before the model reads them."""


@dataclass(frozen=True, eq=False)
class Digits:
    """One part of the data set.

    Attributes
    ----------
    images : ndarray of uint8, shape (count, 8, 8)
        From 0 (paper) to 16 (ink).
    labels : ndarray of uint8, shape (count,)
    """

    images: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def pixels(self, index: int) -> np.ndarray:
        """Return an image as uint8 (8, 8, 3), ink white, counted round."""
        grey = (self.images[index % len(self)].astype(np.uint16) * 255 // INK).astype(np.uint8)
        return np.repeat(grey[..., None], 3, axis=-1)


def as_input(images: np.ndarray) -> Tensor:
    """Turn images (B, 8, 8) from 0 to 16 into what the model reads, (B, 1, 8, 8)."""
    return (torch.from_numpy(images.astype(np.float32))[:, None] / INK - MEAN) / STD


def load_digits(part: Literal["train", "test"]) -> Digits:
    """Return the 1,437 images for training, or the 360 for testing, in a fixed shuffled order."""
    arrays = load_arrays(resource("digits/digits.npz"))
    order = np.random.default_rng(SPLIT_SEED).permutation(len(arrays["labels"]))
    chosen = order[:-TEST_IMAGES] if part == "train" else order[-TEST_IMAGES:]
    return Digits(arrays["images"][chosen], arrays["labels"][chosen])
