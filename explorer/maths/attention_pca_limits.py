"""What attention-based PCA is held against: closed-form limits, and PCA by other means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Quadratic:
    """The infinite-prompt loss as a function of the coupling: total − 2λ linear + λ² square.

    For one covariance and one unit m: tr Σ, mᵀΣ²m and (mᵀΣ²m)(mᵀΣm).
    """

    total: float
    linear: float
    square: float

    def at(self, coupling: float) -> float:
        """Return the loss at λ."""
        return self.total - 2 * coupling * self.linear + coupling**2 * self.square

    @property
    def best_coupling(self) -> float:
        """The λ with the smallest loss, 1/(mᵀΣm) for one covariance; 0 where Σm = 0."""
        return self.linear / self.square if self.square else 0.0

    @property
    def best(self) -> float:
        """The loss at the best λ: tr Σ − mᵀΣ²m/mᵀΣm, which is tr Σ − σ_max for the leading eigenvector."""
        return self.at(self.best_coupling)


def loss_over_coupling(covariance: Tensor, m: Tensor) -> Quadratic:
    """Return the infinite-prompt loss of W = λ M Mᵀ for every λ at once.

    Parameters
    ----------
    covariance : Tensor, shape (d, d) or (B, d, d)
        One for all prompts, or one a prompt: then the mean over B.
    m : Tensor, shape (d, R)
        A direction, several, or a frame.
    """
    moved = covariance @ m
    linear = moved.square().sum((-2, -1))
    square = ((moved.mT @ moved) * (m.mT @ moved)).sum((-2, -1))
    total = covariance.diagonal(dim1=-2, dim2=-1).sum(-1)
    return Quadratic(float(total.mean()), float(linear.mean()), float(square.mean()))


def transition(eigenvalues: ArrayLike) -> float:
    """Return the largest λσ_1 at which the leading eigenvector minimises the infinite-prompt loss.

    2(1 + ρ)/(2 + ρ) with ρ = σ_min/σ_1: between 1 (singular Σ) and 4/3 (flat spectrum). Beyond, the minimiser
    tilts towards the smallest eigenvector.
    """
    values = np.asarray(eigenvalues, dtype=np.float64)
    ratio = max(values.min(), 0.0) / values.max()
    return float(2 * (1 + ratio) / (2 + ratio))


def bbp_cosine(theta: ArrayLike, c: ArrayLike) -> NDArray[np.float64]:
    """Return the limit of |cos| between sample PCA's direction and the spike v of Σ = I + θ v vᵀ.

    cos² → (1 − c/θ²)/(1 + c/θ) for c = d/n < θ², and 0 beyond (Baik, Ben Arous and Péché 2005; Paul 2007).
    It holds for n tokens of this fixed Σ, not for prompts with Wishart covariances.
    """
    theta, c = np.broadcast_arrays(np.asarray(theta, np.float64), np.asarray(c, np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = np.where(c < theta**2, (1 - c / theta**2) / (1 + c / theta), 0.0)
    return np.sqrt(squared)


def leading_direction(moment: Tensor) -> Tensor:
    """Return sample PCA's answer: the leading eigenvector of a second moment (…, d, d), shape (…, d)."""
    return torch.linalg.eigh(moment)[1][..., -1]


def oja_step(direction: Tensor, moment: Tensor, rate: float) -> Tensor:
    """Oja's rule on a batch: v ← v + η C v, back to unit norm.

    Parameters
    ----------
    direction : Tensor, shape (d,)
    moment : Tensor, shape (d, d)
        The batch's second moment C.
    """
    moved = direction + rate * (moment @ direction)
    return moved / torch.linalg.vector_norm(moved)


def critical_coupling(covariance: Tensor, basis: Tensor) -> float:
    """Return the largest λ at which `basis[:, 0]` is a minimum of the infinite-prompt loss on the sphere.

    The curvature at u_1 towards u_j is −2λ a_j + λ² b_j with a_j = Q_jj − Q_11 and
    b_j = a_j S_11 + Q_11 (S_jj − S_11) + 4 Q_1j S_1j for S = Σ, Q = Σ², averaged over covariances; it is
    positive while λ < 2a_j/b_j (both negative). For one covariance this is `transition` over σ_1.

    Parameters
    ----------
    covariance : Tensor, shape (d, d) or (B, d, d)
    basis : Tensor, shape (d, d)
        Orthonormal, the leading direction first.

    Returns
    -------
    float
        0 where u_1 is no minimum at any λ.
    """
    s = basis.mT @ covariance @ basis
    q = s @ s
    s_diagonal, q_diagonal = s.diagonal(dim1=-2, dim2=-1), q.diagonal(dim1=-2, dim2=-1)
    a = q_diagonal - q_diagonal[..., :1]
    b = a * s_diagonal[..., :1] + q_diagonal[..., :1] * (s_diagonal - s_diagonal[..., :1])
    b = b + 4 * q[..., 0, :] * s[..., 0, :]
    a, b = (part.reshape(-1, part.shape[-1]).mean(0)[1:] for part in (a, b))
    if bool((a >= 0).any()):
        return 0.0
    return float(torch.where(b < 0, 2 * a / b, torch.inf).min())
