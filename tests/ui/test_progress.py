"""Long work says what it does, how long it will take, and can be cancelled."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow, QMenu
from pytestqt.qtbot import QtBot
from safetensors.torch import save_file

from explorer import pace
from explorer.models import opening_time
from explorer.models.opening_time import OpeningTime
from explorer.pace import duration, remaining
from explorer.state import State
from explorer.tasks import Progress, ShouldStop, Task
from explorer.ui import progress as shown
from explorer.ui.opener import Opener
from explorer.ui.progress import TaskProgress
from explorer.ui.source_bar import SourceBar


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(2, "about 5 s"), (42, "about 40 s"), (89, "about 90 s"), (200, "about 3 min"), (7300, "about 2 h")],
)
def test_a_time_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("elapsed", "done", "total", "left"),
    [(10, 25, 100, 30), (10, 100, 100, 0), (0.5, 50, 100, None), (10, 0, 100, None), (10, 5, 0, None)],
)
def test_what_is_left(elapsed: float, done: int, total: int, left: float | None) -> None:
    assert remaining(elapsed, done, total) == left


def test_it_comes_with_the_work_and_cancels_it(qtbot: QtBot) -> None:
    task = Task("test")
    bar = TaskProgress(task)
    qtbot.addWidget(bar)
    assert bar.isHidden()
    stopped, go = threading.Event(), threading.Event()

    def work(progress: Progress, should_stop: ShouldStop) -> None:
        progress(1, 4, "reading")
        go.wait(5)
        while not should_stop():
            pass
        stopped.set()

    task.run(work)
    qtbot.waitUntil(lambda: bar.what.text() == "reading")
    assert bar.bar.value() / bar.bar.maximum() == 1 / 4
    assert bar.isVisible()
    qtbot.mouseClick(bar.cancel, Qt.MouseButton.LeftButton)
    assert bar.isHidden()
    go.set()
    assert stopped.wait(5)
    task.close()


def test_long_work_says_how_long_before_and_meanwhile(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_S", 0.0)
    monkeypatch.setattr(shown, "LONG_S", 0.01)
    task = Task("test", inline=True)
    bar = TaskProgress(task)
    qtbot.addWidget(bar)
    bar.announce("sweeping", 40.0)
    assert bar.what.text() == "sweeping, about 40 s"
    bar.announce("sweeping", 0.001)
    assert bar.what.text() == "sweeping"
    heard: list[str] = []

    def work(progress: Progress, should_stop: ShouldStop) -> None:
        threading.Event().wait(0.02)
        progress(1, 2000, "sweeping")
        heard.append(bar.what.text())

    task.run(work)
    assert heard[0].startswith("sweeping, about ") and heard[0].endswith("left")
    assert bar.isHidden()


def test_opening_is_shown_in_the_source_bar_with_cancel(qtbot: QtBot) -> None:
    task = Task("test")
    window = QMainWindow()
    qtbot.addWidget(window)
    bar = SourceBar(State(), QMenu(window), task)
    window.addToolBar(bar)
    window.resize(1280, 200)
    with qtbot.waitExposed(window):
        window.show()
    assert not bar.progress.isVisible()

    def work(progress: Progress, should_stop: ShouldStop) -> None:
        progress(3, 10, "reading weights")
        while not should_stop():
            pass

    task.run(work)
    qtbot.waitUntil(lambda: bar.progress.what.text() == "reading weights")
    assert bar.progress.isVisible() and bar.progress.width() > 100
    qtbot.mouseClick(bar.progress.cancel, Qt.MouseButton.LeftButton)
    assert not bar.progress.isVisible()
    task.close()


def test_opening_says_how_long_before_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    q, k, v = torch.randn(3, 8, 4)
    save_file({"q": q.contiguous(), "k": k.contiguous(), "v": v.contiguous()}, tmp_path / "heads.safetensors")
    monkeypatch.setattr(opening_time, "opening_time", lambda *_: OpeningTime(13_500_000_000, 42.0))
    opener = Opener(State(), inline=True)
    told: list[tuple[int, int, str]] = []
    opener.task.progressed.connect(lambda *news: told.append(news))
    opener.open_paths([tmp_path / "heads.safetensors"])
    assert told[0] == (0, 13_500_000_000, "reading heads.safetensors, 13.5 GB, about 40 s")
    assert len(told) > 1 and all(what.endswith("about 40 s") for *_, what in told)


def test_more_bytes_than_a_small_number_holds_are_told(qtbot: QtBot) -> None:
    task = Task("test", inline=True)
    bar = TaskProgress(task)
    qtbot.addWidget(bar)
    told: list[int] = []
    task.progressed.connect(lambda *_: told.append(bar.bar.value() * 100 // bar.bar.maximum()))
    task.run(lambda progress, _: progress(3 * 2**40, 2**42, "reading"))
    assert told == [75]
