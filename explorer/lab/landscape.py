"""The infinite-prompt loss over the visible half of the sphere, for d = 3."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.lab.prompts import Prompts
from explorer.lab.snapshot import Sphere

SIZE = 96
DRAWS = 256
SEED = 1
AXES = np.array([[-1, 1, 0], [-1, -1, 2], [1, 1, 1]]) / np.sqrt([[2], [6], [3]])


class Landscape:
    """The loss of W = λ m mᵀ for every visible m, at any λ, seen from the middle between u_1, u_2 and u_3."""

    def __init__(self, prompts: Prompts) -> None:
        m = prompts.basis @ torch.from_numpy(_visible(SIZE)).float()
        covariance = prompts.covariances(DRAWS, torch.Generator().manual_seed(SEED))
        moved = covariance @ m
        squared = moved.square().sum(-2)
        self._linear = squared.reshape(-1, SIZE**2).mean(0)
        self._square = (squared * (moved * m).sum(-2)).reshape(-1, SIZE**2).mean(0)
        self._total = float(covariance.diagonal(dim1=-2, dim2=-1).sum(-1).mean())
        self._scale = prompts.scale

    def at(self, coupling: float | None) -> Sphere:
        """Return the sphere at λσ_1; without colours where there is no coupling, as for a free matrix."""
        if coupling is None:
            return Sphere(AXES, None)
        loss = self._total - 2 * coupling * self._linear + coupling**2 * self._square
        return Sphere(AXES, (loss * self._scale).reshape(SIZE, SIZE).numpy().astype(np.float64))


def _visible(size: int) -> NDArray[np.float64]:
    """Return the sphere's points under a square grid, row 0 at the top, shape (3, size²); NaN beside it."""
    across = (np.arange(size) + 0.5) / size * 2 - 1
    x, y = np.meshgrid(across, -across)
    with np.errstate(invalid="ignore"):
        towards = np.sqrt(1 - x**2 - y**2)
    return AXES.T @ np.stack([x, y, towards]).reshape(3, -1)
