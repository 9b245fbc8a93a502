"""Streams: items on the way, the last one always, the latest run wins, holding and cancelling."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from explorer.errors import GramscopeError
from explorer.streams import Stream


@pytest.fixture
def stream(qtbot: QtBot) -> Iterator[Stream]:
    stream = Stream("test")
    yield stream
    stream.hold(False)
    stream.close()


def counting(to: int) -> Callable[[Callable[[], bool]], Iterator[int]]:
    def produce(should_stop: Callable[[], bool]) -> Iterator[int]:
        yield from range(1, to + 1)

    return produce


def endless(should_stop: Callable[[], bool]) -> Iterator[int]:
    number = 0
    while True:
        threading.Event().wait(0.002)
        yield (number := number + 1)


def test_the_last_item_always_arrives(qtbot: QtBot, stream: Stream) -> None:
    heard: list[int] = []
    stream.item.connect(heard.append)
    with qtbot.waitSignal(stream.finished):
        stream.run(counting(1000))
    assert heard[-1] == 1000
    assert heard == sorted(heard)


def test_the_latest_run_wins(qtbot: QtBot, stream: Stream) -> None:
    heard: list[int] = []
    stream.run(endless)
    stream.item.connect(heard.append)
    with qtbot.waitSignal(stream.finished):
        stream.run(counting(3))
    qtbot.wait(20)
    assert heard[-1] == 3


def test_holding_waits_and_letting_go_continues(qtbot: QtBot, stream: Stream) -> None:
    heard: list[int] = []
    stream.item.connect(heard.append)
    stream.run(endless)
    qtbot.waitUntil(lambda: len(heard) > 2)
    stream.hold(True)
    qtbot.wait(100)
    count = len(heard)
    qtbot.wait(50)
    assert len(heard) <= count + 1
    stream.hold(False)
    qtbot.waitUntil(lambda: len(heard) > count + 1)


def test_cancel_stops_it(qtbot: QtBot, stream: Stream) -> None:
    stream.run(endless)
    with qtbot.waitSignal(stream.running_changed) as told:
        stream.cancel()
    assert told.args == [False]
    stream.close()
    assert not any(thread.name == "gramscope-test" for thread in threading.enumerate())


def test_a_failure_is_told_after_what_came(qtbot: QtBot, stream: Stream) -> None:
    def produce(should_stop: Callable[[], bool]) -> Iterator[int]:
        yield 1
        raise GramscopeError("No.")

    heard: list[int] = []
    stream.item.connect(heard.append)
    with qtbot.waitSignal(stream.failed):
        stream.run(produce)
    assert heard == [1]


def test_inline_runs_at_once(qtbot: QtBot) -> None:
    stream, heard = Stream("inline", inline=True), []
    stream.item.connect(heard.append)
    stream.run(counting(4))
    assert heard == [4]
