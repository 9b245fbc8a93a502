"""How long evidence will take, told from one head before all of them are measured."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from explorer.models.base import Capture, ShouldStop, never
from explorer.report.collect import layer_evidence
from explorer.report.compute import Desk
from explorer.report.plan import Unit

SLOW_S = 0.5
"""A trial that takes as long is believed; a shorter one is made again, since the first of all is slower."""
CHEAP, COSTLY = 50, 4
"""Draws that are tried beyond the first."""


def estimate(desk: Desk, units: Sequence[Unit], should_stop: ShouldStop = never) -> float:
    """Return about how many seconds units will take, from one head of the first with a few draws.

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
    measures, draws = _one_head(capture, unit, should_stop)
    return len(units) * (forward + heads * (measures * (1 + len(untrained)) + draws))


def _one_head(capture: Capture, unit: Unit, should_stop: ShouldStop) -> tuple[float, float]:
    """Return the seconds of one head's measures, and of its draws under all nulls."""
    asked = unit.draws
    one = replace(asked, cheap=1, costly=min(asked.costly, 1))

    def trial(cheap: int = 0, costly: int = 0) -> tuple[float, float]:
        draws = replace(one, cheap=one.cheap + cheap, costly=one.costly + costly)
        start = time.perf_counter()
        stages = layer_evidence(capture, unit.layer, (unit.heads or (0,))[:1], draws, should_stop=should_stop)
        next(stages)
        measured = time.perf_counter()
        for _ in stages:
            pass
        return measured - start, time.perf_counter() - measured

    measures, first = trial()
    slow = measures + first > SLOW_S
    if not slow:
        measures, first = trial()
    each = max(trial(CHEAP)[1] - first, 0.0) / CHEAP
    if not one.costly:
        return measures, asked.cheap * each
    costly = first if slow else max(trial(0, COSTLY)[1] - first, 0.0) / COSTLY
    return measures, asked.cheap * each + asked.costly * costly
