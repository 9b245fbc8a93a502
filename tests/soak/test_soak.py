"""Random work at the window: no exception, no warning, no leak, and no part that was never touched."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

import pytest
import shiboken6
from pyqtgraph.util.garbage_collector import GarbageCollector
from PySide6.QtCore import QMessageLogContext, QTimer, QtMsgType, qInstallMessageHandler, qWarning
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.errors import GramscopeError
from explorer.ui import messages
from explorer.ui.window import MainWindow
from tests.soak.census import PATIENCE_MS, Census, census, return_freed_memory
from tests.soak.files import droppable
from tests.soak.monkey import Monkey
from tests.soak.scenes import scenes

GROWTH_BYTES = 50_000_000
SEED = int(os.environ.get("GRAMSCOPE_SOAK_SEED", "0"))
OFFSCREEN = "This plugin does not support "
"""How Qt begins to say what a platform without a screen lacks."""
QUIET = (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg)


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect exceptions, Qt's warnings, and what the program reports that is no sentence for the person."""
    found: list[str] = []
    told = messages.messages().post

    def post(message: messages.Message) -> None:
        if "Traceback" in message.detail and GramscopeError.__name__ not in message.detail:
            found.append(f"{message.sentence}\n{message.detail}")
        told(message)

    def raised(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        found.append("".join(traceback.format_exception(kind, value, trace)))

    def said(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        if kind not in QUIET and not text.startswith(OFFSCREEN):
            found.append(f"Qt says: {text}")

    monkeypatch.setattr(messages.messages(), "post", post)
    monkeypatch.setattr(sys, "excepthook", raised)
    before = qInstallMessageHandler(said)
    yield found
    qInstallMessageHandler(before)


@pytest.fixture
def window(qtbot: QtBot, failures: list[str]) -> Iterator[MainWindow]:
    return_freed_memory()
    collector = GarbageCollector()
    window = build()
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    yield window
    window.close()
    for widget in QApplication.topLevelWidgets():
        widget.close()
    QApplication.processEvents()
    collector.timer.stop()
    shiboken6.delete(window)


def work(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, failures: list[str], rounds: int, steps: int
) -> None:
    """Touch everything, then work at random in rounds, with a rest after each to see what is held."""
    drops = droppable(tmp_path)
    monkey = Monkey(window, drops, scenes(window, drops), SEED)
    monkey.touch("QToolButton: Sample: digits")
    qtbot.waitUntil(lambda: window.state.result is not None, timeout=PATIENCE_MS)
    monkey.sweep(patience=1.0)
    assert not failures, "\n".join(failures)
    rests = [census(window, qtbot)]
    for _ in range(rounds):
        walk(monkey, steps, failures)
        rests.append(census(window, qtbot))
        print(rests[-1], flush=True)
    for patience in (1.0, 5.0, 20.0):
        monkey.seek(patience)
    assert not failures, "\n".join(failures)
    for name, count in sorted(monkey.touched.items()):
        print(f"{count:5d}  {name}")
    print(f"{monkey.touched.total()} acts on {len(monkey.touched)} things", *rests, sep="\n")
    never = monkey.missing()
    assert not never, "never touched:\n" + "\n".join(never)
    assert growth(rests, "memory") < GROWTH_BYTES
    assert growth(rests, "threads") <= 0
    assert growth(rests, "timers") <= 0
    assert growth(rests, "widgets") <= 5
    assert growth(rests, "windows") <= 10


def walk(monkey: Monkey, steps: int, failures: list[str]) -> None:
    history: list[str] = []
    for _ in range(steps):
        history.append(monkey.step())
        assert not failures, "\n".join(["after", *history[-8:], *failures])


def growth(rests: Sequence[Census], of: str) -> int:
    """Return by how much the last two rests both exceed both of the first two.

    A leak lifts every later rest; a cache that happens to be full at one and empty at another does not.
    """
    return min(getattr(rest, of) for rest in rests[-2:]) - max(getattr(rest, of) for rest in rests[:2])


@pytest.mark.timeout(1200)
def test_everything_is_touched_and_nothing_leaks(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, failures: list[str]
) -> None:
    work(window, qtbot, tmp_path, failures, rounds=3, steps=50)


@pytest.mark.long
@pytest.mark.timeout(14400)
def test_ten_thousand_random_acts(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, failures: list[str]
) -> None:
    work(window, qtbot, tmp_path, failures, rounds=10, steps=1000)


def test_what_goes_wrong_is_heard(failures: list[str], qtbot: QtBot) -> None:
    qWarning("QWidget: something amiss")
    QTimer.singleShot(0, lambda: [][0])
    qtbot.waitUntil(lambda: len(failures) == 2, timeout=PATIENCE_MS)
    assert "something amiss" in failures[0]
    assert "IndexError" in failures[1]


def test_growth_is_what_stays() -> None:
    rests = [Census(memory, 3, 1, 2000, 800) for memory in (700, 720, 900, 710, 760)]
    assert growth(rests, "memory") == -10
    assert growth([*rests, rests[-1]], "memory") == 40
