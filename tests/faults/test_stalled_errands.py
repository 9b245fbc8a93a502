"""A drive that takes what is written and never says so: the window lives, tells, and lets go."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from explorer import settings, threads
from explorer.app import build
from explorer.models.recipes import Recipe
from explorer.ui import drop, errands
from explorer.ui.lab import LabPage
from explorer.ui.window import MainWindow
from tests.faults.test_stalled import release
from tests.ui.desk import SMALL, sentences

OLD = b"what was there before"
Write = Callable[[MainWindow, Path], None]


class Drive:
    """Stalls until it is let go."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.asked = threading.Event()

    def stall(self, descriptor: int) -> None:
        self.asked.set()
        self.free.wait(60)


@pytest.fixture
def drive(monkeypatch: pytest.MonkeyPatch) -> Iterator[Drive]:
    drive = Drive()
    monkeypatch.setattr(settings.os, "fsync", drive.stall)
    monkeypatch.setattr(errands, "SLOW_MS", 100)
    yield drive
    drive.free.set()
    threads.wait([thread for thread in threading.enumerate() if thread.name == "gramscope-errand"])


@pytest.fixture
def live(qtbot: QtBot, drive: Drive) -> Iterator[MainWindow]:
    window = build()
    window.show()
    window.open_recipe(SMALL)
    qtbot.waitUntil(lambda: window.state.result is not None, timeout=20_000)
    yield window
    drive.free.set()
    window.close()
    window.deleteLater()


def save_session(window: MainWindow, path: Path) -> None:
    window.workbench.sessions.save_to(path)


def export(window: MainWindow, path: Path) -> None:
    window.exports.try_save(None, path)


WRITERS = pytest.mark.parametrize(
    ("write", "name"), [(save_session, "a.gramscope"), (export, "a.png"), (export, "a.csv")]
)


def lives(window: MainWindow, qtbot: QtBot) -> None:
    level = window.state.params.level + 0.01
    window.state.update(level=level)
    qtbot.waitUntil(lambda: window.state.result.params.level == level, timeout=20_000)


def told_of(window: MainWindow, qtbot: QtBot, words: str) -> None:
    qtbot.waitUntil(lambda: any(words in said for said in sentences(window)), timeout=20_000)


def press_cancel(window: MainWindow) -> None:
    message = window.messages.bars[0].message
    assert message.action is not None and message.action[0] == "Cancel"
    message.action[1]()


@WRITERS
def test_it_is_told_and_cancelled_and_writes_nothing_later(
    write: Write, name: str, live: MainWindow, drive: Drive, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(OLD)
    begin = time.monotonic()
    write(live, path)
    assert time.monotonic() - begin < 5
    lives(live, qtbot)
    told_of(live, qtbot, f"Writing {name} takes long")
    press_cancel(live)
    assert sentences(live) == []
    drive.free.set()
    qtbot.waitUntil(lambda: not list(tmp_path.glob(".gramscope-*")), timeout=20_000)
    assert path.read_bytes() == OLD
    lives(live, qtbot)


@WRITERS
def test_a_drive_that_comes_back(
    write: Write, name: str, live: MainWindow, drive: Drive, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / name
    write(live, path)
    told_of(live, qtbot, "takes long")
    assert not path.exists()
    drive.free.set()
    told_of(live, qtbot, f"Saved {name}")
    assert path.exists()
    assert not any("takes long" in said for said in sentences(live))


def test_one_file_does_not_wait_for_another(
    live: MainWindow, drive: Drive, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_session(live, tmp_path / "a.gramscope")
    assert drive.asked.wait(20)
    monkeypatch.setattr(settings.os, "fsync", lambda descriptor: None)
    export(live, tmp_path / "b.csv")
    told_of(live, qtbot, "Saved b.csv")
    assert not (tmp_path / "a.gramscope").exists()


def test_the_same_file_again_takes_the_place_of_what_waits(
    live: MainWindow, drive: Drive, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.gramscope"
    save_session(live, path)
    assert drive.asked.wait(20)
    monkeypatch.setattr(settings.os, "fsync", lambda descriptor: None)
    live.state.update(seed=77)
    save_session(live, path)
    told_of(live, qtbot, "Saved a.gramscope")
    drive.free.set()
    qtbot.waitUntil(lambda: not list(tmp_path.glob(".gramscope-*")), timeout=20_000)
    assert '"seed": 77' in path.read_text()


def test_closing_waits_a_little_for_what_is_written(
    live: MainWindow, drive: Drive, qtbot: QtBot, tmp_path: Path
) -> None:
    save_session(live, tmp_path / "a.gramscope")
    assert drive.asked.wait(20)
    threading.Timer(0.5, drive.free.set).start()
    live.close()
    assert (tmp_path / "a.gramscope").exists()


def test_closing_does_not_wait_for_ever(live: MainWindow, drive: Drive, tmp_path: Path) -> None:
    save_session(live, tmp_path / "a.gramscope")
    assert drive.asked.wait(20)
    begin = time.monotonic()
    live.close()
    assert time.monotonic() - begin < 3 * threads.CLOSING_S
    assert threads.left()


@pytest.fixture
def far_away(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "far-away.gramscope"
    os.mkfifo(path)
    yield path
    release(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe stands for the drive")
class TestReading:
    """A session whose first byte never comes."""

    @pytest.fixture(autouse=True)
    def as_a_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("stat.S_ISREG", lambda mode: True)

    def test_it_is_told_and_cancelled(self, far_away: Path, live: MainWindow, qtbot: QtBot) -> None:
        live.workbench.sessions.open(far_away)
        lives(live, qtbot)
        told_of(live, qtbot, "Reading far-away.gramscope takes long")
        press_cancel(live)
        assert sentences(live) == []
        lives(live, qtbot)

    def test_what_is_opened_meanwhile_stays(self, far_away: Path, live: MainWindow, qtbot: QtBot) -> None:
        live.workbench.sessions.open(far_away)
        told_of(live, qtbot, "takes long")
        live.open_recipe(Recipe(tokens=9, dim=4))
        qtbot.waitUntil(lambda: live.state.result.map.shape == (9, 9), timeout=20_000)
        assert sentences(live) == []

    def test_it_is_given_up(
        self, far_away: Path, live: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("explorer.models.patience.PATIENCE_S", 0.2)
        live.workbench.sessions.open(far_away)
        told_of(live, qtbot, "does not answer")
        lives(live, qtbot)


def test_a_sweep(live: MainWindow, drive: Drive, qtbot: QtBot, tmp_path: Path) -> None:
    live.pages.show_page(live.pages.count - 1)
    page = live.findChild(LabPage)
    page.sweeps._errands.write_and_tell({tmp_path / "a.csv": b"1", tmp_path / "a.svg": b"2"})
    told_of(live, qtbot, "Writing a.csv takes long")
    drive.free.set()
    told_of(live, qtbot, "Saved a.csv and a.svg")
    assert (tmp_path / "a.svg").read_bytes() == b"2"


def test_a_drag_does_not_wait(drive: Drive, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stall(folder: Path) -> None:
        drive.free.wait(60)
        raise OSError

    monkeypatch.setattr(drop.os, "scandir", stall)
    begin = time.monotonic()
    assert drop.intent([tmp_path]) == ("open", "Open as checkpoint")
    assert time.monotonic() - begin < threads.GLANCE_S + 2
