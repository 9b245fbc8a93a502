"""The window asks before work that takes long, says how far it is, and lets a person leave it off."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from explorer import curves, robustness, runner
from explorer.app import build
from explorer.maths.response import Response
from explorer.ui import errands, exports
from explorer.ui.progress import TaskProgress
from explorer.ui.window import MainWindow
from tests.ui.desk import sentences


def press(qtbot: QtBot, button: QToolButton) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    """Return a window that computes behind itself, as people have it, on the sample at rest."""
    window = build()
    with qtbot.waitExposed(window):
        window.show()
    window.opener.open_sample()
    qtbot.waitUntil(lambda: window.state.result is not None and window.state.result.final, timeout=30_000)
    yield window
    window.close()
    shiboken6.delete(window)


def offered(window: MainWindow, text: str) -> QToolButton | None:
    for bar in window.messages.bars:
        if bar.message.action is not None and bar.message.action[0] == text:
            return next(button for button in bar.findChildren(QToolButton) if button.text() == text)
    return None


def test_an_attack_begins_when_it_is_agreed_to(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "LONG_S", 0.0)
    before = window.state.result
    window.state.update(contamination="pgd", level=0.1, steps=2)
    qtbot.waitUntil(lambda: offered(window, "Compute") is not None, timeout=10_000)
    assert sentences(window)[0].startswith("This attack takes about 5 s: 2 gradients")
    assert window.state.result is before, "the picture before it stays"
    press(qtbot, offered(window, "Compute"))
    qtbot.waitUntil(lambda: window.state.result.params.contamination == "pgd", timeout=10_000)
    qtbot.waitUntil(lambda: window.state.result.final, timeout=30_000)
    assert window.state.result.errors.softmax > 0 and not sentences(window)


def test_an_offer_goes_with_its_parameters(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "LONG_S", 0.0)
    window.state.update(contamination="fgsm", level=0.1)
    qtbot.waitUntil(lambda: offered(window, "Compute") is not None, timeout=10_000)
    window.state.update(level=0.0)
    assert offered(window, "Compute") is None


def test_long_curves_are_offered_and_can_be_left_off(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curves, "remaining", lambda spent, done, wanted: 100.0 * (wanted - done) / wanted)
    compute = curves.InputCurves._next

    def unhurried(job: curves.InputCurves, should_stop: Callable[[], bool]) -> Response:
        time.sleep(0.1)
        return compute(job, should_stop)

    monkeypatch.setattr(curves.InputCurves, "_next", unhurried)
    view = window.explore.panels["outputs"].view
    window.state.update(contamination="salt and pepper", level=0.1)
    qtbot.waitUntil(lambda: view.asking.button.text() == "Compute", timeout=10_000)
    assert view.asking.progress.text().startswith("the whole curves take about ")
    waiting = window.state.result
    assert waiting.final and waiting.curves.waits
    press(qtbot, view.asking.button)
    qtbot.waitUntil(lambda: view.asking.button.text() == "Cancel", timeout=10_000)
    assert view.asking.progress.text().endswith("left")
    press(qtbot, view.asking.button)
    qtbot.waitUntil(lambda: window.state.result.final, timeout=10_000)
    assert view.asking.button.text() == "Go on" and window.state.result.curves.outcome == "unknown"
    press(qtbot, view.asking.button)
    qtbot.waitUntil(lambda: window.state.result.curves.outcome != "unknown", timeout=60_000)
    assert window.state.result.final and not view.asking.button.isVisible()


def test_a_long_diagram_waits_for_a_yes_and_can_be_cancelled(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    go.set()

    def remaining(spent: float, done: int, wanted: int) -> float:
        go.wait(20)
        return 1e6 if done < wanted else 0.0

    monkeypatch.setattr(robustness, "remaining", remaining)
    titles = [window.pages.row.tabText(i) for i in range(window.pages.count)]
    window.pages.show_page(titles.index("Robustness"))
    page = window.pages.page(window.pages.place)
    asking = page.phase.asking
    qtbot.waitUntil(lambda: asking.button.text() == "Compute", timeout=10_000)
    assert asking.progress.text() == "the whole diagram takes about 278 h"
    go.clear()
    press(qtbot, asking.button)
    qtbot.waitUntil(lambda: asking.button.text() == "Cancel", timeout=10_000)
    press(qtbot, asking.button)
    go.set()
    assert asking.button.text() == "Begin again" and page._phase_of not in page._kept
    press(qtbot, asking.button)
    qtbot.waitUntil(lambda: page._phase_of in page._kept, timeout=60_000)
    qtbot.waitUntil(lambda: not asking.button.isVisible())


def cancel_of(window: MainWindow) -> QPushButton | None:
    bars = window.messages.findChildren(TaskProgress)
    return next((bar.cancel for bar in bars if bar.isVisible()), None)


def test_many_numbers_are_written_behind_the_window(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(exports, "PER_SECOND", 20)
    monkeypatch.setattr(errands, "SLOW_MS", 0)
    go, steps = threading.Event(), []

    def slow(parts, kind, progress, should_stop):
        progress(1, 4, "writing 4 numbers")
        go.wait(20)
        steps.append(should_stop())
        return b"numbers"

    monkeypatch.setattr(exports, "encode", slow)
    for cancels in (True, False):
        go.clear()
        window.exports.try_save(None, tmp_path / "a.csv")
        assert "takes about" in sentences(window)[0] and len(steps) == 1 - cancels, "it waits for a yes"
        press(qtbot, offered(window, "Begin"))
        qtbot.waitUntil(lambda: cancel_of(window) is not None, timeout=10_000)
        assert sentences(window)[0] == "Writing a.csv. You can go on meanwhile."
        window.state.update(seed=window.state.params.seed + 1)
        if cancels:
            qtbot.mouseClick(cancel_of(window), Qt.MouseButton.LeftButton)
            assert sentences(window) == []
        go.set()
        qtbot.waitUntil(lambda done=2 - cancels: len(steps) == done, timeout=10_000)
    qtbot.waitUntil(lambda: sentences(window) == [f"Saved a.csv in {tmp_path}."], timeout=10_000)
    assert steps == [True, False]
    assert (tmp_path / "a.csv").read_bytes() == b"numbers"


def test_too_many_numbers_for_the_clipboard(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.ui.export.MOST_COPIED", 10)
    QApplication.clipboard().setText("mine")
    panel = window.explore.panels["attention"]
    panel.menu_button.menu().actions()[2].trigger()
    assert "too many for the clipboard" in sentences(window)[0]
    assert QApplication.clipboard().text() == "mine"


def test_captured_heads_can_be_cancelled(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(errands, "SLOW_MS", 0)
    go, ended = threading.Event(), threading.Event()
    source = window.state.source
    capture = source.capture

    def slow(*args, **kwargs):
        go.wait(20)
        ended.set()
        return capture(*args, **kwargs)

    monkeypatch.setattr(source, "capture", slow)
    window.save_captured(tmp_path / "a.npz")
    qtbot.waitUntil(lambda: cancel_of(window) is not None, timeout=10_000)
    assert sentences(window)[0].startswith("Saving the heads of ")
    qtbot.mouseClick(cancel_of(window), Qt.MouseButton.LeftButton)
    assert sentences(window) == []
    go.set()
    assert ended.wait(10)
    window.errands.close()
    assert not list(tmp_path.glob("*.npz"))
