"""Response curves that grow in the background and can be taken up again where they were left."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from explorer.maths.response import Response, breakdown, crossings, response
from explorer.params import LEVEL_MAX, Params
from explorer.result import Curves
from explorer.stages import Clean, convention, numpy

POINTS = 25
SEEDS = 5
NAMES = ("softmax", "rpc", "rpc_to_softmax", "uniform", "clipped")


def grid(p: Params) -> list[float]:
    """Return the levels of the curves: from 0 to the slider's end, closer together at the small ones."""
    return [LEVEL_MAX[p.contamination] * (i / (POINTS - 1)) ** 1.5 for i in range(POINTS)]


class CurveJob:
    """The curves of one head under one kind of contamination.

    Attributes
    ----------
    curves : Curves or None
        What is known so far; None before the first step.
    done : bool
    """

    def __init__(self, clean: Clean, p: Params) -> None:
        head = clean.head
        self.curves: Curves | None = None
        self.done = False
        self._seeds = range(p.seed, p.seed + SEEDS)
        self._levels = grid(p)
        self._points: Iterator[Response] = response(
            clean.queries, head.k, head.v, head.scale, convention(head, p),
            kind=p.contamination, levels=self._levels, magnitude=p.magnitude, seeds=self._seeds,
            contaminate_values=p.contaminate_values,
        )  # fmt: skip

    def advance(self) -> None:
        """Compute one more batch of points."""
        point = next(self._points, None)
        if point is None:
            self.done = True
            return
        self.curves = self._describe(point)
        self.done = point.done == len(self._levels) * SEEDS

    def _describe(self, point: Response) -> Curves:
        missing = np.full(len(self._levels), np.nan)
        bands = {name: point.band(name) for name in NAMES if name in point.curves}
        mean, low, high = (
            {name: numpy(bands[name][i]) if name in bands else missing for name in NAMES} for i in range(3)
        )
        softmax, rpc = mean["softmax"].tolist(), mean["rpc"].tolist()
        fate = breakdown(self._levels, softmax, rpc)
        return Curves(
            levels=np.array(self._levels),
            mean=mean,
            low=low,
            high=high,
            seeds=-(-point.done // len(self._levels)),
            seeds_wanted=SEEDS,
            outcome=fate.outcome if self._complete(point) else "unknown",
            breakdown=fate.level if self._complete(point) else None,
            crossings=crossings(self._levels, softmax, rpc),
        )

    def _complete(self, point: Response) -> bool:
        return point.done == len(self._levels) * SEEDS
