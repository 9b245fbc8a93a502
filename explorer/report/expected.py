"""How long evidence will take, told from one head before all of them are measured."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from explorer.models.base import Capture, ShouldStop, never
from explorer.report.collect import layer_evidence
from explorer.report.compute import Desk
from explorer.report.plan import Unit

SLOW_S = 1.0
"""A first trial that takes as long is believed; a shorter one may only have been the first of all."""
CHEAP, COSTLY = 50, 4
"""Draws that are tried."""


class Expected(NamedTuple):
    """About how many seconds all takes, and the measures without nulls alone."""

    all: float
    measures: float


def estimate(desk: Desk, units: Sequence[Unit], should_stop: ShouldStop = never) -> Expected:
    """Tell from one head of the first unit, with a few draws, how long units will take.

    Raises
    ------
    GramscopeError
        If the checkpoint or the input does not suit.
    Stopped
        If `should_stop` said so.
    """
    unit = units[0]
    start = time.perf_counter()
    capture, *untrained = desk.capture(unit, should_stop)
    forward = (time.perf_counter() - start) / len(unit.group)
    heads = capture.layers[unit.layer].k.shape[0] if unit.heads is None else len(unit.heads)
    drawn = desk.drawn_of(unit)
    missing = tuple(null for null in unit.draws.nulls if (null, 0) not in drawn)
    measures, draws = _one_head(capture, replace(unit, draws=replace(unit.draws, nulls=missing)), should_stop)
    bare = forward + heads * measures
    more = heads * (measures * len(untrained) + draws)
    return Expected(len(units) * (bare + more), len(units) * bare)


def _one_head(capture: Capture, unit: Unit, should_stop: ShouldStop) -> tuple[float, float]:
    """Return the seconds of one head's measures, and of its draws under all nulls."""
    asked = unit.draws

    def trial(cheap: int, costly: int) -> tuple[float, float]:
        draws = replace(asked, cheap=cheap, costly=costly)
        start = time.perf_counter()
        stages = layer_evidence(capture, unit.layer, (unit.heads or (0,))[:1], draws, should_stop=should_stop)
        next(stages)
        measured = time.perf_counter()
        for _ in stages:
            pass
        return measured - start, time.perf_counter() - measured

    first = sum(trial(1, min(asked.costly, 1)))
    measures, cheap = trial(CHEAP, 0)
    seconds = asked.cheap * cheap / CHEAP
    if asked.costly:
        costly = first if first > SLOW_S else trial(1, COSTLY)[1] / COSTLY
        seconds += asked.costly * costly
    return measures, seconds
