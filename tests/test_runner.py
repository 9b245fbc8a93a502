"""Latest wins, and a drag animates."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from explorer import runner as module
from explorer.errors import GramscopeError, Stopped
from explorer.pace import LONG_S
from explorer.params import Params
from explorer.runner import Runner
from explorer.state import State


class Source:
    """Stands for a source."""

    def close(self) -> None:
        """Hold nothing."""


@dataclass(frozen=True)
class Step:
    """Stands for a result."""

    final: bool


class Slow:
    """An evaluation that waits at a gate before its first result, and can then go on for ever."""

    def __init__(self, after: int = 0) -> None:
        self.gate = threading.Semaphore(0)
        self.started: list[Params] = []
        self.after = after

    def __call__(
        self, params: Params, source: Any, should_stop: Callable[[], bool], agreed: float
    ) -> Iterator[Any]:
        self.started.append(params)
        while not self.gate.acquire(timeout=0.01):
            if should_stop():
                raise Stopped
        yield SimpleNamespace(params=params, step=0)
        for step in range(1, self.after + 1):
            if should_stop():
                return
            yield SimpleNamespace(params=params, step=step)


@pytest.fixture
def running(qtbot: QtBot) -> Iterator[tuple[State, Runner, Slow]]:
    state, slow = State(), Slow()
    runner = Runner(state, lambda: slow)
    state.open(Source(), Params())
    yield state, runner, slow
    runner.close()


def test_a_newer_request_replaces_the_waiting_one(qtbot: QtBot, running: tuple[State, Runner, Slow]) -> None:
    state, _, slow = running
    qtbot.waitUntil(lambda: len(slow.started) == 1)
    for level in (0.1, 0.2, 0.3):
        state.update(level=level)
    slow.gate.release(10)
    qtbot.waitUntil(lambda: state.result is not None and state.result.params.level == 0.3)
    assert [p.level for p in slow.started] == [0.0, 0.3]


def test_a_steady_drag_shows_results_on_the_way(qtbot: QtBot, running: tuple[State, Runner, Slow]) -> None:
    state, _, slow = running
    shown: list[float] = []
    state.result_changed.connect(lambda result: shown.append(result.params.level))
    for step in range(1, 6):
        started = len(slow.started)
        state.update(level=step / 10)
        slow.gate.release()
        qtbot.waitUntil(lambda started=started: len(slow.started) > started or bool(shown))
        qtbot.wait(5)
    slow.gate.release(10)
    qtbot.waitUntil(lambda: shown[-1:] == [0.5])
    assert len(shown) > 1


def test_another_head_stops_what_runs(qtbot: QtBot, running: tuple[State, Runner, Slow]) -> None:
    state, _, slow = running
    qtbot.waitUntil(lambda: len(slow.started) == 1)
    state.update(head=1)
    qtbot.waitUntil(lambda: len(slow.started) == 2)
    slow.gate.release()
    qtbot.waitUntil(lambda: state.result is not None)
    assert state.result.params.head == 1


def test_a_result_of_a_source_that_is_gone_is_dropped(qtbot: QtBot) -> None:
    state, slow = State(), Slow()
    runner = Runner(state, lambda: slow)
    state.open(Source(), Params())
    qtbot.waitUntil(lambda: len(slow.started) == 1)
    shown: list[Any] = []
    state.result_changed.connect(shown.append)
    slow.gate.release()
    runner._thread.join(0.2)
    state.source = Source()
    qtbot.wait(20)
    assert shown == []
    runner.close()


def test_what_follows_gives_way(qtbot: QtBot) -> None:
    state, endless = State(), Slow(after=10**9)
    runner = Runner(state, lambda: endless)
    state.open(Source(), Params())
    endless.gate.release()
    qtbot.waitUntil(lambda: state.result is not None and state.result.step > 3)
    endless.gate.release()
    state.update(level=0.4)
    qtbot.waitUntil(lambda: state.result.params.level == 0.4)
    runner.close()


def test_a_failure_is_told_and_the_old_result_stays(qtbot: QtBot) -> None:
    def evaluate(
        params: Params, source: Any, should_stop: Callable[[], bool], agreed: float
    ) -> Iterator[Any]:
        if params.level > 0:
            raise GramscopeError("It does not work. Do something else.")
        yield SimpleNamespace(params=params)

    state = State()
    runner = Runner(state, lambda: evaluate)
    state.open(Source(), Params())
    qtbot.waitUntil(lambda: state.result is not None)
    before = state.result
    with qtbot.waitSignal(runner.failed) as told:
        state.update(level=0.1)
    assert str(told.args[0]) == "It does not work. Do something else."
    assert state.result is before
    state.update(level=0.0)
    qtbot.waitUntil(lambda: state.result is not before)
    runner.close()


def test_closing_during_work_stops_it(qtbot: QtBot) -> None:
    state, slow = State(), Slow()
    runner = Runner(state, lambda: slow)
    state.open(Source(), Params())
    qtbot.waitUntil(lambda: len(slow.started) == 1)
    thread = runner._thread
    runner.close()
    assert not thread.is_alive()
    state.update(level=0.2)
    assert len(slow.started) == 1


def test_inline_evaluates_at_once(qtbot: QtBot) -> None:
    state, slow = State(), Slow(after=2)
    slow.gate.release()
    Runner(state, lambda: slow, inline=True, parent=state)
    state.open(Source(), Params())
    assert state.result.step == 2


def test_leaving_off_keeps_the_picture_and_says_that_it_rests(qtbot: QtBot) -> None:
    state, step = State(), threading.Event()
    agreed_to: list[float] = []

    def evaluate(
        params: Params, source: Any, should_stop: Callable[[], bool], agreed: float
    ) -> Iterator[Any]:
        agreed_to.append(agreed)
        while True:
            yield Step(final=False)
            step.wait(0.005)

    runner = Runner(state, lambda: evaluate)
    state.open(Source(), Params())
    qtbot.waitUntil(lambda: state.result is not None)
    with qtbot.waitSignal(runner.busy_changed, check_params_cb=lambda busy: not busy):
        runner.leave_off()
    assert state.result.final
    with qtbot.waitSignal(state.result_changed):
        runner.agree()
    state.open(Source(), Params())
    qtbot.waitUntil(lambda: len(agreed_to) == 3)
    assert agreed_to == [LONG_S, math.inf, LONG_S], "agreed for one source, not for the next"
    runner.close()


def test_what_takes_long_gives_way_to_the_same_head(
    qtbot: QtBot, running: tuple[State, Runner, Slow], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)
    state, _, slow = running
    qtbot.waitUntil(lambda: len(slow.started) == 1)
    state.update(level=0.1)
    qtbot.waitUntil(lambda: len(slow.started) == 2)
    assert state.result is None, "the gate was never opened"
