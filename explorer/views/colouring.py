"""What a colour of a token stands for: one number a token, with its symbol."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray

from explorer.result import Result
from explorer.ui.theme import diverging_map, sequential_map
from explorer.views.plot import ceiling
from explorer.views.words import figure, full_name, powers, subscript

Array = NDArray[np.float64]
SIGNED_MAPS = ("difference", "change", "gram")


@dataclass(frozen=True, eq=False)
class Colouring:
    """One number a token.

    Attributes
    ----------
    values : ndarray, shape (N,)
        NaN where there is no such number.
    words : str
        What they are, in words.
    symbol : str
        The formula, with the unit.
    signed : bool
        Whether colours diverge from 0.
    held : (float, float) or None
        Levels to keep in place of its own.
    """

    values: Array
    words: str
    symbol: str
    signed: bool = False
    held: tuple[float, float] | None = None

    @property
    def levels(self) -> tuple[float, float]:
        """From 0, or from minus, to a round number above the largest magnitude."""
        if self.held is not None:
            return self.held
        finite = np.abs(self.values[np.isfinite(self.values)])
        bound = ceiling(float(finite.max(initial=0.0)))
        return (-bound if self.signed else 0.0), bound

    @property
    def colours(self) -> pg.ColorMap:
        """The map for values of this sign."""
        return diverging_map() if self.signed else sequential_map()

    @property
    def indices(self) -> NDArray[np.intp]:
        """Return for each token the place of its colour among 256; −1 where there is no number."""
        low, high = self.levels
        share = (np.nan_to_num(self.values, nan=low, posinf=high, neginf=low) - low) / (high - low)
        places = np.clip(np.rint(share * 255), 0, 255).astype(np.intp)
        return np.where(np.isfinite(self.values), places, -1)

    def reading(self, row: int) -> str:
        """Return a token's number in words."""
        value = self.values[row]
        return (
            f"{self.symbol} = {figure(float(value))}" if np.isfinite(value) else f"{self.symbol}: no number"
        )


def named(result: Result, what: str, rows: NDArray[np.int64], d: int = 0) -> Colouring | None:
    """Return a number by its name, for the selected tokens or eigenvector `d`; None for any other name."""
    if what in ("attention", "attended"):
        return attention_from(result, rows) if what == "attention" else attention_to(result, rows)
    if what in ("error", "error of rpc"):
        return output_error(result, "softmax" if what == "error" else "rpc")
    if what == "eigenvector":
        return eigenvector(result, d)
    if what == "position":
        return position(result)
    return contamination(result) if what == "contamination" else None


def attention_from(result: Result, rows: NDArray[np.int64]) -> Colouring:
    """Return the rows of the selected queries in the map that the attention panel shows; their mean.

    Parameters
    ----------
    rows : ndarray of int
        The selected tokens; none: all of them.
    """
    values = _mean(result.map[rows] if len(rows) else result.map, 0)
    words = f"{powers(result.map_title)}, row of {_of(result, rows, 'query', 'queries')}"
    return Colouring(values, words, _entry(result, rows, "ᵢ"), result.params.variant in SIGNED_MAPS)


def attention_to(result: Result, rows: NDArray[np.int64]) -> Colouring | None:
    """Return the columns of the selected keys in the map that the attention panel shows; None without any."""
    if not len(rows):
        return None
    values = _mean(result.map[:, rows], 1)
    words = f"{powers(result.map_title)}, column of {_of(result, rows, 'key', 'keys')}"
    return Colouring(values, words, _entry(result, rows, "ⱼ"), result.params.variant in SIGNED_MAPS)


def eigenvector(result: Result, d: int) -> Colouring:
    """Return the entries of eigenvector `d` of the clean keys' K̃; its sign is a convention."""
    vectors = result.clean.vectors
    values = vectors[:, d] if d < vectors.shape[1] else np.full(len(vectors), np.nan)
    certain = d >= len(result.clean.identifiable) or bool(result.clean.identifiable[d])
    words = f"eigenvector {d + 1} of K̃, clean keys"
    return Colouring(values, words if certain else f"{words}: not identifiable", f"a{subscript(d + 1)}", True)


def contamination(result: Result) -> Colouring:
    """Return how far contamination moved each token's key, over the root mean square of the clean keys."""
    apart = result.decomposition
    if apart is None:
        return Colouring(result.contaminated.astype(float), "contaminated tokens", "1 where contaminated")
    clean = apart.keys - apart.added
    size = np.sqrt(np.square(clean).sum(1).mean())
    moved = np.linalg.norm(apart.added, axis=1)
    values = np.divide(moved, size, out=np.full_like(moved, np.nan), where=bool(size > 0))
    return Colouring(values, "how far each key is moved", "‖k′ − k‖ / rms ‖k‖")


def output_error(result: Result, of: str) -> Colouring:
    """Return each token's error of the head's output, by "softmax" or "rpc", against its own clean output."""
    name = {"softmax": "softmax", "rpc": "RPC"}[of]
    values = np.full(len(result.positions), np.nan)
    if result.errors is not None:
        values = result.errors.softmax_by_token if of == "softmax" else result.errors.rpc_by_token
    return Colouring(values, f"{name}, output error by token", "‖h − h_clean‖ / rms ‖h_clean‖")


def position(result: Result) -> Colouring:
    """Return each token's place in the input."""
    return Colouring(result.positions.astype(float), "place in the input", "position")


def _mean(values: Array, axis: int) -> Array:
    """Return the mean over what the mask does not hide; NaN where it hides all."""
    whole = values.sum(axis)
    if np.isfinite(whole).all():
        return np.asarray(whole / values.shape[axis])
    seen = np.isfinite(values)
    count = seen.sum(axis)
    total = np.where(seen, values, 0.0).sum(axis)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def _of(result: Result, rows: NDArray[np.int64], one: str, many: str) -> str:
    if len(rows) == 1:
        return f"{one} {full_name(result, int(rows[0]))}"
    return f"{len(rows)} {many}, their mean" if len(rows) else f"all {many}, their mean"


def _entry(result: Result, rows: NDArray[np.int64], index: str) -> str:
    letter = "K̃" if result.params.variant == "gram" else "ΔA" if result.params.variant in SIGNED_MAPS else "A"
    entry = f"{letter}ᵢⱼ"
    return entry if len(rows) == 1 else f"mean{index} {entry}"
