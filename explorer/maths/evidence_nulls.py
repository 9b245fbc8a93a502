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

from explorer.maths.attention import exact


def _normal(rng: Generator, *shape: int) -> Tensor:
    """Draw standard normal numbers; torch is several times faster than numpy at it, in single precision."""
    generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
    return torch.randn(shape, generator=generator).double()


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
    noise = _normal(rng, draws, width, n).to(values.device)
    return noise.mul_((values.norm(dim=0) / n**0.5)[:, None]).mT


@dataclass(frozen=True, eq=False)
class LayerInput:
    """What a layer's value projection reads, X = U Σ Z with orthonormal rows of Z, ready to be mapped.

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
        u, s, _ = torch.linalg.svd(exact(x), full_matrices=False)
        return cls(u * s, x.shape[1])

    def projected(self, values: Tensor, draws: int, rng: Generator) -> Tensor:
        """X W with independent Gaussian W, scaled so that the squared norm is on average that of `values`.

        X W = U Σ (Z W), and Z W is Gaussian again, so that W need not be drawn at full width.

        Parameters
        ----------
        values : Tensor, shape (N, Dv)
        """
        size = values.norm() / (self.left.norm() * values.shape[1] ** 0.5)
        w = _normal(rng, draws, values.shape[1], self.left.shape[1]).to(self.left.device)
        return self._apply(w * size)

    def rotated(self, learned: Tensor, draws: int, rng: Generator) -> Tensor:
        """X R W_V with a Haar-random rotation R: a random map with the learned singular values.

        With W_V = P S Qᵀ, only Z R P matters, r rows of a uniformly random C × k frame. Such a frame is
        G L⁻ᵀ for Gaussian G and GᵀG = L Lᵀ; GᵀG splits into the r rows that are needed and an independent
        Wishart matrix, drawn by its Bartlett factor. Exact in distribution, and C appears only as a number
        of degrees of freedom.

        Parameters
        ----------
        learned : Tensor, shape (Dv, k)
            Q S, from `singular_part`.
        """
        size = learned.shape[1]
        rows = _normal(rng, draws, size, self.left.shape[1]).to(self.left.device)
        rest = _wishart_factor(self.width - self.left.shape[1], size, draws, rng).to(rows)
        lower = torch.linalg.cholesky(rows @ rows.mT + rest.mT @ rest)
        each = learned.expand(draws, -1, -1)
        return self._apply(torch.linalg.solve_triangular(lower, each, upper=False, left=False) @ rows)

    def _apply(self, w: Tensor) -> Tensor:
        """U Σ wᵀ for w (draws, Dv, r), one product for all draws."""
        return (w.reshape(-1, w.shape[-1]) @ self.left.mT).reshape(*w.shape[:2], -1).mT


def singular_part(w_v: Tensor) -> Tensor:
    """Return what a rotation of the input leaves of the value weights.

    Parameters
    ----------
    w_v : Tensor, shape (Dv, C)
        So that V = X w_vᵀ (+ a bias).

    Returns
    -------
    Tensor, shape (Dv, k)
        Left singular vectors times singular values; k = min(Dv, C).
    """
    q, s, _ = torch.linalg.svd(exact(w_v), full_matrices=False)
    return q * s


def _wishart_factor(freedom: int, size: int, draws: int, rng: Generator) -> Tensor:
    """Return E (draws, m, size) with EᵀE Wishart of that many degrees of freedom and unit scale."""
    if freedom <= size:
        return _normal(rng, draws, freedom, size)
    factor = _normal(rng, draws, size, size).triu_(1)
    chi_square = rng.chisquare(freedom - np.arange(size), (draws, size))
    factor.diagonal(dim1=-2, dim2=-1).copy_(torch.from_numpy(chi_square).sqrt())
    return factor
