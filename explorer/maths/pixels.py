"""Seeded, nested contamination of images: noise, salt and pepper, blur, occlusion.

What is drawn depends on the shape and the seed alone, and by numpy on the CPU, so the device changes nothing.
A higher level hits the same pixels, harder or with more beside them; level 0 gives the images back, bit for
bit. Each image of a batch is hit in places of its own.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from explorer.params import PixelKind

GREY = 0.5
"""What occlusion covers with: the middle of the range, which neither paper nor ink is."""


def contaminate_pixels(images: Tensor, kind: PixelKind, level: float, seed: int) -> Tensor:
    """Contaminate images by the function that `kind` names.

    Parameters
    ----------
    images : Tensor, shape (…, C, H, W)
        Values in [0, 1].
    level : float
        In the kind's own unit, see the functions.

    Returns
    -------
    Tensor, shape (…, C, H, W)
        Values in [0, 1]; at level 0 `images` itself.
    """
    if kind == "blur":
        return blur(images, level)
    contaminate = {"pixel noise": pixel_noise, "salt and pepper": salt_and_pepper, "occlusion": occlude}
    return contaminate[kind](images, level, seed)


def pixel_noise(images: Tensor, level: float, seed: int) -> Tensor:
    """Add independent Gaussian noise of deviation `level` to every value, and clip to [0, 1].

    Parameters
    ----------
    images : Tensor, shape (…, C, H, W)
    level : float
        In units of the full range.
    """
    if level == 0:
        return images
    return (images + level * _noise(tuple(images.shape), seed).to(images)).clamp(0, 1)


def salt_and_pepper(images: Tensor, level: float, seed: int) -> Tensor:
    """Make a share `level` of the pixels black or white, each with even chances, in all channels alike.

    Parameters
    ----------
    images : Tensor, shape (…, C, H, W)
    level : float
        0 to 1, rounded to whole pixels.
    """
    *batch, _, height, width = images.shape
    rank, white = _grains((*batch, 1, height, width), seed)
    return torch.where(_hit(rank, level, images), white.to(images), images)


def occlude(images: Tensor, level: float, seed: int) -> Tensor:
    """Cover a share `level` of the area with grey: a square that grows around one pixel.

    At the border it goes on growing where there is room, so that the share is exact.

    Parameters
    ----------
    images : Tensor, shape (…, C, H, W)
    level : float
        0 to 1, rounded to whole pixels.
    """
    *batch, _, height, width = images.shape
    rank = _square((*batch, 1, height, width), seed)
    return torch.where(_hit(rank, level, images), torch.full_like(images, GREY), images)


def blur(images: Tensor, level: float) -> Tensor:
    """Blur with a Gaussian kernel; at the border the kernel's weight inside the image counts as all of it.

    Parameters
    ----------
    images : Tensor, shape (…, C, H, W)
    level : float
        Deviation of the kernel in pixels.
    """
    if level == 0:
        return images
    rows, columns = (_kernel(size, level).to(images) for size in images.shape[-2:])
    return (rows @ images @ columns.mT).clamp(0, 1)


def _hit(rank: Tensor, level: float, images: Tensor) -> Tensor:
    """Return which pixels are hit, (…, 1, H, W): those ranked first."""
    return (rank < round(level * rank.shape[-2] * rank.shape[-1])).to(images.device)


def _kernel(size: int, deviation: float) -> Tensor:
    """Return the blur along one side as a matrix, (size, size), rows summing to 1."""
    at = torch.arange(size, dtype=torch.float64)
    weights = (-0.5 * ((at[:, None] - at) / deviation).square()).exp()
    return weights / weights.sum(-1, keepdim=True)


@lru_cache(maxsize=8)
def _noise(shape: tuple[int, ...], seed: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


@lru_cache(maxsize=8)
def _grains(shape: tuple[int, ...], seed: int) -> tuple[Tensor, Tensor]:
    """Draw the order in which pixels are hit, and which of them turn white."""
    rng = np.random.default_rng(seed)
    rank = _ranks(rng.random(shape))
    return rank, torch.from_numpy(rng.integers(0, 2, shape))


@lru_cache(maxsize=8)
def _square(shape: tuple[int, ...], seed: int) -> Tensor:
    """Draw a pixel of each image, and rank the others by their distance along the farther axis."""
    rng = np.random.default_rng(seed)
    *batch, height, width = shape
    rows, columns = (rng.integers(0, size, (*batch, 1, 1)) for size in (height, width))
    down = np.abs(np.arange(height)[:, None] - rows)
    across = np.abs(np.arange(width) - columns)
    nearness = np.minimum(down, across) / (height + width)
    return _ranks(np.maximum(down, across) + nearness)


def _ranks(keys: np.ndarray) -> Tensor:
    """Return the rank of each pixel in its image, by ascending key, in the order of reading where equal."""
    flat = keys.reshape(*keys.shape[:-2], -1)
    order = np.argsort(flat, axis=-1, kind="stable")
    return torch.from_numpy(np.argsort(order, axis=-1).reshape(keys.shape))
