"""Sweeps as tables: what is drawn, and what a CSV file holds."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.lab.experiments import Cell, Point

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Band:
    """One curve of a sweep, each array of shape (n,), in the order of the values.

    Attributes
    ----------
    values : ndarray
    mean, low, high : ndarray
        Over the seeds done so far.
    """

    values: Array
    mean: Array
    low: Array
    high: Array


def band(points: Iterable[tuple[float, float]]) -> Band:
    """Return mean, least and largest result for each value of (value, result) pairs."""
    found: dict[float, list[float]] = {}
    for value, result in points:
        found.setdefault(value, []).append(result)
    values = sorted(found)
    rows = [(np.mean(found[x]), min(found[x]), max(found[x])) for x in values]
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return Band(np.array(values, dtype=np.float64), *columns)


def head_bands(points: Sequence[Point]) -> dict[str, Band]:
    """Return the alignment of each kind of head that was trained."""
    kinds = sorted({point.kind for point in points}, reverse=True)
    return {kind: band((p.value, p.alignment) for p in points if p.kind == kind) for kind in kinds}


def pca_band(points: Sequence[Point]) -> Band:
    """Return what sample PCA of one prompt reaches."""
    return band((point.value, point.pca) for point in points)


def limit_curve(points: Sequence[Point]) -> Band:
    """Return the Baik–Ben Arous–Péché limit where there is one; empty elsewhere."""
    return band((point.value, point.bbp) for point in points if point.bbp is not None)


def grid(cells: Sequence[Cell], cs: Sequence[float], thetas: Sequence[float]) -> Array:
    """Return the alignments as (thetas, cs), ascending both; NaN where a cell is not done."""
    done = {(cell.c, cell.theta): cell.alignment for cell in cells}
    return np.array([[done.get((c, theta), np.nan) for c in sorted(cs)] for theta in sorted(thetas)])


def to_csv(rows: Sequence[Point] | Sequence[Cell]) -> str:
    """Return rows as CSV, names first, an empty cell where there is no number.

    Raises
    ------
    ValueError
        If there are no rows.
    """
    if not rows:
        raise ValueError("there is nothing to write")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(rows[0])])
    writer.writerows([_cell(value) for value in astuple(row)] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.9g}" if isinstance(value, float) else str(value)
