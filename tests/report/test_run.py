"""A report end to end: files, resuming, and what is said when a part fails."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.errors import GramscopeError
from explorer.maths.evidence_draws import Draws
from explorer.report.run import run_report

FEW = Draws(cheap=8, costly=2)


def undated(folder: Path) -> str:
    """Read the page but for the minute that it was made in."""
    created = json.loads((folder / "report.json").read_text())["created"]
    page = (folder / "report.html").read_text()
    assert page.count(created) == 1
    return page.replace(created, "")


def test_controls_end_to_end_and_resumed(tmp_path: Path) -> None:
    first = run_report("controls", out=tmp_path, draws=FEW)
    assert first.exit_code == 0 and first.reused == 0 and first.computed > 0
    assert "overlap" in first.verdict.lower()
    page = undated(tmp_path)
    assert "<svg" in page and "http://" not in page.replace("http://www.w3.org", "")
    numbers = json.loads((tmp_path / "report.json").read_text())
    assert numbers
    with (tmp_path / "heads.csv").open() as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    assert len(rows) > 1 and len({len(row) for row in rows}) == 1
    again = run_report("controls", out=tmp_path, draws=FEW)
    assert (again.computed, again.reused) == (0, first.computed)
    assert undated(tmp_path) == page


@pytest.mark.parametrize("damaged", ["{ half", "[]", '{"record": 5}', '{"record": {}}'])
def test_a_damaged_unit_is_computed_again(damaged: str, tmp_path: Path) -> None:
    first = run_report("controls", out=tmp_path, draws=FEW)
    unit = next((tmp_path / "units").glob("*.json"))
    unit.write_text(damaged)
    again = run_report("controls", out=tmp_path, draws=FEW)
    assert (again.computed, again.reused) == (1, first.computed - 1)


def test_stopping_keeps_what_is_done(tmp_path: Path) -> None:
    outcome = run_report("controls", out=tmp_path, draws=FEW, should_stop=lambda: True)
    assert outcome.stopped and outcome.exit_code == 130


def test_what_cannot_be_opened_is_told(tmp_path: Path) -> None:
    with pytest.raises(GramscopeError):
        run_report(tmp_path / "absent", out=tmp_path / "out", draws=FEW)


def test_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "explorer", "report", "controls", "--draws", "8", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert "parts are done" in done.stdout
