"""Evidence for V = V* as it comes in: a layer, then a null at a time, as the report would say it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.asked import Asked
from explorer.devices import choose
from explorer.maths.evidence_draws import Draws
from explorer.maths.evidence_names import MEASURES
from explorer.maths.evidence_scores import Spread
from explorer.maths.procrustes import flipped_onto, rotated_onto, scaled_onto
from explorer.models.base import ShouldStop, Source, never
from explorer.models.series import checkpoints_within, series_of
from explorer.params import Params
from explorer.report.collect import Drawn, layer_evidence
from explorer.report.compute import Desk, Record, stages
from explorer.report.expected import estimate
from explorer.report.figures import figures_of, survivors
from explorer.report.plan import Checkpoint, Unit, checkpoints_of, inputs_of, units_of
from explorer.report.run import Progress, ReportOutcome, write_report
from explorer.report.series import Line, along_training, over_inputs
from explorer.report.whole import Whole, assemble, number_of, placed
from explorer.session import Origin

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Work:
    """What is to be computed, cut into units as a report is.

    Attributes
    ----------
    source : Source
        The one that is open.
    units : tuple of Unit
        In the report's order.
    desk : Desk
        To which the open source is lent.
    series : int
        How many checkpoints the series has of which the source is the last; 0: it is none.
    within : tuple of str
        Checkpoints of its training that lie in the model's own folder, and are not measured with it.
    """

    source: Source
    units: tuple[Unit, ...]
    desk: Desk
    series: int = 0
    within: tuple[str, ...] = ()

    @property
    def ordered(self) -> list[Unit]:
        """The units of the open checkpoint first, so that what the window shows comes first."""
        return sorted(self.units, key=lambda unit: unit.checkpoint not in self.desk.lent)


def plan(
    source: Source, origin: Origin, params: Params, asked: Asked, drawn: dict[str, Drawn] | None = None
) -> Work:
    """Cut what is asked for into units.

    Parameters
    ----------
    origin : Origin
        Where the source comes from; several checkpoints of one training are a series.
    params : Params
        The input and the device count.
    drawn : dict or None
        What was drawn before, as `Desk` keeps it.
    """
    paths = [Path(path) for path in origin.paths]
    series = len(series_of(paths))
    if series:
        checkpoints = checkpoints_of(paths, origin.heads)
    else:
        made = "" if paths else repr(origin)
        checkpoints = (Checkpoint(str(paths[0]) if paths else "", source.name, 0, made, origin.heads),)
    wanted = checkpoints if asked.series else checkpoints[-1:]
    draws = Draws(asked.cheap, asked.costly, asked.seed, asked.nulls, asked.families)
    units = units_of(
        source, wanted, inputs_of(source, [params.input], asked.inputs), device=params.device, draws=draws,
        untrained=asked.untrained,
    )  # fmt: skip
    within = checkpoints_within(paths[0]) if len(paths) == 1 else ()
    return Work(source, tuple(units), Desk({wanted[-1]: source}, drawn), series, tuple(map(str, within)))


@dataclass(frozen=True, eq=False)
class Findings:
    """What is known so far, as arrays over layers and heads for pictures, and in words.

    Attributes
    ----------
    whole : Whole
        The numbers as the report has them.
    layers, heads : tuple of int
        True numbers: the rows and columns of every array.
    layer_names, head_names : tuple of str
        What a person calls them; empty: by their numbers.
    done : int
        Units that are complete.
    seconds : float or None
        An estimate of the time that all will take, made before the start.
    series : int
        How many checkpoints could be measured; 0: the source is no series.
    within : tuple of str
        Checkpoints of its training in the model's own folder.
    waits : bool
        Whether it takes longer than was agreed to, so that no null is drawn until it is asked for again.
    """

    whole: Whole
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    layer_names: tuple[str, ...] = ()
    head_names: tuple[str, ...] = ()
    done: int = 0
    seconds: float | None = None
    series: int = 0
    within: tuple[str, ...] = ()
    waits: bool = False

    @property
    def total(self) -> int:
        """Units in all."""
        return len(self.whole.units)

    @property
    def complete(self) -> bool:
        """Whether nothing more will come."""
        return self.done == self.total

    def grid(self, values: Sequence[float] | Array) -> Array:
        """Place figures, one for each head that is known, into an array (layers, heads)."""
        out = np.full((len(self.layers), len(self.heads)), np.nan)
        for (layer, head), value in zip(self.whole.heads(), values, strict=True):
            out[self.layers.index(layer), self.heads.index(head)] = value
        return out

    def measure(self, key: str) -> Array:
        """Return a measure of every head, its mean over inputs; (layers, heads)."""
        return self.grid([_mean([head["measures"][key] for head in each]) for each in self._heads])

    def score(self, null: str, key: str, name: str) -> Array:
        """Return "z", "p", "p_below", "mean" or "std" of a measure under a null; (layers, heads)."""
        return self.grid(figures_of(self.whole, null, key, name))

    def interval(self, null: str, key: str) -> tuple[Array, Array]:
        """Return where the middle 95 % of a measure's draws begin and end; (layers, heads) each."""
        drawn = [[head["nulls"].get(null, {}).get(key) for head in each] for each in self._heads]
        low, high = (
            self.grid([_mean([score["quantiles"][i] if score else None for score in each]) for each in drawn])
            for i in (0, 4)
        )
        return low, high

    def survivors(self, null: str, key: str) -> NDArray[np.bool_]:
        """Return which heads differ from a null at a false discovery rate of 5 %; (layers, heads)."""
        found = survivors(self.whole, null, key)
        places = zip(self.whole.heads(), self._heads, strict=True)
        return self.grid([(layer, each[0]["key_head"]) in found for (layer, _), each in places]) == 1

    @cached_property
    def distinct(self) -> NDArray[np.bool_]:
        """Which heads count in distributions: one query head for each key head; (layers, heads)."""
        alone = self.whole.heads(distinct=True)
        return self.grid([place in alone for place in self.whole.heads()]) == 1

    def spread(self, null: str, key: str) -> Spread:
        """Return how heads are distributed against a null."""
        return self.whole.spread(null, key)

    def gamma(self, name: str, key: str = "relative_mean") -> Array:
        """Return the γ test by component, "learned" or "eigenvectors"; (heads that count, components)."""
        alone = self.whole.heads(distinct=True).values()
        return _padded([each[0]["gamma"][name][key] for each in alone])

    def gamma_of(self, layer: int, head: int, name: str, key: str = "relative_mean") -> Array:
        """Return the γ test of one head by component; empty while it is not known."""
        record = self.record(layer, head)
        return np.empty(0) if record is None else _padded([record["gamma"][name][key]])[0]

    def projection(self, name: str) -> Array:
        """Return a projection's figure of every head, its mean over inputs; (layers, heads)."""
        return self.grid([_mean([head["projections"][name] for head in each]) for each in self._heads])

    def norms_of(self, layer: int, head: int) -> tuple[Array, Array]:
        """Return log₁₀ of ‖φ(q_i)‖² and of ‖h_i‖² of one head, token by token, of the first input."""
        record = self.record(layer, head)
        if record is None:
            return np.empty(0), np.empty(0)
        phi, output = (_padded([record["norms"][name]])[0] for name in ("phi", "output"))
        return phi, output

    def record(self, layer: int, head: int) -> Record | None:
        """Return all numbers of one head on the first input."""
        found = self.whole.heads().get((layer, head))
        return found[0] if found else None

    def verdict_of(self, layer: int, head: int) -> str:
        """Return what one head's numbers say; empty while they are not known."""
        record = self.record(layer, head)
        return "" if record is None else str(record["verdict"])

    @property
    def sentences(self) -> list[str]:
        """What the numbers of all heads say, the conclusion last."""
        return self.whole.sentences if self.whole.records else []

    @cached_property
    def draws(self) -> dict[str, dict[str, int]]:
        """How many draws there are, by null and measure."""
        keys = [measure.key for measure in MEASURES]
        return {null: {key: self.spread(null, key).draws for key in keys} for null in self.whole.nulls()}

    @cached_property
    def training(self) -> list[Line]:
        """Metrics against the step of the checkpoint."""
        return along_training(self.whole)

    @cached_property
    def inputs(self) -> list[Line]:
        """Metrics by layer, with their standard errors over inputs."""
        return over_inputs(self.whole)

    @cached_property
    def _heads(self) -> list[list[Record]]:
        return list(self.whole.heads().values())


def measure(
    work: Work, kept: dict[str, Record], should_stop: ShouldStop = never, agreed: float = math.inf
) -> Iterator[Findings]:
    """Compute what is not kept yet; what is known comes first, then more with each layer and each null.

    Where an estimate says that it takes longer than was agreed to, only the measures without nulls come, if
    those are quick.

    Parameters
    ----------
    kept : dict of str to dict
        Records of complete units by their keys; completed ones are added.
    agreed : float
        The seconds that it may take.

    Raises
    ------
    GramscopeError
        If a checkpoint or the input does not suit.
    Stopped
        If `should_stop` said so.
    """
    known = {unit.key: kept[unit.key] for unit in work.units if unit.key in kept}
    todo = [unit for unit in work.ordered if unit.key not in known]
    try:
        expected = estimate(work.desk, todo, should_stop) if todo else None
        seconds = None if expected is None else expected.all
        waits = expected is not None and expected.all > agreed
        yield replace(_findings(work, known, seconds), waits=waits)
        if expected is not None and waits:
            shown = todo if expected.measures <= agreed else []
            yield from _without_nulls(work, shown, known, expected.all, should_stop)
            return
        for unit in todo:
            for record in stages(unit, should_stop, work.desk):
                known[unit.key] = record
                yield _findings(work, known, seconds, unfinished=1)
            kept[unit.key] = record
            yield _findings(work, known, seconds)
    finally:
        work.desk.close()


def _without_nulls(
    work: Work, units: Sequence[Unit], known: dict[str, Record], seconds: float, should_stop: ShouldStop
) -> Iterator[Findings]:
    """Show what takes no time meanwhile: the measures of the open checkpoint."""
    lent = [unit for unit in units if unit.checkpoint in work.desk.lent]
    for count, unit in enumerate(lent, 1):
        with closing(stages(unit, should_stop, work.desk)) as parts:
            known[unit.key] = next(parts)
        yield replace(_findings(work, known, seconds, unfinished=count), waits=True)


def _findings(
    work: Work, known: Mapping[str, Record], seconds: float | None, unfinished: int = 0
) -> Findings:
    source, units = work.source, work.units
    records = [placed(unit, known[unit.key]) for unit in units if unit.key in known]
    return Findings(
        whole=assemble(units, records, ()),
        layers=tuple(sorted({unit.layer for unit in units})),
        heads=tuple(range(source.heads)),
        layer_names=tuple(getattr(source, "layer_names", ())),
        head_names=tuple(getattr(source, "head_labels", ())),
        done=len(records) - unfinished,
        seconds=seconds,
        series=work.series,
        within=work.within,
    )


def report(
    source: Source,
    origin: Origin,
    params: Params,
    asked: Asked,
    folder: Path,
    kept: Mapping[str, Record],
    progress: Progress,
    should_stop: ShouldStop,
) -> ReportOutcome:
    """Write the report of what is asked for, as `gramscope report` does, computing only what is not kept.

    Raises
    ------
    GramscopeError
        If nothing can be written.
    """
    work = plan(source, origin, params, asked)
    known = {unit.key: kept[unit.key] for unit in work.units if unit.key in kept}
    return write_report(
        work.units, folder, known=known, desk=work.desk, progress=progress, should_stop=should_stop
    )


@dataclass(frozen=True, eq=False)
class Pair:
    """The learned values of one head, and the V* of its keys.

    Attributes
    ----------
    layer, head : int
    learned : ndarray, shape (N, Dv)
    stars : dict of str to ndarray, shape (N, Dv)
        V* by scaling, "unit" and "axes", each over its largest entry.
    tokens : tuple of str
    """

    layer: int
    head: int
    learned: Array
    stars: Mapping[str, Array]
    tokens: tuple[str, ...]

    def beside(self, how: str, scaling: str) -> tuple[Array, Array]:
        """Return V brought beside V* by "procrustes", "signs" or "scale" alone, and V*."""
        star = self.stars[scaling]
        bring = {"procrustes": rotated_onto, "signs": flipped_onto, "scale": scaled_onto}[how]
        return bring(self.learned, star), star


def pair(source: Source, params: Params, should_stop: ShouldStop = never) -> Pair:
    """Return V and V* of the head that the parameters name.

    Raises
    ------
    GramscopeError
        If the input does not suit.
    """
    layer, head = params.layer, params.head
    capture = source.capture([layer], params.input, choose(params.device), should_stop)
    found = next(layer_evidence(capture, layer, [head], Draws(nulls=())))
    row = found.rows[0]
    names = [token.text for token in capture.head(layer, head).seen_by().tokens]
    return Pair(
        layer, head, found.values["learned"][row],
        {name: found.values[name][row] for name in ("unit", "axes")}, tuple(names),
    )  # fmt: skip


def _mean(values: Sequence[float | None]) -> float:
    return float(np.mean([number_of(value) for value in values]))


def _padded(rows: Sequence[Sequence[float | None]]) -> Array:
    widest = max(map(len, rows), default=0)
    out = np.full((len(rows), widest), np.nan)
    for place, row in enumerate(rows):
        out[place, : len(row)] = [number_of(value) for value in row]
    return out
