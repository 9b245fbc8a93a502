from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer import logs


def test_a_session_is_logged_and_leaves_no_trace(home: Path) -> None:
    opened = logs.start()
    logging.getLogger("explorer.somewhere").info("a line — with a dash")
    opened.stop()
    assert "a line — with a dash" in opened.path.read_text(encoding="utf-8")
    assert [path.name for path in (home / "logs").iterdir()] == ["gramscope.log"]


def test_the_log_rotates(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr(logs, "LOG_BYTES", 500)
    opened = logs.start()
    for number in range(100):
        logging.getLogger("explorer").info("line %d", number)
    opened.stop()
    sizes = [path.stat().st_size for path in (home / "logs").iterdir()]
    assert len(sizes) == logs.LOG_FILES
    assert max(sizes) <= 500


def test_a_hard_crash_is_offered_at_the_next_start(home: Path) -> None:
    code = "from explorer import logs; import faulthandler; logs.start(); faulthandler._sigabrt()"
    env = os.environ | {"PYTHONPATH": str(Path(logs.__file__).parents[1])}
    assert subprocess.run([sys.executable, "-c", code], env=env, stderr=subprocess.DEVNULL).returncode != 0
    opened = logs.start()
    assert "Fatal Python error: Aborted" in opened.last_crash
    opened.stop()
    again = logs.start()
    assert again.last_crash == ""
    again.stop()


def test_the_trace_of_a_living_process_is_left_alone(home: Path) -> None:
    opened = logs.start()
    living = home / "logs" / f"crash-{os.getppid()}.txt"
    living.write_text("still mine")
    assert logs._collect_traces(home / "logs") == ""
    assert living.exists()
    opened.stop()
