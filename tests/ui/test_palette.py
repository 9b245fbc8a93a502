"""The palette finds every action by a few letters and runs it from the keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow
from pytestqt.qtbot import QtBot

from explorer.ui.commands import commands, match
from explorer.ui.palette import Palette
from explorer.ui.shortcuts import ShortcutsPage, show_shortcuts

Key = Qt.Key


class Window(QMainWindow):
    """A window with two menus, one inside the other, and a field."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []
        self.resize(800, 600)
        self.field = QLineEdit()
        self.setCentralWidget(self.field)
        file = self.menuBar().addMenu("&File")
        self.open = self.add(file, "Open folder…", "Ctrl+O")
        file.addSeparator()
        self.add(file, "Export figure…", "Ctrl+E")
        appearance = self.menuBar().addMenu("&View").addMenu("Appearance")
        self.add(appearance, "Dark")
        self.off = self.add(appearance, "Light && bright")
        self.escape = QAction("Select nothing", self, shortcut="Escape")
        self.escape.triggered.connect(lambda: self.done.append("Select nothing"))
        self.addAction(self.escape)
        self.palette_ = Palette(self)

    def add(self, menu, text, keys=""):
        action = QAction(text, self, shortcut=keys)
        action.triggered.connect(lambda: self.done.append(text))
        menu.addAction(action)
        return action


@pytest.fixture
def window(qtbot: QtBot) -> Window:
    window = Window()
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    window.field.setFocus()
    return window


def listed(window: Window) -> list[str]:
    rows = window.palette_.list
    return [rows.topLevelItem(i).text(0) for i in range(rows.topLevelItemCount())]


def test_every_action_is_a_command(window: Window) -> None:
    assert [(c.path, c.menu, c.keys) for c in commands(window)] == [
        ("File › Open folder…", "File", "Ctrl+O"),
        ("File › Export figure…", "File", "Ctrl+E"),
        ("View › Appearance › Dark", "View", ""),
        ("View › Appearance › Light & bright", "View", ""),
        ("Select nothing", "", "Esc"),
    ]


def test_letters_and_return(qtbot: QtBot, window: Window) -> None:
    window.palette_.open()
    assert len(listed(window)) == 5
    qtbot.keyClicks(window.palette_.query, "exp")
    assert listed(window) == ["File › Export figure…"]
    qtbot.keyClick(window.palette_.query, Key.Key_Return)
    assert window.done == ["Export figure…"]
    assert not window.palette_.isVisible()
    assert QApplication.focusWidget() is window.field


def test_arrows_choose(qtbot: QtBot, window: Window) -> None:
    window.palette_.open()
    for key in (Key.Key_Down, Key.Key_Down, Key.Key_Up):
        qtbot.keyClick(window.palette_.query, key)
    qtbot.keyClick(window.palette_.query, Key.Key_Enter)
    assert window.done == ["Export figure…"]


def test_escape_closes_and_reaches_nothing_else(qtbot: QtBot, window: Window) -> None:
    window.palette_.open()
    qtbot.keyClick(window.palette_.query, Key.Key_Escape)
    assert not window.palette_.isVisible()
    assert window.done == []
    qtbot.keyClick(window.field, Key.Key_Escape)
    assert window.done == ["Select nothing"]


def test_the_same_keys_close_it(qtbot: QtBot, window: Window) -> None:
    window.palette_.open()
    qtbot.keyClick(window.palette_.query, Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert not window.palette_.isVisible()


def test_a_click_beside_it_closes_and_one_on_it_runs(qtbot: QtBot, window: Window) -> None:
    window.palette_.open()
    qtbot.mouseClick(window.palette_, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert not window.palette_.isVisible()
    window.palette_.open()
    rows = window.palette_.list
    spot = rows.visualItemRect(rows.topLevelItem(2)).center()
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert window.done == ["Dark"]


def test_what_cannot_be_done_now_is_not_listed(window: Window) -> None:
    window.open.setEnabled(False)
    window.off.setVisible(False)
    window.palette_.open()
    assert listed(window) == ["File › Export figure…", "View › Appearance › Dark", "Select nothing"]


def test_tab_stays_and_nothing_found_runs_nothing(qtbot: QtBot, window: Window) -> None:
    window.palette_.open()
    qtbot.keyClick(window.palette_.query, Key.Key_Tab)
    assert QApplication.focusWidget() is window.palette_.query
    qtbot.keyClicks(window.palette_.query, "zzz")
    qtbot.keyClick(window.palette_.query, Key.Key_Return)
    assert window.done == [] and listed(window) == []
    window.palette_.dismiss()


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("dark", "View › Appearance › Dark", "Help › Redraw all known things"),
        ("of", "File › Open folder…", "Help › Coffee"),
        ("nh", "Go › Next head", "Help › Launch"),
        ("head next", "Go › Next head", "Go › Next layer"),
        ("exfig", "File › Export figure…", "Help › Exit, or find the figure in the log"),
    ],
)
def test_the_better_match_comes_first(query: str, better: str, worse: str) -> None:
    assert match(query, better) > match(query, worse) >= 0


def test_letters_out_of_order_do_not_match() -> None:
    assert match("xyz", "Export") == 0
    assert match("export zzz", "Export") == 0
    assert match("", "Export") > 0


def test_the_shortcuts_page_opens_once_at_a_time(qtbot: QtBot, window: Window) -> None:
    show_shortcuts(window)
    show_shortcuts(window)
    (page,) = window.findChildren(ShortcutsPage)
    page.close()
    show_shortcuts(window)
    (again,) = (found for found in window.findChildren(ShortcutsPage) if found.isVisible())
    assert again is not page
    again.close()


def test_the_shortcuts_page_lists_what_has_keys(qtbot: QtBot, window: Window) -> None:
    page = ShortcutsPage(window)
    page.show()
    groups = [page.list.topLevelItem(i) for i in range(page.list.topLevelItemCount())]
    shown = {
        g.text(0): [(g.child(i).text(0), g.child(i).text(1)) for i in range(g.childCount())] for g in groups
    }
    assert shown == {
        "File": [("Open folder…", "Ctrl+O"), ("Export figure…", "Ctrl+E")],
        "Elsewhere": [("Select nothing", "Esc")],
    }
    page.close()


def test_rows_are_shown_whole(window: Window) -> None:
    window.resize(1088, 680)
    for i in range(30):
        window.addAction(QAction(f"Command {i}", window))
    window.palette_.open()
    QApplication.processEvents()
    rows = window.palette_.list
    assert rows.viewport().height() % rows.sizeHintForRow(0) == 0
    assert window.palette_.rect().contains(window.palette_._card.geometry())
