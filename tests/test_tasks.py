"""Background work: the latest wins, cancel drops the outcome, a failure is told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from explorer.errors import GramscopeError, Stopped
from explorer.tasks import Progress, ShouldStop, Task


@pytest.fixture
def task(qtbot: QtBot) -> Iterator[Task]:
    task = Task("test")
    yield task
    task.close()


def until_stopped(progress: Progress, should_stop: ShouldStop) -> None:
    while not should_stop():
        threading.Event().wait(0.005)
    raise Stopped


def test_progress_then_outcome(qtbot: QtBot, task: Task) -> None:
    def work(progress: Progress, should_stop: ShouldStop) -> str:
        progress(1, 2, "half")
        return "whole"

    with qtbot.waitSignals([task.progressed, task.done, task.running_changed], order="none"):
        task.run(work)


def test_two_in_a_row_end_with_the_second(qtbot: QtBot, task: Task) -> None:
    outcomes: list[Any] = []
    task.done.connect(outcomes.append)
    task.run(until_stopped)
    task.run(lambda progress, should_stop: "second")
    qtbot.waitUntil(lambda: outcomes == ["second"])


def test_a_late_first_outcome_is_dropped(qtbot: QtBot, task: Task) -> None:
    gate = threading.Event()
    outcomes: list[Any] = []
    task.done.connect(outcomes.append)
    task.run(lambda progress, should_stop: gate.wait(5) and "first")
    task.run(lambda progress, should_stop: "second")
    gate.set()
    qtbot.waitUntil(lambda: "second" in outcomes)
    qtbot.wait(20)
    assert outcomes == ["second"]


def test_cancel_drops_the_outcome(qtbot: QtBot, task: Task) -> None:
    states: list[bool] = []
    task.running_changed.connect(states.append)
    with qtbot.assertNotEmitted(task.done, wait=50):
        task.run(until_stopped)
        task.cancel()
    assert states == [True, False]


def test_a_failure_is_told(qtbot: QtBot, task: Task) -> None:
    def work(progress: Progress, should_stop: ShouldStop) -> None:
        raise GramscopeError("No. Do something else.")

    with qtbot.waitSignal(task.failed) as told:
        task.run(work)
    assert str(told.args[0]) == "No. Do something else."
