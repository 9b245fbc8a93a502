"""From a measure and its draws under a null: z-scores, ranks, and what survives many heads. numpy only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
ROUNDING = 1e-9
LEVEL = 0.05
"""Of p by rank for one head, and of the false discovery rate over heads."""
CLEAR = 3.0
"""|z| from which one head is said to differ from a null."""
FEWEST = math.ceil(1 / LEVEL) - 1
"""Draws from which one head's rank can pass `LEVEL`."""
Standing = Literal["above", "level", "below", "unknown"]


@dataclass(frozen=True, slots=True)
class Score:
    """How one head's measure stands against its draws under one null; see `Scores`."""

    value: float
    mean: float
    std: float
    z: float
    p: float
    p_below: float
    draws: int

    @property
    def constant(self) -> bool:
        """Whether every draw gives the head's own figure, so that the measure can tell nothing."""
        return self.z == 0 and self.p == 1 and self.p_below == 1

    @property
    def needed(self) -> int:
        """How many draws it takes to tell, where these do not suffice; 0 where they do."""
        return 0 if self.draws >= FEWEST else FEWEST

    @property
    def standing(self) -> Standing:
        """Whether the head is closer to V* than the null ("above"), farther, neither, or not to be told.

        "above" takes z > 3 and p ≤ 5 %, so that neither few draws nor a skewed null makes a finding.
        """
        if self.constant or self.needed or not np.isfinite([self.z, self.p]).all():
            return "unknown"
        if self.z > CLEAR and self.p <= LEVEL:
            return "above"
        return "below" if self.z < -CLEAR and self.p_below <= LEVEL else "level"

    @property
    def leaning(self) -> bool:
        """Whether the head is level with the null, yet not in the middle of it: z of 2 or more."""
        return self.standing == "level" and self.z >= 2


@dataclass(frozen=True, eq=False)
class Scores:
    """How a measure stands against its draws under one null, one entry a head.

    Attributes
    ----------
    value : ndarray, shape (H,)
        The measure itself.
    mean, std : ndarray, shape (H,)
        Of the draws; the deviation is the unbiased one.
    z : ndarray, shape (H,)
        (measure − mean) / std, signed so that positive means closer to V* than the null; 0 where
        neither the draws nor the measure vary beyond rounding, NaN where only the draws do not.
    p, p_below : ndarray, shape (H,)
        (1 + draws at least as close to V*) / (1 + draws), and the same for at most as close.
    quantiles : ndarray, shape (H, 5)
        2.5, 25, 50, 75 and 97.5 % of the draws.
    draws : int
    """

    value: Array
    mean: Array
    std: Array
    z: Array
    p: Array
    p_below: Array
    quantiles: Array
    draws: int

    def of(self, row: int) -> Score:
        """Return one head's."""
        names = ("value", "mean", "std", "z", "p", "p_below")
        return Score(draws=self.draws, **{name: float(getattr(self, name)[row]) for name in names})


def score(observed: ArrayLike, draws: ArrayLike, better: int) -> Scores:
    """Compare heads with draws under a null.

    Parameters
    ----------
    observed : array_like, shape (H,)
    draws : array_like, shape (H, S)
    better : int
        +1 where larger is closer to V*, −1 where smaller is.
    """
    x, null = np.asarray(observed, float), np.asarray(draws, float)
    count = null.shape[1]
    mean = null.mean(1)
    std = null.std(1, ddof=1) if count > 1 else np.full(len(x), np.nan)
    rounding = ROUNDING * np.maximum(np.abs(null).max(1), np.abs(x))
    distance = better * (x - mean)
    flat = std <= rounding
    z = np.where(flat, np.nan, distance) / np.where(flat, 1.0, std)
    z = np.where(flat & (np.abs(distance) <= rounding), 0.0, z)
    gap = better * (null - x[:, None])
    known = np.isfinite(x) & np.isfinite(null).all(1)
    p = (1 + (gap >= -rounding[:, None]).sum(1)) / (1 + count)
    below = (1 + (gap <= rounding[:, None]).sum(1)) / (1 + count)
    quantiles = np.quantile(null, [0.025, 0.25, 0.5, 0.75, 0.975], axis=1).T
    p, below = np.where(known, p, np.nan), np.where(known, below, np.nan)
    return Scores(x, mean, std, z, p, below, quantiles, count)


def benjamini_hochberg(p: ArrayLike) -> Array:
    """Adjust p-values so that rejecting those at most q keeps the expected share of false ones at q.

    Benjamini and Hochberg (1995). NaN stay NaN and are not counted as tests.

    Parameters
    ----------
    p : array_like, shape (H,)
    """
    p = np.asarray(p, float)
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(np.isfinite(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    ratio = p[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted[order] = np.minimum.accumulate(ratio[::-1])[::-1].clip(max=1.0)
    return adjusted


@dataclass(frozen=True, slots=True)
class Spread:
    """How heads are distributed against one null in one measure.

    Attributes
    ----------
    heads : int
        Heads with a defined z.
    mean_z, std_z : float
        Mean and unbiased deviation of z over heads; if the null held for all, 0 and about 1.
    above, below : int
        Heads with z > 3 and z < −3.
    discoveries, discoveries_below : int
        Heads closer to V* (farther from it) than the null at a false discovery rate of 5 %.
    smallest_p : float
        The least that this many draws can give: 1/(1 + draws), twice that over several inputs.
    draws : int
    at_floor, at_floor_below : int
        Heads that no draw comes up to (that come up to no draw): more draws could only lower their p.
    """

    heads: int
    mean_z: float
    std_z: float
    above: int
    below: int
    discoveries: int
    discoveries_below: int
    smallest_p: float
    draws: int
    at_floor: int = 0
    at_floor_below: int = 0

    @property
    def constant(self) -> bool:
        """Whether every draw gives each head's own figure, so that the measure can tell nothing."""
        return self.heads > 0 and self.mean_z == 0 and self.std_z == 0

    @property
    def together(self) -> int:
        """How many heads must have the least p of so many draws for any of them to be a discovery."""
        return math.ceil(self.heads * self.smallest_p / LEVEL - ROUNDING)

    @property
    def needed(self) -> int:
        """How many draws it takes to tell, where these do not suffice; 0 where they do.

        They do not where even half of the heads, each beyond every draw, would not make a discovery, nor
        where the mean z is clear of 0 and heads are beyond every draw, yet too few for one.
        """
        beyond, found = self._on_the_side_of_the_mean
        if found or self.heads < 2:
            return 0
        few = 2 * self.together > self.heads
        if not few and not (beyond and abs(self.mean_z) > self._margin):
            return 0
        times = self.smallest_p * (1 + self.draws) / LEVEL
        return max(math.ceil(times * self.heads / max(beyond, 1) - 1e-6), math.ceil(2 * times - 1e-6)) - 1

    @property
    def _on_the_side_of_the_mean(self) -> tuple[int, int]:
        if self.mean_z > 0:
            return self.at_floor, self.discoveries
        return self.at_floor_below, self.discoveries_below

    @property
    def _margin(self) -> float:
        return 2 * self.std_z / self.heads**0.5

    @property
    def standing(self) -> Standing:
        """Whether heads are on average closer to V* than the null.

        "above" or "below" where the mean z is more than two of its standard errors from 0 and at least one
        head survives the false discovery rate that way; heads are not independent, so no more than a rule.
        "unknown" where so few draws cannot tell.
        """
        if self.constant or self.heads < 2 or not np.isfinite(self.std_z) or self.needed:
            return "unknown"
        if self.mean_z > self._margin and self.discoveries:
            return "above"
        return "below" if self.mean_z < -self._margin and self.discoveries_below else "level"

    @property
    def leaning(self) -> bool:
        """Whether heads are level with the null, yet their mean z is clear of 0."""
        return self.standing == "level" and self.mean_z > self._margin


def spread_over_heads(
    z: ArrayLike, p: ArrayLike, p_below: ArrayLike, draws: int, combined: bool = False
) -> Spread:
    """Summarise heads: the distribution of z and what survives the false discovery rate.

    Parameters
    ----------
    z, p, p_below : array_like, shape (H,)
        As `Scores` has them.
    draws : int
    combined : bool
        Whether each p is twice the mean over several inputs.
    """
    smallest = (2 if combined else 1) / (1 + draws)
    z = np.asarray(z, float)
    known = z[np.isfinite(z)]
    return Spread(
        heads=len(known),
        mean_z=float(known.mean()) if len(known) else float("nan"),
        std_z=float(known.std(ddof=1)) if len(known) > 1 else float("nan"),
        above=int((known > CLEAR).sum()),
        below=int((known < -CLEAR).sum()),
        discoveries=int((benjamini_hochberg(p) <= LEVEL).sum()),
        discoveries_below=int((benjamini_hochberg(p_below) <= LEVEL).sum()),
        smallest_p=smallest,
        draws=draws,
        at_floor=_at_floor(p, smallest),
        at_floor_below=_at_floor(p_below, smallest),
    )


def _at_floor(p: ArrayLike, smallest: float) -> int:
    return int((np.asarray(p, float) <= smallest * (1 + 1e-6)).sum())
