"""Killed at any moment: the old file or the new one, never half of it; and a report goes on where it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked"),
    pytest.mark.timeout(1200),
]
TIMES = pytest.mark.parametrize("times", [10, pytest.param(100, marks=pytest.mark.long)])


def killed(kind: str, times: int, folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.nursery", kind, str(times), str(folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    print(done.stdout)
    return json.loads(done.stdout.splitlines()[-1])


@TIMES
@pytest.mark.parametrize("kind", ["session", "export"])
def test_a_file_is_the_old_one_or_the_new_one(kind: str, times: int, tmp_path: Path) -> None:
    found = killed(kind, times, tmp_path)
    assert found["broken"] == []
    assert found["new"] > 0
    assert found["new"] + found.get("old", 0) in (times, 4 * times)
    assert found["temporaries"] <= times


@pytest.mark.parametrize("times", [5, pytest.param(100, marks=pytest.mark.long)])
def test_a_report_goes_on_where_it_was_killed(times: int, tmp_path: Path) -> None:
    found = killed("report", times, tmp_path)
    assert found["broken"] == []
    assert any(0 < kept < found["units"] for kept in found["kept"]), "it was never killed half way"
