"""Hands damaged files to every reader: `python -m tests.fuzz.hunt COUNT [FIRST] [READER …]`.

Keeps each file that broke its reader in tests/fuzz/cases, for ever; prints what broke, and by reader how many
inputs it was given, the longest time and the most memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.mutate import damaged
from tests.fuzz.readers import READERS

ROOT = Path(__file__).parents[2]
CASES = Path(__file__).parent / "cases"
HANG_S = 5.0


@dataclass(frozen=True)
class Broken:
    """What an input did to its reader."""

    reader: str
    label: str
    how: str


@dataclass
class Tally:
    """What one reader was given: how many inputs, and the slowest and the largest of them."""

    read: int = 0
    seconds: tuple[float, str] = (0.0, "")
    memory: tuple[int, str] = (0, "")

    def add(self, label: str, seconds: float, memory: int) -> None:
        self.read += 1
        self.seconds = max(self.seconds, (seconds, label))
        self.memory = max(self.memory, (memory, label))

    def __str__(self) -> str:
        (seconds, slow), (memory, large) = self.seconds, self.memory
        return (
            f"{self.read:6} inputs, at most {seconds:.2f} s ({slow}) and {memory / 2**20:.0f} MiB ({large})"
        )


@dataclass
class Hunt:
    """What was read, by reader, and what broke its reader."""

    tallies: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    broken: list[Broken] = field(default_factory=list)

    @property
    def read(self) -> int:
        return sum(tally.read for tally in self.tallies.values())

    def hear(self, name: str, label: str, how: str, seconds: float, memory: int) -> None:
        self.tallies[name].add(label, seconds, memory)
        if how:
            self.broken.append(Broken(name, label, how))

    def __str__(self) -> str:
        lines = [f"{name:17}{tally}" for name, tally in self.tallies.items()]
        return "\n".join([*lines, f"{self.read} inputs read, {len(self.broken)} broke their reader"])


def plan_of(count: int, first: int = 0, names: tuple[str, ...] = ()) -> list[tuple[str, int, int]]:
    """Share `count` inputs out among the readers."""
    chosen = names or tuple(READERS)
    shares = sum(READERS[name].share for name in chosen)
    return [(name, first, -(-count * READERS[name].share // shares)) for name in chosen]


def hunt(
    plan: list[tuple[str, int, int]],
    cases: Path | None = None,
    worker: str = "tests.fuzz.worker",
    tell: Callable[[Broken], object] = lambda found: None,
) -> Hunt:
    """Read the inputs of a plan; a dead process is replaced. What breaks its reader is told at once."""
    result = Hunt()
    while plan:
        last, errors = _run(plan, cases, worker, result, tell)
        if last is None:
            if errors:
                raise RuntimeError(errors)
            break
        name, label = last
        result.hear(name, label, f"the process ended: {errors[-2500:]}", HANG_S, 0)
        tell(result.broken[-1])
        plan = _after(plan, name, label) if cases is None else _without(plan, name)
    return result


def _run(
    plan: list[tuple[str, int, int]], cases: Path | None, worker: str, result: Hunt, tell: Callable
) -> tuple[tuple[str, str] | None, str]:
    """Return the input at which the process ended, None if at none, and what it wrote if it failed."""
    command = [sys.executable, "-m", worker, json.dumps(plan), *([str(cases)] if cases else [])]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    last, options = None, {"stdout": subprocess.PIPE, "cwd": ROOT, "env": environment}
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(command, stderr=errors, **options) as run:
            for line in run.stdout:
                if line.startswith(b'["reading"'):
                    last = tuple(json.loads(line)[1:])
                elif line.startswith(b'["read"'):
                    last, before = None, len(result.broken)
                    result.hear(*json.loads(line)[1:])
                    for found in result.broken[before:]:
                        tell(found)
        errors.seek(0)
        said = errors.read().decode(errors="replace") if run.returncode else ""
    return last, said


def _after(plan: list[tuple[str, int, int]], name: str, label: str) -> list[tuple[str, int, int]]:
    """Return what is left of a plan behind one input."""
    at = next(place for place, part in enumerate(plan) if part[0] == name)
    _, first, count = plan[at]
    rest = first + count - int(label) - 1
    return [*([(name, int(label) + 1, rest)] if rest else []), *plan[at + 1 :]]


def _without(plan: list[tuple[str, int, int]], name: str) -> list[tuple[str, int, int]]:
    """Return what is left of a plan behind one reader."""
    names = [part[0] for part in plan]
    return plan[names.index(name) + 1 :]


def keep(found: Broken) -> Path:
    """Write the input to the cases, to be read by every later test."""
    folder = CASES / found.reader
    with tempfile.TemporaryDirectory() as temporary:
        valid = READERS[found.reader].make(Path(temporary)).read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    data = damaged(valid, int(found.label), READERS[found.reader].structured)
    path = folder / hashlib.sha256(data).hexdigest()[:12]
    path.write_bytes(data)
    return path


def keep_and_print(found: Broken) -> None:
    print(f"== {found.reader} {found.label} → {keep(found)}\n{found.how}\n", flush=True)


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    done = hunt(plan_of(count, first, tuple(sys.argv[3:])), tell=keep_and_print)
    print(done)
    sys.exit(bool(done.broken))
