"""Make a report: plan, compute what is not there yet, write what there is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from explorer.errors import Stopped
from explorer.maths.evidence_draws import Draws
from explorer.models.base import ShouldStop, never
from explorer.params import Input
from explorer.report.compute import DESK, Desk, Record
from explorer.report.page import page
from explorer.report.plan import Unit, checkpoints_of, inputs_of, refuse_unknown, units_of
from explorer.report.tables import tables
from explorer.report.whole import Whole, assemble, placed
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
            what = f"{len(self.failures)} of {total} parts failed, first {first.unit.name}: {first.failure}"
            return f"{what} Report of the rest: {self.folder / 'report.html'}" if done else what
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
    head_count: int | None = None,
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
    head_count : int or None
        How many heads there are, where the checkpoints do not say.
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
    checkpoints = checkpoints_of(given, head_count)
    source = DESK.open(checkpoints[0])
    refuse_unknown(source, layers, heads)
    units = units_of(
        source, checkpoints, inputs_of(source, inputs, samples), layers=layers, heads=heads, device=device,
        draws=draws or Draws(), untrained=untrained,
    )  # fmt: skip
    return write_report(
        units, out, jobs=jobs, dask=dask, progress=progress, should_stop=should_stop, resume=resume
    )


def write_report(
    units: Sequence[Unit],
    out: str | Path,
    *,
    jobs: int = 1,
    dask: str | None = None,
    progress: Progress = silent,
    should_stop: ShouldStop = never,
    resume: bool = True,
    known: Mapping[str, Record] | None = None,
    desk: Desk = DESK,
) -> ReportOutcome:
    """Compute units that are not there yet, and write the report of all; the rest is as in `run_report`.

    Parameters
    ----------
    units : sequence of Unit
    known : mapping of str to dict or None
        Records that are there already, by the units' keys.
    desk : Desk
        What holds the sources, where `jobs` is 1.

    Raises
    ------
    GramscopeError
        If nothing can be written.
    """
    folder = Path(out).absolute()
    store = Store(folder / UNITS)
    for key, computed in (known or {}).items():
        store.keep(key, computed)
    found = {unit.key: store.kept(unit.key) for unit in units} if resume else {}
    records = {key: record for key, record in found.items() if record is not None}
    reused = len(records)
    failures, stopped = [], False
    todo = [unit for unit in units if unit.key not in records]
    progress(reused, len(units), "")
    try:
        for done in _computed(todo, jobs, dask, should_stop, desk):
            if done.record is None:
                failures.append(done)
            else:
                records[done.unit.key] = done.record
                store.keep(done.unit.key, done.record)
            progress(len(records) + len(failures), len(units), done.unit.name)
    except Stopped:
        stopped = True
    whole = assemble(
        units, [placed(unit, records[unit.key]) for unit in units if unit.key in records], failures
    )
    files = _write(folder, whole) if records else ()
    return ReportOutcome(
        folder, files, len(records) - reused, reused, tuple(failures), stopped, whole.verdict
    )


def _computed(
    units: Sequence[Unit], jobs: int, dask: str | None, should_stop: ShouldStop, desk: Desk
) -> Iterator[Done]:
    if not units:
        return iter(())
    if dask:
        return on_dask(units, dask, should_stop)
    return serially(units, should_stop, desk) if jobs == 1 else in_processes(units, jobs, should_stop)


def _write(folder: Path, whole: Whole) -> tuple[Path, ...]:
    contents = {
        "report.html": page(whole),
        "report.json": json.dumps(whole.document(), indent=1),
        **tables(whole),
    }
    for name, text in contents.items():
        atomic_write(folder / name, text.encode())
    return tuple(folder / name for name in contents)
