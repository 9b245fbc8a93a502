"""Response curves that grow in the background and can be taken up again where they were left."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from explorer.maths.response import Response, breakdown, crossings, response
from explorer.models.base import ShouldStop
from explorer.pace import remaining
from explorer.params import LEVEL_MAX, KeyKind, Params
from explorer.result import Curves
from explorer.stages import Clean, convention, numpy

POINTS, SEEDS = 25, 5
POINTS_OF_INPUTS, SEEDS_OF_INPUTS = 13, 3
"""Where each point runs the model."""
NAMES = ("softmax", "rpc", "rpc_to_softmax", "uniform", "clipped")

ErrorsAt = Callable[[Params, ShouldStop], dict[str, Tensor]]
"""Computes the errors (by the names of `explorer.maths.outputs.errors`) at one level with one seed."""


def grid(p: Params, points: int = POINTS) -> list[float]:
    """Return the levels of the curves: from 0 to the slider's end, closer together at the small ones."""
    return [LEVEL_MAX[p.contamination] * (i / (points - 1)) ** 1.5 for i in range(points)]


def seeds_of(p: Params) -> range:
    """Return the seeds of the band: one alone where nothing is drawn."""
    if p.key_kind is not None:
        return range(p.seed, p.seed + SEEDS)
    return range(p.seed, p.seed + (SEEDS_OF_INPUTS if p.is_drawn else 1))


class CurveJob(ABC):
    """The curves of one head under one kind of contamination.

    Attributes
    ----------
    curves : Curves or None
        What is known so far; None before the first step.
    done : bool
    """

    def __init__(self, levels: Sequence[float], seeds: range) -> None:
        self.curves: Curves | None = None
        self.done = False
        self._levels, self._seeds = list(levels), seeds
        self._spent = 0.0

    def advance(self, should_stop: ShouldStop) -> None:
        """Compute some more points.

        Raises
        ------
        Stopped
            If `should_stop` said so in the middle of a point; nothing is lost but that point.
        """
        begin = time.monotonic()
        point = self._next(should_stop)
        self._spent += time.monotonic() - begin
        wanted = len(self._levels) * len(self._seeds)
        self.done = point.done == wanted
        left = remaining(self._spent, point.done, wanted)
        self.curves = replace(self._describe(point, self.done), seconds=left)

    @abstractmethod
    def _next(self, should_stop: ShouldStop) -> Response:
        """Compute some more points and return all so far."""

    def _describe(self, point: Response, complete: bool) -> Curves:
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
            seeds_wanted=len(self._seeds),
            outcome=fate.outcome if complete else "unknown",
            breakdown=fate.level if complete else None,
            crossings=crossings(self._levels, softmax, rpc),
        )


class KeyCurves(CurveJob):
    """Of contaminated keys: many points at once."""

    def __init__(self, clean: Clean, kind: KeyKind, p: Params) -> None:
        super().__init__(grid(p), seeds_of(p))
        head = clean.head
        self._points: Iterator[Response] = response(
            clean.queries, head.k, head.v, head.scale, convention(head, p),
            kind=kind, levels=self._levels, magnitude=p.magnitude, seeds=self._seeds,
            contaminate_values=p.contaminate_values,
        )  # fmt: skip

    def _next(self, should_stop: ShouldStop) -> Response:
        return next(self._points)


class InputCurves(CurveJob):
    """Of a contaminated input: one run of the model a point, from coarse to fine, seed by seed."""

    def __init__(self, errors_at: ErrorsAt, p: Params) -> None:
        super().__init__(grid(p, POINTS_OF_INPUTS), seeds_of(p))
        self._errors_at, self._p = errors_at, p
        self._waiting = [(i, j) for i in range(len(self._seeds)) for j in _coarse_to_fine(POINTS_OF_INPUTS)]
        self._found: dict[str, Tensor] = {}

    def _next(self, should_stop: ShouldStop) -> Response:
        i, j = self._waiting[0]
        for name, error in self._errors_at(
            self._p.but(level=self._levels[j], seed=self._seeds[i]), should_stop
        ).items():
            empty = torch.full((len(self._seeds), len(self._levels)), torch.nan, dtype=torch.float64)
            self._found.setdefault(name, empty)[i, j] = error.double().cpu()
        self._waiting.pop(0)
        done = len(self._seeds) * len(self._levels) - len(self._waiting)
        return Response(torch.tensor(self._levels), self._found, done)


def _coarse_to_fine(count: int) -> list[int]:
    """Order 0 … count − 1 so that every beginning is spread over all of them: the ends first."""
    order = [0, count - 1]
    step = count - 1
    while len(order) < count:
        step = -(-step // 2)
        order += [i for i in range(0, count, step) if i not in order]
    return order
