"""Damaged files: a sentence or a picture; no crash, no code run, no memory above 2 GiB, no hang above 5 s.

Mutation is not guided by coverage, as that was measured not to help. For readers written in Python (sessions,
npz, npy, tables, safetensors' headers, captured heads), damaging what had reached new lines further, always
or half of the time, reached from eight lines fewer to four more than damaging the valid file each time, fewer
more often than more (1,500 inputs, three seeds each). These formats are refused at the first thing that is
wrong, so what is damaged twice is refused earlier. What else reads is C and Rust.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.fuzz.hunt import CASES, hunt, plan_of
from tests.fuzz.mutate import damaged
from tests.fuzz.readers import READERS

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does it"),
    pytest.mark.timeout(3000),
]


@pytest.mark.parametrize("count", [1000, pytest.param(20_000, marks=pytest.mark.long)])
def test_damaged_files(count: int) -> None:
    done = hunt(plan_of(count))
    print(f"\n{done}")
    assert done.broken == [], "python -m tests.fuzz.hunt keeps them"
    assert done.read >= count and len(done.tallies) == len(READERS)


def test_what_once_broke_a_reader() -> None:
    names = tuple(sorted(folder.name for folder in CASES.iterdir()))
    done = hunt(plan_of(0, names=names), CASES)
    assert done.broken == []
    assert done.read == sum(path.is_file() for path in CASES.rglob("*"))


def test_the_watch_sees_what_it_should(tmp_path: Path) -> None:
    """A reader that starts a program, hangs, ends the process or takes all memory is found out."""
    from tests.fuzz import bad_reader

    broken = bad_reader.hunted()
    assert [found.label for found in broken] == ["0", "1", "2", "3", "4"]
    told = "\n".join(found.how for found in broken)
    for sign in ("os.system", "Timeout", "the process ended", "more than", "ZeroDivisionError"):
        assert sign in told


def test_damage_is_the_same_for_the_same_seed() -> None:
    valid = bytes(range(256)) * 4
    assert damaged(valid, 3, False) == damaged(valid, 3, False)
    assert len({damaged(valid, seed, False) for seed in range(50)}) > 40
