from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from explorer.lab import prompts, worker
from explorer.lab.setting import Data, Setting
from explorer.lab.worker import News, Worker

SMALL = Setting(batch=8, length=8)


class Listener:
    """Takes the news until some of it is what a test waits for."""

    def __init__(self, setting: Setting) -> None:
        self._told = threading.Event()
        self.worker = Worker(setting, self._told.set)

    def until(self, wanted: Callable[[News], bool]) -> News:
        for _ in range(500):
            assert self._told.wait(20)
            self._told.clear()
            news = self.worker.take()
            if news is not None and wanted(news):
                return news
        raise AssertionError("it never came")


@pytest.fixture
def listener():
    made = Listener(SMALL)
    yield made
    made.worker.close()


def test_steps_are_exact(listener):
    listener.until(lambda news: news.snapshot.step == 0)
    for _ in range(3):
        listener.worker.step()
    listener.until(lambda news: news.snapshot.step == 3)


def test_what_is_refused_leaves_what_was(listener):
    listener.until(lambda news: news.snapshot is not None)
    listener.worker.run(True)
    listener.worker.change(SMALL.but(data=Data("rows", path="/nowhere.csv")))
    news = listener.until(lambda news: news.error is not None)
    assert news.setting == SMALL and not news.running
    listener.worker.step()
    listener.until(lambda news: news.snapshot is not None and news.error is None)


def test_what_was_set_just_before_a_refusal_stays(listener):
    listener.until(lambda news: news.snapshot is not None)
    warmer = SMALL.but(coupling=0.5)
    with listener.worker._lock:  # so that the thread sees both at once
        listener.worker.change(warmer)
        listener.worker.change(warmer.but(data=Data("rows", path="/nowhere.csv")))
    assert listener.until(lambda news: news.error is not None).setting == warmer


def test_a_first_setting_that_is_refused_is_replaced():
    listener = Listener(SMALL.but(data=Data("rows", path="/nowhere.csv")))
    assert listener.until(lambda news: news.error is not None).setting is None
    listener.worker.run(True)
    listener.worker.change(SMALL)
    listener.until(lambda news: news.snapshot is not None)
    listener.worker.close()


def test_closing_while_training_ends_the_thread(listener):
    listener.worker.run(True)
    listener.until(lambda news: news.snapshot is not None and news.snapshot.step > 0)
    listener.worker.close()
    assert "gramscope-laboratory" not in [thread.name for thread in threading.enumerate()]


def test_closing_does_not_wait_for_a_drive_that_is_gone(monkeypatch):
    gone = threading.Event()
    monkeypatch.setattr(prompts, "load_rows", lambda *_: gone.wait(30))
    monkeypatch.setattr(worker, "CLOSING_S", 0.1)
    listener = Listener(SMALL)
    listener.until(lambda news: news.snapshot is not None)
    listener.worker.change(SMALL.but(data=Data("rows", path="/gone.csv")))
    listener.worker.close()
    gone.set()
    for thread in threading.enumerate():
        if thread.name == "gramscope-laboratory":
            thread.join(20)
