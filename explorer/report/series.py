"""Along training and over inputs: figures of all heads against a step or a layer, with error bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from explorer.report.compute import Record
from explorer.report.whole import Array, Whole, column, number_of


class Metric(NamedTuple):
    """What is drawn: its name on an axis, and where a head's record has it."""

    label: str
    pick: Callable[[Record], float | None]


def _z(null: str) -> Callable[[Record], float | None]:
    return lambda head: head["nulls"].get(null, {}).get("overlap", {}).get("z")


def _projection(name: str) -> Callable[[Record], float | None]:
    return lambda head: head["projections"][name]


METRICS: dict[str, Metric] = {
    "overlap": Metric("column-space overlap", lambda head: head["measures"]["overlap"]),
    "permutation": Metric("z, shuffled tokens", _z("permutation")),
    "projection": Metric("z, random projection", _z("projection")),
    "error": Metric("error on the true axes (log₁₀)", _projection("log10_error_axes")),
    "learned": Metric("|error|, learned output (log₁₀)", _projection("log10_error_learned")),
    "output": Metric("mean ‖h‖² learned (log₁₀)", _projection("log10_output")),
    "phi": Metric("mean ‖φ(q)‖² (log₁₀)", _projection("log10_phi")),
}


@dataclass(frozen=True, eq=False)
class Line:
    """One metric against steps or layers.

    Attributes
    ----------
    key, label : str
        As in `METRICS`.
    x : ndarray, shape (P,)
    mean, error : ndarray, shape (P,)
        The mean, and the length of the bar to either side of it.
    count : tuple of int
        How many figures each mean is of.
    """

    key: str
    label: str
    x: Array
    mean: Array
    error: Array
    count: tuple[int, ...]


def along_training(whole: Whole) -> list[Line]:
    """Return metrics against the step: mean over heads, bars their deviation; inputs are averaged before."""
    done = {record["checkpoint"] for record in whole.records}
    members = [checkpoint for checkpoint in whole.checkpoints if checkpoint.label in done]
    steps = [float(member.step) for member in members]
    groups = [whole.heads(member) for member in members]
    lines = []
    for key, (label, pick) in METRICS.items():
        by_step = [_finite(column(heads, pick)) for heads in groups]
        lines.append(_line(key, label, steps, by_step, standard_error=False))
    return [line for line in lines if np.isfinite(line.mean).any()]


def over_inputs(whole: Whole) -> list[Line]:
    """Return metrics by layer: mean over inputs of the mean over heads, bars its standard error."""
    heads = whole.heads()
    layers = sorted({layer for layer, _ in heads})
    groups = [[heads[key] for key in heads if key[0] == layer] for layer in layers]
    lines = []
    for key, (label, pick) in METRICS.items():
        by_layer = [_finite(_by_input(group, pick)) for group in groups]
        lines.append(_line(key, label, [float(layer) for layer in layers], by_layer, standard_error=True))
    return [line for line in lines if np.isfinite(line.mean).any()]


def _by_input(heads: Sequence[Sequence[Record]], pick: Callable[[Record], float | None]) -> Array:
    """Return the mean over heads for each input that all of them have."""
    count = min(map(len, heads))
    return np.array([np.mean([number_of(pick(records[i])) for records in heads]) for i in range(count)])


def _finite(figures: Array) -> Array:
    return figures[np.isfinite(figures)]


def _line(key: str, label: str, x: Sequence[float], parts: Sequence[Array], *, standard_error: bool) -> Line:
    mean = np.array([part.mean() if len(part) else np.nan for part in parts])
    deviation = np.array([part.std(ddof=1) if len(part) > 1 else np.nan for part in parts])
    count = tuple(map(len, parts))
    error = deviation / np.sqrt(np.maximum(count, 1)) if standard_error else deviation
    return Line(key, label, np.array(x), mean, error, count)
