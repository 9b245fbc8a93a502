"""A person's own table, of tokens or as a covariance, or scikit-learn's digits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import GramscopeError
from explorer.maths.spectra import whiten
from explorer.models.safety import load_arrays

Floats = NDArray[np.float64]
LARGEST_BYTES = 2**30
MOST_FEATURES = 512
ROUNDING = 1e-6


def load_rows(path: str, whitened: bool) -> Floats:
    """Return the rows of a table minus their mean, shape (n, d).

    Parameters
    ----------
    path : str
        A CSV file of numbers (a heading line is allowed) or an NPY file; empty: the 1797 digits of
        scikit-learn, 64 pixels each.
    whitened : bool
        Whether the rows are turned to their principal axes and scaled to unit covariance.

    Raises
    ------
    GramscopeError
        If there is no such table of finite numbers that vary.
    """
    rows = checked(_digits() if not path else _read(Path(path)))
    return whiten(rows) if whitened else rows


def load_covariance(path: str) -> Floats:
    """Return a covariance matrix from a CSV or NPY file, shape (d, d).

    Raises
    ------
    GramscopeError
        If it is no symmetric matrix of finite numbers without negative eigenvalues.
    """
    if not path:
        raise GramscopeError("Open a CSV or NPY file with the covariance matrix first.")
    matrix = np.asarray(_read(Path(path)), dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise GramscopeError(
            f"A covariance is square, two by two at least; this table has shape {matrix.shape}. "
            "Open it as rows of tokens instead."
        )
    _check_features(len(matrix))
    if not np.isfinite(matrix).all():
        raise GramscopeError("The covariance has entries that are not finite numbers. Mend them first.")
    largest = np.abs(matrix).max()
    if not np.abs(matrix - matrix.T).max() <= ROUNDING * largest:
        raise GramscopeError(
            "A covariance is symmetric; this table is not. Open it as rows of tokens, or mend it."
        )
    symmetric = (matrix + matrix.T) / 2
    least = np.linalg.eigvalsh(symmetric)[0]
    if largest == 0 or least < -ROUNDING * largest:
        raise GramscopeError(
            f"A covariance has no negative eigenvalue and some positive one; the least here is {least:.3g}."
        )
    return symmetric


def _check_features(d: int) -> None:
    if d > MOST_FEATURES:
        raise GramscopeError(
            f"The table has {d} features; the laboratory takes {MOST_FEATURES} at most. Keep fewer columns."
        )


def checked(table: ArrayLike) -> Floats:
    """Return a table minus its mean row, or say what is wrong with it."""
    rows = np.asarray(table, dtype=np.float64)
    if rows.ndim != 2 or min(rows.shape) < 2:
        raise GramscopeError(
            f"The table has shape {rows.shape}. It needs a token a row and a feature a column, two of each "
            "at least."
        )
    _check_features(rows.shape[1])
    if not np.isfinite(rows).all():
        raise GramscopeError("The table has entries that are not finite numbers. Remove or fill them first.")
    centred = rows - rows.mean(0)
    if np.abs(centred).max() <= 1e-12 * np.abs(rows).max():
        raise GramscopeError("All rows of the table are equal, so there is no direction to find.")
    return centred


def _digits() -> Floats:
    from sklearn.datasets import load_digits

    return np.asarray(load_digits().data, dtype=np.float64)


def _read(path: Path) -> Floats:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise GramscopeError(f"{path.name} is larger than 1 GB. Give fewer rows.")
        if path.suffix.lower() == ".npy":
            return _read_npy(path)
        return _read_csv(path)
    except (OSError, ValueError, TypeError) as error:
        raise GramscopeError(
            f"{path.name} could not be read as a table of numbers. Give a CSV file (numbers separated by "
            "commas, one token a line) or an NPY file with a two-dimensional array.",
            detail=str(error),
        ) from error


def _read_npy(path: Path) -> Floats:
    try:
        return np.asarray(load_arrays(path)["array"], dtype=np.float64)
    except GramscopeError as error:
        raise ValueError(error.detail) from error


def _read_csv(path: Path) -> Floats:
    lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    if not lines:
        raise ValueError("the file is empty")
    separator = next((mark for mark in (",", ";", "\t") if mark in lines[0]), None)
    return np.loadtxt(lines[_has_heading(lines, separator) :], delimiter=separator, ndmin=2)


def _has_heading(lines: list[str], separator: str | None) -> bool:
    try:
        [float(cell) for cell in lines[0].split(separator)]
    except ValueError:
        return True
    return False
