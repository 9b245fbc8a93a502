"""The response curves: errors over levels of contamination and seeds, where they cross, and breakdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.errors import Stopped
from explorer.maths.attention import upcast
from explorer.maths.contamination import contaminate_many
from explorer.maths.outputs import Convention, errors, head_outputs
from explorer.params import KeyKind
from explorer.result import Outcome

_BATCH_WEIGHTS = 1 << 22
"""Largest number of attention weights (or entries) of a batch, so that memory and waiting stay bounded."""


@dataclass(frozen=True, eq=False, slots=True)
class Response:
    """Errors over levels and seeds so far.

    Attributes
    ----------
    levels : Tensor, shape (m,)
    curves : dict of str to Tensor, shape (seeds, m)
        By the names of `explorer.maths.outputs.errors`; NaN where not computed yet.
    done : int
        How many of the points are computed.
    """

    levels: Tensor
    curves: dict[str, Tensor]
    done: int

    def band(self, name: str) -> tuple[Tensor, Tensor, Tensor]:
        """Return mean, lowest and highest over the seeds computed so far, each (m,)."""
        curve = self.curves[name]
        low = curve.nan_to_num(nan=torch.inf).amin(0)
        high = curve.nan_to_num(nan=-torch.inf).amax(0)
        missing = ~low.isfinite()
        return curve.nanmean(0), low.masked_fill(missing, torch.nan), high.masked_fill(missing, torch.nan)


def response(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    convention: Convention,
    *,
    kind: KeyKind,
    levels: Sequence[float],
    magnitude: float,
    seeds: Sequence[int],
    contaminate_values: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Response]:
    """Compute the errors over a grid of levels with several seeds, one yield a batch.

    Whole curves come seed by seed where a batch holds one. All tensors of a yield are the caller's to keep.

    Parameters
    ----------
    q, k : Tensor, shape (N, D)
    v : Tensor, shape (N, Dv)
    contaminate_values : bool
        Contaminate the values as the keys are, with the same seeds.

    Raises
    ------
    Stopped
        If `should_stop` said so between batches.
    """
    q, k, v = upcast(q), upcast(k), upcast(v)
    clean = head_outputs(q, k, v, scale, convention)
    per_batch = max(1, _BATCH_WEIGHTS // (k.shape[0] * max(k.shape)))
    level_step, seed_step = min(per_batch, len(levels)), max(1, per_batch // len(levels))
    curves: dict[str, Tensor] = {}
    done = 0
    for i in range(0, len(seeds), seed_step):
        for j in range(0, len(levels), level_step):
            if should_stop():
                raise Stopped
            rows, columns = slice(i, i + seed_step), slice(j, j + level_step)
            many = (kind, levels[columns], magnitude, seeds[rows])
            keys = contaminate_many(k, *many).values
            values = contaminate_many(v, *many).values if contaminate_values else v
            moved = head_outputs(q, keys, values, scale, convention)
            curves = {name: curve.clone() for name, curve in curves.items()}
            for name, error in errors(clean, moved).items():
                curve = curves.setdefault(name, k.new_full((len(seeds), len(levels)), torch.nan))
                curve[rows, columns] = error
            done += keys.shape[0] * keys.shape[1]
            yield Response(torch.tensor(levels, dtype=torch.float64), curves, done)


def crossings(levels: Sequence[float], a: Sequence[float], b: Sequence[float]) -> tuple[float, ...]:
    """Find every level at which the curves `a` and `b` change order, by linear interpolation.

    Points where either is NaN are left out. Curves that touch without changing order do not cross.
    """
    found = []
    last: tuple[float, float] | None = None
    touching: float | None = None
    for level, difference in _differences(levels, a, b):
        if difference == 0:
            touching = level if touching is None else touching
            continue
        if last is not None and (last[1] < 0) != (difference < 0):
            share = last[1] / (last[1] - difference)
            found.append(last[0] + share * (level - last[0]) if touching is None else touching)
        last, touching = (level, difference), None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """From which level on RPC stays worse than softmax.

    Attributes
    ----------
    outcome : str
        "never": it is not worse at the last level; "at once": worse at every level that moves anything;
        "at a level"; "unknown": there are no numbers.
    level : float or None
        The last crossing, for "at a level".
    """

    outcome: Outcome
    level: float | None = None


def breakdown(levels: Sequence[float], softmax: Sequence[float], rpc: Sequence[float]) -> Breakdown:
    """Find the breakdown point: the first level from which `rpc` stays above `softmax` to the end."""
    differences = [difference for _, difference in _differences(levels, rpc, softmax)]
    apart = [difference for difference in differences if difference != 0]
    if not differences:
        return Breakdown("unknown")
    if differences[-1] <= 0:
        return Breakdown("never")
    if min(apart) > 0:
        return Breakdown("at once")
    return Breakdown("at a level", crossings(levels, softmax, rpc)[-1])


def _differences(
    levels: Sequence[float], a: Sequence[float], b: Sequence[float]
) -> list[tuple[float, float]]:
    points = [(float(x), float(y) - float(z)) for x, y, z in zip(levels, a, b, strict=True)]
    return [point for point in points if not math.isnan(point[1])]
