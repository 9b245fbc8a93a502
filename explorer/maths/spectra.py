"""Families of spectra for a covariance, and whitening."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def spiked(d: int, theta: float) -> Floats:
    """Return the eigenvalues 1 + θ, 1, …, 1 of Σ = I + θ v vᵀ, shape (d,)."""
    values = np.ones(d)
    values[0] += theta
    return values


def power_law(d: int, exponent: float) -> Floats:
    """Return the eigenvalues d^e j^(−e), j = 1…d, so that the smallest is 1, shape (d,)."""
    return (d / np.arange(1, d + 1)) ** exponent


def flat(d: int) -> Floats:
    """Return d ones: no direction is preferred."""
    return np.ones(d)


def whiten(centred: Floats) -> Floats:
    """Return rows with covariance the identity, on as many principal axes as the rank.

    Parameters
    ----------
    centred : ndarray, shape (n, d)
        Rows with mean 0.

    Returns
    -------
    ndarray, shape (n, r)
        Principal components in descending order, each with unit deviation: every direction is as good.
    """
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    rank = int((s > s[0] * max(centred.shape) * np.finfo(np.float64).eps).sum())
    return u[:, :rank] * np.sqrt(len(centred))
