"""Random work at the window: no exception, no warning, no leak, and no part that was never touched."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import shiboken6
from PySide6.QtCore import QEvent, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.commands.smoke import at_rest
from explorer.errors import GramscopeError
from explorer.models.recipes import Recipe
from explorer.ui import messages
from explorer.ui.window import MainWindow
from tests.soak.files import droppable
from tests.soak.monkey import Monkey

STEPS = 300
LONG_STEPS = 10_000
PASSING = {
    "QToolButton: Cancel",
    "QToolButton: Stop",
    "QCheckBox: All checkpoints of the series",
}
"""There only while something long is at work, or while a series is open."""
GROWTH_BYTES = 50_000_000
SEED = int(os.environ.get("GRAMSCOPE_SOAK_SEED", "0"))


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect what the program reports that is not a sentence for the person."""
    found: list[str] = []
    told = messages.messages().post

    def post(message: messages.Message) -> None:
        if "Traceback" in message.detail and GramscopeError.__name__ not in message.detail:
            found.append(f"{message.sentence}\n{message.detail}")
        told(message)

    monkeypatch.setattr(messages.messages(), "post", post)
    return found


@pytest.fixture
def window(qtbot: QtBot, failures: list[str]) -> Iterator[MainWindow]:
    window = build()
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    window.opener.open_sample()
    qtbot.waitUntil(lambda: window.state.result is not None, timeout=60_000)
    yield window
    window.close()
    for widget in QApplication.topLevelWidgets():
        widget.close()
    QApplication.processEvents()
    shiboken6.delete(window)


@dataclass(frozen=True)
class Census:
    """What the program holds while it shows the sample, at rest."""

    resident: int
    threads: int
    timers: int
    widgets: int
    windows: int


def census(window: MainWindow, qtbot: QtBot) -> Census:
    """Go back to the sample, let everything end, and count."""
    for widget in (QApplication.activePopupWidget(), QApplication.activeModalWidget()):
        if widget is not None:
            widget.close()
    window.pages.show_page(0)
    window.opener.open_sample()
    window.state.update(device="auto")
    qtbot.waitUntil(lambda: at_rest(window), timeout=60_000)
    qtbot.wait(500)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    return Census(
        psutil.Process().memory_info().rss,
        threading.active_count(),
        sum(timer.isActive() for timer in window.findChildren(QTimer)),
        len(window.findChildren(QWidget)),
        len(QApplication.topLevelWidgets()),
    )


def scenes(window: MainWindow) -> dict[str, Callable[[], None]]:
    """Return what brings fields into sight that chance seldom does."""

    def on_sample(**changes: object) -> Callable[[], None]:
        def show() -> None:
            window.opener.open_sample()
            window.state.update(**changes)

        return show

    def undone() -> None:
        window.state.update(seed=window.state.params.seed + 1)
        window.workbench.history.undo()

    return {
        "something undone": undone,
        "an attack": on_sample(contamination="pgd", level=0.02),
        "synthetic data": lambda: window.open_recipe(Recipe(tokens=40)),
        "a spike": lambda: window.open_recipe(Recipe(kind="spiked", tokens=40)),
        "λ and μ by hand": on_sample(lam=3.0, mu=0.5),
        "the tour": window.workbench.tour.start,
    }


def work(window: MainWindow, qtbot: QtBot, tmp_path: Path, steps: int, failures: list[str]) -> None:
    monkey = Monkey(window, droppable(tmp_path), scenes(window), SEED)
    history: list[str] = []
    before = None
    for step in range(steps):
        if step == steps // 2:
            before = census(window, qtbot)
        history.append(monkey.step())
        assert not failures, "\n".join(["after", *history[-8:], *failures])
    after = census(window, qtbot)
    monkey.sweep()
    assert not failures, "\n".join(failures)
    assert before is not None
    for name, count in sorted(monkey.touched.items()):
        print(f"{count:5d}  {name}")
    print(f"{steps} acts on {len(monkey.touched)} things\n{before}\n{after}")
    never = sorted(monkey.everything() - monkey.touched.keys() - PASSING)
    assert not never, "never touched:\n" + "\n".join(never)
    assert after.resident - before.resident < GROWTH_BYTES
    assert after.threads <= before.threads + 2
    assert after.timers <= before.timers + 2
    assert after.widgets <= before.widgets + 40
    assert after.windows <= before.windows + 10


@pytest.mark.long
@pytest.mark.timeout(280)
def test_a_minute_of_random_work(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, failures: list[str]
) -> None:
    work(window, qtbot, tmp_path, STEPS, failures)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_ten_thousand_random_acts(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, failures: list[str]
) -> None:
    work(window, qtbot, tmp_path, LONG_STEPS, failures)
