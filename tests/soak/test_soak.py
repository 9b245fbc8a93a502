"""Random work at the window: no exception, no warning, no leak, and no part that was never touched."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.errors import GramscopeError
from explorer.ui import messages
from explorer.ui.window import MainWindow
from tests.soak.census import PATIENCE_MS, census, return_freed_memory
from tests.soak.files import droppable
from tests.soak.monkey import Monkey
from tests.soak.scenes import scenes

STEPS, LONG_STEPS, REST_EVERY = 150, 10_000, 1000
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
    return_freed_memory()
    window = build()
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    yield window
    window.close()
    for widget in QApplication.topLevelWidgets():
        widget.close()
    QApplication.processEvents()
    shiboken6.delete(window)


def work(window: MainWindow, qtbot: QtBot, tmp_path: Path, steps: int, failures: list[str]) -> None:
    """Touch everything, then work at random; what that leaves is compared with what the first left."""
    drops = droppable(tmp_path)
    monkey = Monkey(window, drops, scenes(window, drops), SEED)
    history: list[str] = []
    monkey.touch("QToolButton: Sample: digits")
    qtbot.waitUntil(lambda: window.state.result is not None, timeout=PATIENCE_MS)
    monkey.sweep(patience=1.0)
    before = after = census(window, qtbot)
    for step in range(1, steps + 1):
        history.append(monkey.step())
        assert not failures, "\n".join(["after", *history[-8:], *failures])
        if step % REST_EVERY == 0 or step == steps:
            after = census(window, qtbot)
            print(f"{step:5d} acts  {after}", flush=True)
    for patience in (1.0, 5.0, 20.0):
        monkey.seek(patience)
    assert not failures, "\n".join(failures)
    for name, count in sorted(monkey.touched.items()):
        print(f"{count:5d}  {name}")
    print(f"{monkey.touched.total()} acts on {len(monkey.touched)} things\n{before}\n{after}")
    never = monkey.missing()
    assert not never, "never touched:\n" + "\n".join(never)
    assert after.memory - before.memory < GROWTH_BYTES
    assert after.threads <= before.threads + 2
    assert after.timers <= before.timers
    assert after.widgets <= before.widgets + 40
    assert after.windows <= before.windows + 10


@pytest.mark.timeout(1200)
def test_everything_is_touched_and_nothing_leaks(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, failures: list[str]
) -> None:
    work(window, qtbot, tmp_path, STEPS, failures)


@pytest.mark.long
@pytest.mark.timeout(14400)
def test_ten_thousand_random_acts(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, failures: list[str]
) -> None:
    work(window, qtbot, tmp_path, LONG_STEPS, failures)
