"""Bring values beside other values: by the best rotation, or by the signs of columns alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rotated_onto(values: Array, target: Array) -> Array:
    """Return s V R with the scale s and orthogonal R that minimise ‖s V R − T‖ (Schönemann 1966).

    Parameters
    ----------
    values, target : ndarray, shape (N, Dv)
    """
    u, sizes, vt = np.linalg.svd(values.T @ target)
    return values @ (u @ vt) * _ratio(sizes.sum(), values)


def flipped_onto(values: Array, target: Array) -> Array:
    """Return s V with each column's sign that of its inner product with the target's, and the best s.

    Parameters
    ----------
    values, target : ndarray, shape (N, Dv)
    """
    inner = (values * target).sum(0)
    return values * np.where(inner < 0, -1.0, 1.0) * _ratio(np.abs(inner).sum(), values)


def scaled_onto(values: Array, target: Array) -> Array:
    """Return s V with the best s, which may be negative."""
    return values * _ratio((values * target).sum(), values)


def _ratio(inner: float, values: Array) -> float:
    length = float((values * values).sum())
    return float(inner) / length if length > 0 else 0.0
