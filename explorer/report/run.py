"""Make a report: plan, compute what is not there yet, write what there is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from explorer.errors import Stopped
from explorer.maths.evidence_draws import Draws
from explorer.models.base import ShouldStop, never
from explorer.params import Input
from explorer.report.collect import LAYERS_AT_ONCE
from explorer.report.compute import DESK, Record
from explorer.report.page import page
from explorer.report.plan import Unit, checkpoints_of, inputs_of, refuse_unknown
from explorer.report.tables import tables
from explorer.report.whole import Whole, assemble
from explorer.report.work import Done, in_processes, on_dask, serially
from explorer.settings import atomic_write
from explorer.units import Store

Progress = Callable[[int, int, str], None]
UNITS = "units"


def silent(done: int, total: int, name: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, eq=False)
class ReportOutcome:
    """What a report came to.

    Attributes
    ----------
    folder : Path
        Where `report.html`, `report.json` and the tables are; units that are done stay there too.
    files : tuple of Path
    computed, reused : int
        Units computed now, and found done already.
    failures : tuple of Done
    stopped : bool
        Whether it was stopped before all units were done.
    verdict : str
        In words, over all heads.
    """

    folder: Path
    files: tuple[Path, ...]
    computed: int
    reused: int
    failures: tuple[Done, ...] = field(default=())
    stopped: bool = False
    verdict: str = ""

    @property
    def exit_code(self) -> int:
        """0: all done; 3: part failed; 1: all failed; 130: stopped."""
        if self.stopped:
            return 130
        if not self.failures:
            return 0
        return 3 if self.computed + self.reused else 1

    @property
    def message(self) -> str:
        """One sentence for the person."""
        done = self.computed + self.reused
        if self.stopped:
            return f"Stopped after {done} parts; the same command goes on from there."
        if self.failures:
            first, total = self.failures[0], done + len(self.failures)
            return f"{len(self.failures)} of {total} parts failed, first {first.unit.name}: {first.failure}"
        return (
            f"All {done} parts are done ({self.reused} were already). Report: {self.folder / 'report.html'}"
        )


def run_report(
    paths: str | Path | Sequence[str | Path],
    inputs: Sequence[Input] = (),
    *,
    out: str | Path,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    samples: int | None = None,
    device: str = "auto",
    draws: Draws | None = None,
    untrained: int = 2,
    jobs: int = 1,
    dask: str | None = None,
    progress: Progress = silent,
    should_stop: ShouldStop = never,
    resume: bool = True,
) -> ReportOutcome:
    """Measure every layer and head of checkpoints on inputs, and write the report.

    Parameters
    ----------
    paths : path or sequence of paths
        A checkpoint, several (a series along training), a folder of them, or "controls".
    inputs : sequence of Input
        Texts, files with a line each, folders of images; none: a built-in sample.
    out : path
        The folder to write to; made if absent.
    layers, heads : sequence of int or None
        True numbers; None: all.
    samples : int or None
        How many of each input that has several; see `inputs_of`.
    device : str
        "auto", "cpu", "cuda" or "mps".
    draws : Draws or None
        How many draws each null takes.
    untrained : int
        How many times the architecture is re-initialised for the null of that name; 0: not at all.
    jobs : int
        Processes of this machine; −1: as many as it has cores.
    dask : str or None
        Address of a Dask scheduler that computes instead.
    progress : callable
        Told of units done, units in all, and the last one's name.
    should_stop : callable
        Asked between heads, or between units that others compute.
    resume : bool
        Use units that an earlier run into the same folder has finished.

    Raises
    ------
    GramscopeError
        If nothing can be opened or written, or there are no such layers or heads.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    units = _plan(given, inputs, layers, heads, samples, device, draws or Draws(), untrained)
    folder = Path(out).absolute()
    store = Store(folder / UNITS)
    records = {unit.key: record for unit in units if resume and (record := store.kept(unit.key))}
    reused = len(records)
    failures, stopped = [], False
    todo = [unit for unit in units if unit.key not in records]
    progress(reused, len(units), "")
    try:
        for done in _computed(todo, jobs, dask, should_stop):
            if done.record is None:
                failures.append(done)
            else:
                records[done.unit.key] = done.record
                store.keep(done.unit.key, done.record)
            progress(len(records) + len(failures), len(units), done.unit.name)
    except Stopped:
        stopped = True
    whole = assemble(
        units, [_placed(unit, records[unit.key]) for unit in units if unit.key in records], failures
    )
    files = _write(folder, whole) if records else ()
    return ReportOutcome(
        folder, files, len(records) - reused, reused, tuple(failures), stopped, whole.verdict
    )


def _plan(
    paths: Sequence[str | Path],
    inputs: Sequence[Input],
    layers: Sequence[int] | None,
    heads: Sequence[int] | None,
    samples: int | None,
    device: str,
    draws: Draws,
    untrained: int,
) -> list[Unit]:
    checkpoints = checkpoints_of(paths)
    source = DESK.open(checkpoints[0])
    refuse_unknown(source, layers, heads)
    chosen = tuple(range(source.layers)) if layers is None else tuple(sorted(set(layers)))
    groups = [chosen[i : i + LAYERS_AT_ONCE] for i in range(0, len(chosen), LAYERS_AT_ONCE)]
    return [
        Unit(
            checkpoint, each, sample, layer, group, None if heads is None else tuple(heads),
            device, draws, untrained if hasattr(source, "untrained") else 0,
        )
        for checkpoint in checkpoints
        for sample, each in enumerate(inputs_of(source, inputs, samples))
        for group in groups
        for layer in group
    ]  # fmt: skip


def _placed(unit: Unit, record: Record) -> Record:
    """Give a record its place in this report, which may not be the one it was computed for."""
    return {
        **record,
        "sample": unit.sample,
        "checkpoint": unit.checkpoint.label,
        "step": unit.checkpoint.step,
    }


def _computed(units: Sequence[Unit], jobs: int, dask: str | None, should_stop: ShouldStop) -> Iterator[Done]:
    if not units:
        return iter(())
    if dask:
        return on_dask(units, dask, should_stop)
    return serially(units, should_stop) if jobs == 1 else in_processes(units, jobs, should_stop)


def _write(folder: Path, whole: Whole) -> tuple[Path, ...]:
    contents = {
        "report.html": page(whole),
        "report.json": json.dumps(whole.document(), indent=1),
        **tables(whole),
    }
    for name, text in contents.items():
        atomic_write(folder / name, text.encode())
    return tuple(folder / name for name in contents)
