"""What training gives to be drawn: numpy arrays with their meaning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.lab.setting import Setting

Array = NDArray[np.float64]
SAME = 1e-9
"""Eigenvalues so close, relatively, are equal."""


@dataclass(frozen=True, eq=False)
class Limits:
    """What the present setting is held against; None where mathematics gives no number.

    Attributes
    ----------
    loss : float or None
        The infinite-prompt loss at the leading directions and the best λ: tr Σ − σ_max for one head.
    loss_at_coupling : float or None
        The same at the present λ.
    critical : float or None
        The largest λσ_1 at which the leading direction minimises the infinite-prompt loss of one head.
    pca : float
        Mean |cos| of one prompt's own sample PCA with its direction, on prompts put aside.
    bbp : float or None
        The limit of that for Σ = I + θ v vᵀ as d and L grow together.
    """

    loss: float | None
    loss_at_coupling: float | None
    critical: float | None
    pca: float
    bbp: float | None


@dataclass(frozen=True, eq=False)
class Curves:
    """One number a recorded step, each of shape (n,); `components` (n, d).

    Attributes
    ----------
    steps : ndarray
    loss : ndarray
        In the data's own units; NaN before the first step.
    components : ndarray
        m·u_j, signed for one direction; for a free matrix u_j·ΣWᵀu_j, the share of component j reproduced.
    pca, oja : ndarray
        |cos| with u_1 of sample PCA and of Oja's rule, on the first prompt of every step so far (Σ itself
        where prompts are infinite); NaN before the first step.
    recovery : ndarray
        Mean |cos| of the readout of held-out prompts with their own directions; NaN where m itself tells it.
    """

    steps: Array
    loss: Array
    components: Array
    pca: Array
    oja: Array
    recovery: Array


@dataclass(frozen=True, eq=False)
class Sphere:
    """The infinite-prompt loss of W = λ m mᵀ for every m on the unit sphere of d = 3.

    Attributes
    ----------
    total : float
        tr Σ, averaged over covariances.
    linear : ndarray, shape (3, 3)
        Σ² in the basis of eigenvectors, averaged.
    square : ndarray, shape (9, 9)
        (Σ²)_ab Σ_cd, averaged, rows ab and columns cd.
    coupling : float or None
        λσ_1; None for a free matrix, which is no point of the sphere.
    scale : float
        σ_1; everything else is in units of it.
    """

    total: float
    linear: Array
    square: Array
    coupling: float | None
    scale: float

    def loss(self, m: Array) -> Array:
        """Return the loss at unit vectors `m` (3, n) in the basis of eigenvectors, in the data's units."""
        lam = self.coupling or 0.0
        pairs = (m[:, None] * m[None]).reshape(9, -1)
        linear = self.linear.reshape(9) @ pairs
        square = ((self.square @ pairs) * pairs).sum(0)
        return (self.total - 2 * lam * linear + lam**2 * square) * self.scale


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One moment of training.

    Attributes
    ----------
    setting : Setting
    step : int
    curves : Curves
    eigenvalues : ndarray, shape (d,)
        Of Σ, descending, in the data's own units.
    covariance : ndarray, shape (d, d)
        Σ in the data's own units (over all prompts).
    learned : ndarray, shape (d, d)
        Σ Wᵀ, heads added: what they do to a token of an infinite prompt.
    directions : ndarray, shape (d, R)
        The learned directions in the basis of eigenvectors: u_j·m_r.
    singular_values : ndarray, shape (d,)
        Of W, heads added, times σ_1.
    weights, projections : ndarray, shape (L, R)
        A held-out prompt: what its first token gives each token, and m_r·X_k.
    coupling : float or None
        λσ_1 now; None for a free matrix.
    scale : float
        σ_1.
    seen_leading : float
        σ_1 of the tokens that the head saw, contamination included; NaN before the first step.
    limits : Limits
    sphere : Sphere or None
        For d = 3.
    """

    setting: Setting
    step: int
    curves: Curves
    eigenvalues: Array
    covariance: Array
    learned: Array
    directions: Array
    singular_values: Array
    weights: Array
    projections: Array
    coupling: float | None
    scale: float
    seen_leading: float
    limits: Limits
    sphere: Sphere | None


def has_gap(eigenvalues: Array, count: int) -> bool:
    """Return whether the `count` largest of descending eigenvalues lie above the others."""
    return count >= len(eigenvalues) or bool(eigenvalues[count] <= eigenvalues[count - 1] * (1 - SAME))
