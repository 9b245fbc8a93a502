"""Whatever a worker or a slot raises: a message with its traceback, and the program goes on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.ui import messages
from explorer.ui.window import MainWindow
from tests.ui.desk import SMALL


@pytest.fixture
def live(qtbot: QtBot) -> Iterator[MainWindow]:
    """A window with its real threads and hooks, on a small head."""
    window = build()
    window.show()
    window.open_recipe(SMALL)
    qtbot.waitUntil(lambda: window.state.result is not None, timeout=20_000)
    restore = messages.install_hooks()
    yield window
    restore()
    window.close()
    window.deleteLater()


def fail(*args: Any, **kwargs: Any) -> Any:
    raise ZeroDivisionError("by accident")


def told(live: MainWindow, qtbot: QtBot) -> None:
    """Wait for the message, look at it, and see that the window still works."""
    qtbot.waitUntil(lambda: bool(live.messages.bars), timeout=20_000)
    message = live.messages.bars[0].message
    assert "ZeroDivisionError" in message.sentence
    assert "in fail" in message.detail
    live.state.update(level=0.25)
    qtbot.waitUntil(lambda: live.state.result.params.level == 0.25, timeout=20_000)


def test_the_evaluation(live: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("explorer.stages.attend", fail)
        live.state.update(level=0.1)
        qtbot.waitUntil(lambda: bool(live.messages.bars), timeout=20_000)
    told(live, qtbot)


def test_opening(live: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.models.digits.sample_source", fail)
    live.opener.open_sample()
    told(live, qtbot)


def test_a_task(live: MainWindow, qtbot: QtBot) -> None:
    live.errands.run("a", "Failing", fail, print)
    told(live, qtbot)


def test_a_slot(live: MainWindow, qtbot: QtBot) -> None:
    with qtbot.captureExceptions() as caught:
        QTimer.singleShot(0, fail)
        qtbot.waitUntil(lambda: bool(caught), timeout=20_000)
    sys.excepthook(*caught[0])
    told(live, qtbot)
