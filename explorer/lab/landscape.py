"""The infinite-prompt loss over the sphere, for d = 3."""

from __future__ import annotations

import torch

from explorer.lab.prompts import Prompts
from explorer.lab.snapshot import Sphere

DRAWS = 256
SEED = 1


class Landscape:
    """The loss of W = λ m mᵀ for every m and λ: a quadratic form less a quartic one, over all covariances."""

    def __init__(self, prompts: Prompts) -> None:
        covariance = prompts.covariances(DRAWS, torch.Generator().manual_seed(SEED))
        sigma = (prompts.basis.mT @ covariance @ prompts.basis).reshape(-1, 3, 3).double()
        squared = sigma @ sigma
        self._linear = squared.mean(0).numpy()
        self._square = (squared.reshape(-1, 9).mT @ sigma.reshape(-1, 9) / len(sigma)).numpy()
        self._total = float(sigma.diagonal(dim1=-2, dim2=-1).sum(-1).mean())
        self._scale = prompts.scale

    def at(self, coupling: float | None) -> Sphere:
        """Return the sphere at λσ_1; None: that of a free matrix, which is no point of it."""
        return Sphere(self._total, self._linear, self._square, coupling, self._scale)
