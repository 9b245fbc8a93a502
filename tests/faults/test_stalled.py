"""A drive that never answers (a pipe without a writer stands for it): a message, and the window lives."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from explorer import threads
from explorer.app import build
from explorer.errors import GramscopeError, Stopped
from explorer.models import patience
from explorer.models.patience import wait_for
from explorer.params import Input
from explorer.ui.window import MainWindow
from tests.ui.desk import sentences

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe stands for the drive")
CLOSES_WHILE_READING = """
import stat, sys, time
from pathlib import Path
stat.S_ISREG = lambda mode: True
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from explorer import app
from explorer.models import safety
safety.wait_for = lambda path, should_stop=None: None  # the first read went well
build = app.build
def built():
    window = build()
    def close():
        if window.opener.task._threads:
            print("closing", time.monotonic(), flush=True)
            window.close()
        else:
            QTimer.singleShot(100, close)
    QTimer.singleShot(1000, close)
    return window
app.build = built
sys.exit(app.run([PATH]))
"""


@pytest.fixture
def stalled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file whose first byte never comes."""
    path = tmp_path / "far-away.safetensors"
    os.mkfifo(path)
    monkeypatch.setattr(stat, "S_ISREG", lambda mode: True)
    yield path
    release(path)


def release(path: Path) -> None:
    """Let whoever reads come to an end, so that the test leaves nothing behind."""
    for _ in range(50):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            if not threads.left():
                return
        time.sleep(0.02)


@pytest.fixture
def live(qtbot: QtBot) -> Iterator[MainWindow]:
    window = build()
    window.show()
    window.opener.open_sample()
    qtbot.waitUntil(lambda: window.state.result is not None, timeout=20_000)
    yield window
    window.close()
    window.deleteLater()


def test_it_is_given_up(stalled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE_S", 0.2)
    with pytest.raises(GramscopeError, match=r"far-away\.safetensors does not answer"):
        wait_for(stalled)


def test_waiting_is_stopped(stalled: Path) -> None:
    begin = time.monotonic()
    with pytest.raises(Stopped):
        wait_for(stalled, lambda: True)
    assert time.monotonic() - begin < patience.PATIENCE_S / 2


def test_opening_is_cancelled_and_something_else_opened(
    stalled: Path, live: MainWindow, qtbot: QtBot
) -> None:
    before = live.state.source
    live.opener.open_paths([stalled])
    qtbot.wait(100)
    assert live.bar.progress.isVisible()
    live.opener.task.cancel()
    live.opener.open_sample()
    qtbot.waitUntil(lambda: live.state.source is not before, timeout=20_000)
    assert sentences(live) == []


def test_a_message_when_it_does_not_open(
    stalled: Path, live: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "PATIENCE_S", 0.2)
    source = live.state.source
    live.opener.open_paths([stalled])
    qtbot.waitUntil(lambda: bool(live.messages.bars), timeout=20_000)
    assert "does not answer" in sentences(live)[0]
    assert live.state.source is source
    assert live.state.result is not None


def test_an_input_that_does_not_come(
    stalled: Path, live: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "PATIENCE_S", 0.2)
    image = stalled.rename(stalled.with_suffix(".png"))
    live.state.update(input=Input(path=str(image)))
    qtbot.waitUntil(lambda: bool(live.messages.bars), timeout=20_000)
    assert "does not answer" in sentences(live)[0]
    live.state.update(input=Input())
    live.state.update(level=0.1)
    qtbot.waitUntil(lambda: live.state.result.params == live.state.params, timeout=20_000)
    release(image)


def test_closing_ends_the_process_while_a_read_never_returns(tmp_path: Path, home: Path) -> None:
    os.mkfifo(tmp_path / "far-away.npz")
    code = CLOSES_WHILE_READING.replace("PATH", repr(str(tmp_path / "far-away.npz")))
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT), "GRAMSCOPE_HOME": str(home)},
    )
    ended = time.monotonic()
    assert done.returncode == 0, done.stderr
    closing = float(done.stdout.split()[1])
    assert ended - closing < threads.CLOSING_S + 5
    assert ended - closing > 0.5 * threads.CLOSING_S, "nothing was being read: the test proves nothing"
