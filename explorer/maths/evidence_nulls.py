"""Values that mean nothing: draws of V under each null, always many at a time.

Every function returns (draws, N, Dv) in float64, laid out column by column as the factorisations want them.
Neither Teo and Nguyen (arXiv 2406.13762) nor Sarıtaş and Yıldız (arXiv 2505.07908) compare with these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor


def permuted(values: Tensor, draws: int, rng: Generator) -> Tensor:
    """Give the tokens each other's values: keeps V's geometry, breaks its relation to the keys.

    Parameters
    ----------
    values : Tensor, shape (N, Dv)
    """
    n = values.shape[0]
    order = torch.from_numpy(np.argsort(rng.random((draws, n)), axis=-1)).to(values.device)
    columns = values.mT.contiguous()
    return columns[:, order].movedim(0, 1).contiguous().mT


def gaussian(values: Tensor, draws: int, rng: Generator) -> Tensor:
    """Independent Gaussian entries whose columns have, on average, the squared norms of V's.

    Parameters
    ----------
    values : Tensor, shape (N, Dv)
    """
    n, width = values.shape
    noise = torch.from_numpy(rng.standard_normal((draws, width, n))).to(values.device)
    return noise.mul_((values.norm(dim=0) / n**0.5)[:, None]).mT


@dataclass(frozen=True, eq=False)
class LayerInput:
    """What a layer's value projection reads, X = U B with orthonormal columns of U, ready to be mapped.

    Attributes
    ----------
    left : Tensor, shape (N, r)
        U Σ of the thin singular value decomposition of X; r = min(N, C).
    width : int
        C, the layer's width.
    """

    left: Tensor
    width: int

    @classmethod
    def of(cls, x: Tensor) -> LayerInput:
        """Factor the input once for all draws; x (N, C)."""
        u, s, _ = torch.linalg.svd(x.double(), full_matrices=False)
        return cls(u * s, x.shape[1])

    def projected(self, values: Tensor, draws: int, rng: Generator) -> Tensor:
        """X W with independent Gaussian W, scaled so that the squared norm is on average that of `values`.

        X W = U Σ (Z W), and Z W with orthonormal rows of Z is Gaussian again, so W need not be drawn at full
        width.

        Parameters
        ----------
        values : Tensor, shape (N, Dv)
        """
        size = values.norm() / (self.left.norm() * values.shape[1] ** 0.5)
        w = torch.from_numpy(rng.standard_normal((draws, values.shape[1], self.left.shape[1])))
        return self._apply(w.to(self.left.device) * size)

    def rotated(self, w_v: Tensor, draws: int, rng: Generator) -> Tensor:
        """X R W_V with a Haar-random rotation R: a random map with the learned singular values.

        With W_V = P S Qᵀ and U Σ Z = X, only Z R P matters, r rows of a uniformly random C × k frame.
        Such a frame is G L⁻ᵀ for Gaussian G and GᵀG = L Lᵀ; GᵀG splits into the r rows that are needed and
        an independent Wishart matrix, drawn by its Bartlett factor. Exact in distribution, and C appears
        only as a number of degrees of freedom.

        Parameters
        ----------
        w_v : Tensor, shape (Dv, C)
            The head's value weights, so that V = X w_vᵀ (+ a bias).
        """
        q, s, _ = torch.linalg.svd(w_v.double(), full_matrices=False)
        rows = torch.from_numpy(rng.standard_normal((draws, len(s), self.left.shape[1]))).to(self.left.device)
        rest = torch.from_numpy(_wishart_factor(self.width - self.left.shape[1], len(s), draws, rng))
        rest = rest.to(self.left.device)
        lower = torch.linalg.cholesky(rows @ rows.mT + rest.mT @ rest)
        map_of_frame = torch.linalg.solve_triangular(
            lower, (q * s).expand(draws, -1, -1), upper=False, left=False
        )
        return self._apply(map_of_frame @ rows)

    def _apply(self, w: Tensor) -> Tensor:
        """U Σ wᵀ for w (draws, Dv, r), one product for all draws."""
        return (w.reshape(-1, w.shape[-1]) @ self.left.mT).reshape(*w.shape[:2], -1).mT


def _wishart_factor(freedom: int, size: int, draws: int, rng: Generator) -> np.ndarray:
    """Return E (draws, m, size) with EᵀE Wishart of that many degrees of freedom and unit scale."""
    if freedom <= size:
        return rng.standard_normal((draws, freedom, size))
    factor = np.triu(rng.standard_normal((draws, size, size)), 1)
    diagonal = np.arange(size)
    factor[:, diagonal, diagonal] = np.sqrt(rng.chisquare(freedom - diagonal, (draws, size)))
    return factor
