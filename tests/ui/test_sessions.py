"""Sessions in the window: saved, opened, dropped, kept through a crash; and the list of recent ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QToolButton
from pytestqt.qtbot import QtBot

from explorer.models.recipes import Recipe
from explorer.params import Params
from explorer.session import Origin, Pin, Session, load, save
from explorer.settings import settings
from explorer.ui.autosave import left_behind
from explorer.ui.drop import intent
from explorer.ui.recents import Recents
from explorer.ui.sessions import last_session, same_kinds
from explorer.ui.window import MainWindow
from explorer.views.overview import OverviewView
from tests.ui.desk import CTRL, SMALL, press, sentences, settle, sit_down

Key = Qt.Key
ROOT = Path(__file__).parents[2]


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot) as window:
        yield window


@pytest.fixture
def heads(tmp_path: Path) -> Path:
    path = tmp_path / "heads.npz"
    draw = np.random.default_rng(0)
    np.savez(path, **{name: draw.normal(size=(2, 9, 4)) for name in "qkv"})
    return path


def answer(window: MainWindow, path: Path) -> None:
    """Choose a file in the dialog that is open."""
    dialog = window.findChild(QFileDialog)
    dialog.findChild(QLineEdit).setText(str(path))
    dialog.accept()
    settle()


def work(window: MainWindow) -> None:
    """Change a bit of everything that a session holds."""
    window.state.update(level=0.12, form="pcp", seed=3, variant="rpc")
    window.state.select(frozenset({2, 5}))
    window.explore.panels["projection"].view.set_options({"keys": True})
    window.explore.panels["spectrum"].hide()
    window.menus.actions["Dark"].trigger()
    settle()


def test_save_and_open_bring_everything_back(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    work(window)
    before, map_before = window.workbench.sessions.snapshot(), window.state.result.map
    press(qtbot, Key.Key_S, CTRL)
    answer(window, tmp_path / "evening")
    path = tmp_path / "evening.gramscope"
    assert sentences(window)[0] == f"Saved evening.gramscope in {tmp_path}."
    window.open_recipe(Recipe(tokens=10, dim=4))
    window.state.update(level=0.0, seed=0)
    window.explore.panels["spectrum"].show()
    window.menus.actions["Light"].trigger()
    window.menus.actions["Open session…"].trigger()
    answer(window, path)
    after = window.workbench.sessions.snapshot()
    assert (after.origin, after.params, after.selection) == (before.origin, before.params, before.selection)
    assert (after.options, after.theme) == (before.options, "dark")
    assert window.explore.panels["spectrum"].isHidden()
    assert window.menus.actions["Dark"].isChecked()
    np.testing.assert_array_equal(window.state.result.map, map_before)
    window.menus.actions["Light"].trigger()


def test_the_pinned_picture_of_another_source_comes_back(
    qtbot: QtBot, window: MainWindow, heads: Path, tmp_path: Path
) -> None:
    window.opener.open_paths([heads])
    window.state.update(head=1, level=0.2)
    press(qtbot, Key.Key_R, CTRL | Qt.KeyboardModifier.ShiftModifier)
    before = window.state.reference
    window.opener.open_sample()
    path = tmp_path / "pinned.gramscope"
    window.workbench.sessions.save_to(path)
    window.state.pin(None)
    window.state.update(level=0.3)
    window.workbench.sessions.open(path)
    after = window.state.reference
    assert after.label == before.label and after.origin.paths == (str(heads),)
    np.testing.assert_array_equal(after.result.map, before.result.map)
    assert after.result.errors.softmax == before.result.errors.softmax
    assert window.opener.origin == Origin() and window.state.params.level == 0.2


def test_choices_on_a_page_wait_until_it_is_shown(
    qtbot: QtBot, window: MainWindow, heads: Path, tmp_path: Path
) -> None:
    path = tmp_path / "overview.gramscope"
    window.opener.open_paths([heads])
    press(qtbot, Key.Key_2, Qt.KeyboardModifier.AltModifier)
    number = window.pages.page(1).findChild(OverviewView).header.number
    number.setCurrentIndex(number.findData("rank"))
    number.activated.emit(number.currentIndex())
    window.workbench.sessions.save_to(path)
    with sit_down(qtbot, recipe=None) as later:
        later.workbench.sessions.open(path)
        assert later.findChild(OverviewView) is None
        later.workbench.sessions.save_to(path)
        assert load(path).options["overview"]["quantity"] == "rank"
        press(qtbot, Key.Key_2, Qt.KeyboardModifier.AltModifier)
        view = later.findChild(OverviewView)
        assert view.options()["quantity"] == "rank" and view.header.number.currentData() == "rank"


def test_a_pinned_picture_that_is_gone_is_said(window: MainWindow, heads: Path, tmp_path: Path) -> None:
    path = tmp_path / "pinned.gramscope"
    save(Session(Origin(recipe=SMALL), Params(), pin=Pin(Origin(paths=(str(heads),)))), path)
    heads.unlink()
    window.workbench.sessions.open(path)
    assert window.state.reference is None
    assert sentences(window)[0].startswith("The pinned picture cannot be brought back. ")
    assert window.state.source.name != "heads", "what can be opened is open"


def test_opening_a_session_without_a_pin_unpins(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "bare.gramscope"
    window.workbench.sessions.save_to(path)
    press(qtbot, Key.Key_R, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert window.state.reference is not None
    window.workbench.sessions.open(path)
    assert window.state.reference is None


def test_saving_again_asks_nothing(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "a.gramscope"
    window.workbench.sessions.save_to(path)
    window.state.update(seed=9)
    press(qtbot, Key.Key_S, CTRL)
    assert window.findChild(QFileDialog) is None
    assert load(path).params.seed == 9


def test_another_source_is_another_session(window: MainWindow, tmp_path: Path) -> None:
    window.workbench.sessions.save_to(tmp_path / "a.gramscope")
    window.open_recipe(Recipe(tokens=10))
    assert window.workbench.sessions.path is None


def test_a_session_that_is_dropped_opens(window: MainWindow, heads: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.gramscope"
    save(Session(Origin(paths=(str(heads),)), Params(head=1, level=0.2, queries="asymmetric")), path)
    assert intent([path]) == ("open", "Open session")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    action, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    keys = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(300, 300), action, mime, button, keys))
    assert window.drop_zone.isVisible() and window.drop_zone.text() == "Open session"
    QApplication.sendEvent(window, QDropEvent(QPointF(300, 300), action, mime, button, keys))
    settle()
    assert window.state.source.name.startswith("heads")
    assert (window.state.params.head, window.state.params.level) == (1, 0.2)
    assert window.workbench.sessions.path == path


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\x80\x05nothing", "not the JSON"),
        (b'{"format": "gramscope session", "version": 99, "program": "7"}', "newer Gramscope"),
        (b'{"format": "gramscope session", "version": 1, "params": {"layer": 7}}', "layer 7"),
        (b'{"format": "gramscope session", "version": 1, "source": {"paths": ["gone"]}}', "gone"),
    ],
)
def test_what_cannot_be_opened_is_told_and_the_picture_stays(
    window: MainWindow, tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "odd.gramscope"
    path.write_bytes(content)
    source, params, result = window.state.source, window.state.params, window.state.result
    window.workbench.sessions.open(path)
    assert sentence in sentences(window)[0]
    assert (window.state.source, window.state.params, window.state.result) == (source, params, result)
    window.open_recipe(SMALL)
    assert window.workbench.sessions.path is None


def test_a_folder_that_cannot_be_written_is_told(window: MainWindow, tmp_path: Path) -> None:
    window.workbench.sessions.save_to(tmp_path / "no such folder" / "a.gramscope")
    assert "does not exist" in sentences(window)[0]
    assert window.workbench.sessions.path is None


def test_nothing_open_is_nothing_to_save_or_copy(qtbot: QtBot) -> None:
    with sit_down(qtbot, recipe=None) as window:
        window.workbench.sessions.save_to(Path("a.gramscope"))
        assert "nothing to save" in sentences(window)[0]
        window.menus.actions["Copy as Python"].trigger()
        assert "nothing to copy" in sentences(window)[0]


def test_a_session_on_the_command_line_opens(qtbot: QtBot, heads: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.gramscope"
    save(Session(Origin(paths=(str(heads),)), Params(head=1, queries="asymmetric")), path)
    with sit_down(qtbot, recipe=None) as window:
        window.workbench.begin([path])
        settle()
        assert window.state.params.head == 1
        assert window.workbench.tour.at is None


def test_options_of_another_kind_are_left_alone(window: MainWindow) -> None:
    present = {"keys": False, "curves": ["softmax"], "eigenvectors": [0], "none": []}
    wanted = {"keys": "yes", "curves": ["rpc"], "eigenvectors": [1, "x"], "none": [3], "unheard of": 1}
    assert same_kinds(present, wanted) == {"curves": ["rpc"], "none": [3]}


HOSTILE_OPTIONS = {
    "spectrum": {"eigenvectors": ["x", None, 10**30, -5, {}, 0]},
    "outputs": {"curves": [1, None, "rpc", []]},
    "projection": {"keys": {"a": 1}},
    "nothing": {"x": 1},
}


def test_hostile_options_break_nothing(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "a.gramscope"
    window.workbench.sessions.save_to(path)
    content = json.loads(path.read_text(encoding="utf-8")) | {"views": HOSTILE_OPTIONS}
    path.write_text(json.dumps(content), encoding="utf-8")
    window.workbench.sessions.open(path)
    window.state.update(seed=5)
    assert window.state.result.params.seed == 5
    assert [bar.message.level for bar in window.messages.bars if bar.message.level == "error"] == []


def test_closing_keeps_the_last_session(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        window.state.update(level=0.3)
    assert load(last_session()).params.level == 0.3
    assert left_behind() == []
    with sit_down(qtbot, recipe=None) as window:
        window.menus.actions["Reopen last session"].trigger()
        settle()
        assert window.state.params.level == 0.3
        assert window.workbench.sessions.path is None


def test_no_last_session_is_told(window: MainWindow) -> None:
    window.menus.actions["Reopen last session"].trigger()
    assert "no session" in sentences(window)[0]


CRASH = """
import os, signal, sys
from explorer.app import application, build
from explorer.models.recipes import Recipe
application()
window = build(inline=True)
window.show()
window.open_recipe(Recipe(tokens=24, dim=8, components=3))
window.state.update(level=0.17, seed=4)
autosave = window.workbench.sessions._autosave
autosave.write()
while not autosave.path.exists():
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills a process as POSIX does")
def test_a_crash_is_offered_at_the_next_start(qtbot: QtBot, home: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run([sys.executable, "-c", CRASH], env=env, timeout=120, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with sit_down(qtbot, recipe=None) as window:
        window.workbench.begin([])
        settle()
        assert "did not close properly" in sentences(window)[0]
        bar = window.messages.bars[0]
        button = next(b for b in bar.findChildren(QToolButton) if b.text() == "Restore the session")
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        settle()
        assert (window.state.params.level, window.state.params.seed) == (0.17, 4)
        assert window.opener.origin == Origin(recipe=SMALL)
        window.workbench.sessions.offer_recovery()
        assert len(sentences(window)) <= 1 and "properly" not in "".join(sentences(window))


def test_a_run_that_goes_on_is_not_recovered(qtbot: QtBot, window: MainWindow) -> None:
    autosave = window.workbench.sessions._autosave
    autosave.write()
    qtbot.waitUntil(autosave.path.exists)
    assert left_behind() == []


def test_it_is_written_only_where_something_changed(qtbot: QtBot, window: MainWindow) -> None:
    autosave = window.workbench.sessions._autosave
    autosave.write()
    qtbot.waitUntil(autosave.path.exists)
    written = autosave.path.stat().st_mtime_ns
    autosave.write()
    qtbot.wait(50)
    assert autosave.path.stat().st_mtime_ns == written
    window.state.update(seed=8)
    autosave.write()
    qtbot.waitUntil(lambda: load(autosave.path).params.seed == 8)


def test_an_autosave_that_fails_says_so_once(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    autosave = window.workbench.sessions._autosave
    monkeypatch.setattr(autosave, "path", Path("/nowhere at all/a.gramscope"))
    autosave.write()
    qtbot.waitUntil(lambda: any("does not exist" in sentence for sentence in sentences(window)))
    assert not autosave._clock.isActive()


def test_recent_files_open_with_their_keys(
    qtbot: QtBot, window: MainWindow, heads: Path, tmp_path: Path
) -> None:
    session = tmp_path / "a.gramscope"
    window.take("open", [heads])
    window.state.update(level=0.4)
    window.workbench.sessions.save_to(session)
    window.open_recipe(SMALL)
    window.state.update(level=0.0)
    assert [Path(entry[0]).name for entry in window.workbench.sessions.recents.entries] == [
        "a.gramscope", "heads.npz"
    ]  # fmt: skip
    press(qtbot, Key.Key_2, CTRL)
    assert window.opener.origin.paths == (str(heads),)
    assert window.state.params.level == 0.0
    press(qtbot, Key.Key_2, CTRL)
    assert window.workbench.sessions.path == session
    assert window.state.params.level == 0.4
    assert window.workbench.sessions.recents.entries[0] == (str(session),)


def test_recents_are_remembered_bounded_and_can_be_cleared(qtbot: QtBot, window: MainWindow) -> None:
    recents = window.workbench.sessions.recents
    for place in range(12):
        recents.add([f"/models/{place}/bert & co"])
    recents.add(["/models/5/bert & co"])
    texts = [action.text() for action in recents.menu.actions() if action.isVisible() and action.text()]
    assert texts[0] == "bert && co in 5"
    assert len(recents.entries) == 9
    assert Recents(window).entries == recents.entries
    recents.menu.actions()[-1].trigger()
    assert recents.entries == [] and not recents.menu.isEnabled()


def test_a_session_that_is_gone_leaves_the_list(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "a.gramscope"
    window.workbench.sessions.save_to(path)
    path.unlink()
    press(qtbot, Key.Key_1, CTRL)
    assert window.workbench.sessions.recents.entries == []
    assert "no session" in sentences(window)[0]


@pytest.mark.parametrize("stored", ["no json", "5", '{"a": 1}', "[1, [], [2], null]"])
def test_a_damaged_list_is_empty(window: MainWindow, stored: str) -> None:
    settings().setValue("recent", stored)
    assert Recents(window).entries == []
