"""Hands damaged files to every reader: `python -m tests.fuzz.hunt COUNT [FIRST] [READER …]`.

Prints what broke, and keeps each file that broke its reader in tests/fuzz/cases, for ever.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.mutate import damaged
from tests.fuzz.readers import READERS

ROOT = Path(__file__).parents[2]
CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Broken:
    """What an input did to its reader."""

    reader: str
    label: str
    how: str


def plan_of(count: int, first: int = 0, names: tuple[str, ...] = ()) -> list[tuple[str, int, int]]:
    """Share `count` inputs out among the readers."""
    chosen = names or tuple(READERS)
    shares = sum(READERS[name].share for name in chosen)
    return [(name, first, -(-count * READERS[name].share // shares)) for name in chosen]


def hunt(
    plan: list[tuple[str, int, int]], cases: Path | None = None, worker: str = "tests.fuzz.worker"
) -> tuple[int, list[Broken]]:
    """Return how many inputs were read, and those that broke their reader; a dead process is replaced."""
    read, broken = 0, []
    while plan:
        news, errors = _run(plan, cases, worker)
        done = [item for item in news if item[0] == "read"]
        read += len(done)
        broken += [Broken(*item[1:]) for item in done if item[3]]
        if news and news[-1][0] == "reading":
            _, name, label = news[-1]
            read += 1
            broken.append(Broken(name, label, f"the process ended: {errors[-2500:]}"))
            plan = _after(plan, name, label)
        elif errors:
            raise RuntimeError(errors)
        else:
            return read, broken
    return read, broken


def _run(plan: list[tuple[str, int, int]], cases: Path | None, worker: str) -> tuple[list[list[str]], str]:
    command = [sys.executable, "-m", worker, json.dumps(plan), *([str(cases)] if cases else [])]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    with tempfile.TemporaryFile() as errors:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=errors, cwd=ROOT, env=environment)
        errors.seek(0)
        said = errors.read().decode(errors="replace") if done.returncode else ""
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b'["read')], said


def _after(plan: list[tuple[str, int, int]], name: str, label: str) -> list[tuple[str, int, int]]:
    """Return what is left of a plan behind one input."""
    at = next(place for place, part in enumerate(plan) if part[0] == name)
    _, first, count = plan[at]
    if not label.isdigit():
        return plan[at + 1 :]
    rest = first + count - int(label) - 1
    return [*([(name, int(label) + 1, rest)] if rest else []), *plan[at + 1 :]]


def keep(found: Broken) -> Path:
    """Write the input to the cases, to be read by every later test."""
    folder = CASES / found.reader
    with tempfile.TemporaryDirectory() as temporary:
        valid = READERS[found.reader].make(Path(temporary)).read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / found.label
    path.write_bytes(damaged(valid, int(found.label), READERS[found.reader].structured))
    return path


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    read, broken = hunt(plan_of(count, first, tuple(sys.argv[3:])))
    for found in broken:
        print(f"== {found.reader} {found.label} → {keep(found)}\n{found.how}\n")
    print(f"{read} inputs read, {len(broken)} broke their reader")
    sys.exit(bool(broken))
