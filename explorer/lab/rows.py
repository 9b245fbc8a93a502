"""A person's own table, of tokens or as a covariance, or scikit-learn's digits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import GramscopeError
from explorer.lab.csv_table import read_csv
from explorer.maths.spectra import whiten
from explorer.models.safety import load_arrays, refuse_irregular_file

Floats = NDArray[np.float64]
LARGEST_TEXT = 2**28
MOST_NUMBERS = 2**26
LARGEST_NUMBER = 1e15
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
    matrix = _numbers(_read(Path(path)))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise GramscopeError(
            f"A covariance is square, two by two at least; this table has shape {matrix.shape}. "
            "Open it as rows of tokens instead."
        )
    _check_features(len(matrix))
    if not np.isfinite(matrix).all():
        raise GramscopeError("The covariance has entries that are not finite numbers. Mend them first.")
    _check_size(matrix, "covariance", LARGEST_NUMBER**2)
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
    rows = _numbers(table)
    if rows.ndim != 2 or min(rows.shape) < 2:
        raise GramscopeError(
            f"The table has shape {rows.shape}. It needs a token a row and a feature a column, two of each "
            "at least."
        )
    _check_features(rows.shape[1])
    if not np.isfinite(rows).all():
        raise GramscopeError("The table has entries that are not finite numbers. Remove or fill them first.")
    largest = np.abs(rows).max()
    centred = rows - rows.mean(0)
    if np.abs(centred).max() <= 1e-12 * largest:
        raise GramscopeError("All rows of the table are equal, so there is no direction to find.")
    _check_size(centred, "table", LARGEST_NUMBER)
    return centred


def _numbers(table: ArrayLike) -> Floats:
    """Return a table as floats, unless there are more numbers than training could hold."""
    array = np.asarray(table)
    if array.size > MOST_NUMBERS:
        raise GramscopeError(
            f"The table has {array.size:,} numbers; the laboratory takes {MOST_NUMBERS:,} at most. "
            "Give fewer rows."
        )
    return array.astype(np.float64)


def _check_size(table: Floats, what: str, most: float) -> None:
    """Refuse numbers whose squares single precision cannot hold beside those of others."""
    largest = np.abs(table).max()
    if largest and not 1 / most <= largest <= most:
        raise GramscopeError(
            f"The largest number of the {what} is {largest:.3g}, too far from 1 to compute with. Give it in "
            "another unit."
        )


def _digits() -> Floats:
    from sklearn.datasets import load_digits

    return np.asarray(load_digits().data, dtype=np.float64)


def _read(path: Path) -> Floats:
    try:
        refuse_irregular_file(path)
        if path.suffix.lower() == ".npy":
            return _read_npy(path)
        if path.stat().st_size > LARGEST_TEXT:
            raise GramscopeError(f"{path.name} is larger than {LARGEST_TEXT >> 20} MB. Save it as NPY.")
        return read_csv(path)
    except (OSError, ValueError, TypeError) as error:
        raise GramscopeError(
            f"{path.name} could not be read as a table of numbers. Give a CSV file (numbers separated by "
            "commas, one token a line) or an NPY file with a two-dimensional array.",
            detail=str(error),
        ) from error


def _read_npy(path: Path) -> Floats:
    try:
        array = load_arrays(path)["array"]
    except GramscopeError as error:
        raise ValueError(error.detail) from error
    if array.dtype.kind not in "buif":
        raise ValueError(f"its numbers are of the kind {array.dtype}")
    return array
