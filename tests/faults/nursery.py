"""Forks children that write files over and over, kills each at a random moment, and looks at what is left.

`python -m tests.faults.nursery KIND ROUNDS FOLDER` prints one JSON line: how often the old file, the new one
and none was found, how many temporary files lay about, and what was broken.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

OLD = b"what was there before"
Write = Callable[[], None]


def session_writers(folder: Path) -> dict[Path, list[bytes]]:
    """Return the file, and what a whole one holds; `write_sessions` writes them in turn."""
    from explorer.session import dump

    return {folder / "a.gramscope": [dump(session, folder) for session in sessions()]}


def sessions() -> list:
    from explorer.params import Params
    from explorer.session import Session

    return [
        Session(params=Params(level=0.1), selection=frozenset(range(20_000))),
        Session(params=Params(level=0.2)),
    ]


def write_sessions(folder: Path, ready: Write) -> None:
    from explorer.session import save

    ready()
    for session in cycle(sessions()):
        save(session, folder / "a.gramscope")


@cache
def results() -> list:
    """Return two pictures; made before any fork, so that children need not import torch."""
    import torch

    from explorer.analysis import Evaluator
    from explorer.models.recipes import Recipe
    from explorer.models.synthetic import SyntheticSource
    from explorer.params import Params

    torch.set_num_threads(1)
    source = SyntheticSource(Recipe(tokens=24, dim=8, components=3))
    return [next(Evaluator()(Params(level=level), source)) for level in (0.1, 0.3)]


TIMES = re.compile(r'"seconds": [-+.\de]+|\d{4}-\d\d-\d\d[ T]\d\d:\d\d')
"""When a report was made and how long each part took: the one thing in which two differ."""
FIGURES = ("a.png", "a.svg", "a.csv", "a.json")


def write_figures(folder: Path, ready: Write, rounds: int | None = None) -> None:
    from explorer.app import application
    from explorer.ui.headless import write_figure

    application()
    made = results()
    ready()
    for number, result in enumerate(cycle(made)):
        if number == rounds:
            return
        for name in FIGURES:
            write_figure(result, "spectrum", folder / name)


def in_child(work: Callable[[Write], Any], kill_after: float | None, may_end: bool = False) -> None:
    """Run `work` in a child, and kill it so long after it said that it is ready; None: let it end."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        os.close(here)
        work(lambda: os.close(there))
        os._exit(0)
    os.close(there)
    os.read(here, 1)
    os.close(here)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    expected = {0} if kill_after is None else {signal.SIGKILL, 0} if may_end else {signal.SIGKILL}
    assert status in expected, f"the child ended by itself, with {status}"


def whole_figures(folder: Path) -> dict[Path, list[bytes]]:
    """Return what whole files hold, written by children that nobody kills."""
    wholes: dict[Path, list[bytes]] = {folder / name: [] for name in FIGURES}
    for count in (1, 2):
        in_child(lambda ready, count=count: write_figures(folder, ready, count), None)
        for path, known in wholes.items():
            known.append(path.read_bytes())
    return wholes


def rounds(kind: str, count: int, folder: Path) -> dict:
    random.seed(0)
    session = kind == "session"
    if not session:
        importlib.import_module("explorer.ui.headless")
        results()
    begin = time.perf_counter()
    wholes = session_writers(folder) if session else whole_figures(folder)
    write, most = (write_sessions, 0.03) if session else (write_figures, time.perf_counter() - begin)
    found: Counter[str] = Counter()
    broken = []
    for _ in range(count):
        for path in wholes:
            path.write_bytes(OLD)
        in_child(lambda ready: write(folder, ready), random.uniform(0, most))
        for path, whole in wholes.items():
            data = path.read_bytes()
            what = "old" if data == OLD else "new" if data in whole else "broken"
            found[what] += 1
            if what == "broken":
                broken.append(f"{path.name}: {data[:80]!r} … ({len(data)} bytes)")
    left = len(list(folder.glob(".gramscope-*.tmp")))
    return {**found, "temporaries": left, "broken": broken[:5]}


def make_report(folder: Path) -> dict[str, Any]:
    from explorer.maths.evidence_draws import Draws
    from explorer.report.run import run_report

    outcome = run_report("controls", out=folder, draws=Draws(cheap=8, costly=2))
    return {
        "reused": outcome.reused,
        "computed": outcome.computed,
        "report": {path.name: TIMES.sub("", path.read_text()) for path in outcome.files},
    }


def first_difference(one: dict[str, str], other: dict[str, str]) -> str:
    for name, text in one.items():
        if text != other[name]:
            pairs = enumerate(zip(text, other[name], strict=False))
            at = next((place for place, (here, there) in pairs if here != there), 0)
            return f"{name}: …{text[at - 60 : at + 60]}… | …{other[name][at - 60 : at + 60]}…"
    return ""


def report_rounds(count: int, folder: Path) -> dict[str, Any]:
    """Kill reports at random moments, resume each, and compare with one that nobody disturbed."""
    import torch

    torch.set_num_threads(1)
    random.seed(0)
    make_report(folder / "first")  # which imports what the children need
    begin = time.perf_counter()
    unbroken = make_report(folder / "unbroken")
    seconds = time.perf_counter() - begin
    kept, broken = [], []
    for number in range(count):
        place = folder / str(number)
        place.mkdir()
        in_child(lambda ready, place=place: (ready(), make_report(place)), random.uniform(0, seconds), True)
        finished = list(place.glob("units/*.json"))
        for path in finished:
            json.loads(path.read_bytes())
        resumed = make_report(place)
        kept.append(len(finished))
        if resumed["reused"] != len(finished) or resumed["computed"] != unbroken["computed"] - len(finished):
            broken.append(f"{len(finished)} were done, and {resumed['computed']} computed again")
        if resumed["report"] != unbroken["report"]:
            broken.append(first_difference(unbroken["report"], resumed["report"]))
    return {"kept": kept, "units": unbroken["computed"], "broken": broken[:5]}


if __name__ == "__main__":
    kind, times, place = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    print(json.dumps(report_rounds(times, place) if kind == "report" else rounds(kind, times, place)))
