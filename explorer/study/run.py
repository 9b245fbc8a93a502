"""Make a study: plan, compute what is not there yet, write what there is."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from explorer.errors import Stopped
from explorer.models.base import ShouldStop, never
from explorer.settings import atomic_write
from explorer.study.compute import Desk, compute
from explorer.study.data import labelled
from explorer.study.files import contents
from explorer.study.plan import DIGITS, Setting, units_of
from explorer.study.table import Answers, Place, place_of
from explorer.units import Store

Progress = Callable[[int, int, str], None]
UNITS = "units"


@dataclass(frozen=True, eq=False)
class Step:
    """How far a study is.

    Attributes
    ----------
    answers : Answers
    name : str
        Of the unit done last; empty before the first.
    reused : int
        Units that an earlier run had done.
    left : float or None
        About how many seconds the rest takes, from the pace so far; None before anything is computed.
    """

    answers: Answers
    name: str
    reused: int
    left: float | None = None


def steps(setting: Setting, store: Store | None = None, should_stop: ShouldStop = never) -> Iterator[Step]:
    """Compute a study unit by unit, and yield all that is known after each.

    Parameters
    ----------
    store : Store or None
        Where units that are done are kept, and looked for.

    Raises
    ------
    GramscopeError
        If a model or the images do not suit, with the reason.
    Stopped
        If `should_stop` said so.
    """
    data = labelled(Path(setting.data), setting.images) if setting.data else None
    units = units_of(setting, data.fingerprint if data else DIGITS)
    with closing(Desk(data)) as desk:
        truths, notes = {}, dict[str, None]()
        for model in {model.path: model for model in setting.models}.values():
            classifier = desk.open(model)
            question = desk.question(classifier)
            truths[model.path] = question.classes.numpy()
            notes.update(dict.fromkeys(filter(None, (*classifier.notes, question.note))))
        counts = Counter(next(iter(truths.values())).tolist())
        answers = Answers(setting, {}, max(counts.values()) / counts.total(), len(units), tuple(notes))
        right: dict[Place, np.ndarray] = {}
        missing = []
        for unit in units:
            record = store.kept(unit.key) if store else None
            if record is None:
                missing.append(unit)
            else:
                right[place_of(unit)] = np.array(record["answers"]) == truths[unit.model.path]
        reused = len(right)
        yield Step(replace(answers, right=dict(right)), "", reused)
        begin, passed, to_pass = time.monotonic(), 0, sum(unit.passes for unit in missing)
        for unit in missing:
            said = compute(unit, desk, should_stop)
            if store:
                store.keep(unit.key, {"unit": unit.name, "answers": said.tolist()})
            right[place_of(unit)] = said == truths[unit.model.path]
            passed += unit.passes
            left = (time.monotonic() - begin) / passed * (to_pass - passed)
            yield Step(replace(answers, right=dict(right)), unit.name, reused, left)


@dataclass(frozen=True, eq=False)
class StudyOutcome:
    """What a study came to.

    Attributes
    ----------
    folder : Path
        Where the tables and the setting are; units that are done stay there too.
    files : tuple of Path
    answers : Answers
    reused : int
        Units found done already.
    stopped : bool
        Whether it was stopped before all units were done.
    """

    folder: Path
    files: tuple[Path, ...]
    answers: Answers
    reused: int
    stopped: bool = False


def silent(done: int, total: int, name: str) -> None:
    """Tell nobody."""


def run_study(
    setting: Setting,
    out: str | Path,
    progress: Progress = silent,
    should_stop: ShouldStop = never,
) -> StudyOutcome:
    """Make a study into a folder, going on from what an earlier run into it has finished.

    Parameters
    ----------
    out : path
        The folder to write to; made if absent.
    progress : callable
        Told of units done, units in all, and the last one's name.

    Raises
    ------
    GramscopeError
        If a model or the images do not suit, or nothing can be written.
    """
    folder = Path(out).absolute()
    stopped = False
    last: Step | None = None
    try:
        for last in steps(setting, Store(folder / UNITS), should_stop):
            progress(len(last.answers.right), last.answers.wanted, last.name)
    except Stopped:
        stopped = True
    assert last is not None, "the first step comes before anything is computed"
    files = contents(last.answers)
    for name, text in files.items():
        atomic_write(folder / name, text.encode())
    return StudyOutcome(folder, tuple(folder / name for name in files), last.answers, last.reused, stopped)
