"""Pages: made when first shown, reached by pointer, keys and menu, and connected as the first page is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from explorer.ui.panel import Panel
from explorer.ui.tabs import Tabs
from explorer.ui.window import MainWindow
from explorer.views.spectrum import SpectrumView
from tests.ui.desk import ALT, press, settle, sit_down

Key = Qt.Key


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot) as window:
        yield window


def test_a_single_page_has_no_row(qtbot: QtBot) -> None:
    tabs = Tabs()
    qtbot.addWidget(tabs)
    made: list[QWidget] = []
    tabs.made.connect(made.append)
    tabs.add("One", lambda: QLabel("one"))
    assert tabs.row.isHidden() and len(made) == 1
    tabs.add("Two", lambda: QLabel("two"))
    assert not tabs.row.isHidden() and len(made) == 1


def test_a_page_is_made_once_when_first_shown(qtbot: QtBot, window: MainWindow) -> None:
    made: list[QWidget] = []

    def make() -> QWidget:
        made.append(QLabel("another"))
        return made[-1]

    place = window.pages.count
    action = window.add_page("Another", make)
    assert made == []
    action.trigger()
    settle()
    assert made[0].isVisible() and not window.explore.isVisible()
    assert window.pages.place == place and action.isChecked()
    press(qtbot, Key.Key_1, ALT)
    assert window.explore.isVisible() and not action.isChecked()
    press(qtbot, Key(Key.Key_1.value + place), ALT)
    assert len(made) == 1 and made[0].isVisible()


def test_the_row_is_walked_with_the_arrows(qtbot: QtBot, window: MainWindow) -> None:
    window.add_page("Another", lambda: QLabel("another"))
    settle()
    window.pages.row.setFocus()
    for _ in range(window.pages.count - 1):
        press(qtbot, Key.Key_Right)
    assert window.pages.place == window.pages.count - 1
    press(qtbot, Key.Key_Left)
    assert window.pages.place == window.pages.count - 2


def test_a_pages_panels_are_served(qtbot: QtBot, window: MainWindow) -> None:
    def make() -> QWidget:
        page = QMainWindow()
        page.setWindowFlags(Qt.WindowType.Widget)
        page.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, Panel(SpectrumView(window.state)))
        return page

    window.add_page("Another", make).trigger()
    settle()
    panel = window.pages.page(window.pages.count - 1).findChild(Panel)
    assert panel.view in window.views
    QApplication.clipboard().clear()
    panel.asked.emit("copy numbers", panel.view)
    assert "Gramscope" in QApplication.clipboard().text()


def test_the_keyboard_begins_at_the_level(qtbot: QtBot, window: MainWindow) -> None:
    assert window.explore.controls.level.slider.hasFocus()
    press(qtbot, Key.Key_Right)
    assert window.state.params.level > 0


def test_opening_a_page_leaves_the_keyboard_where_it_is(window: MainWindow) -> None:
    window.pages.row.setFocus()
    for place in range(window.pages.count):
        window.pages.show_page(place)
        settle()
        assert QApplication.activeWindow() is window and window.pages.row.hasFocus()


def test_closing_is_told_once(qtbot: QtBot, window: MainWindow) -> None:
    with qtbot.waitSignal(window.closing):
        window.close()


def test_every_page_fits_into_the_smallest_window(qtbot: QtBot, window: MainWindow) -> None:
    window.resize(window.minimumSize())
    for place in range(window.pages.count):
        window.pages.show_page(place)
        settle()
        page = window.pages.page(place)
        needed = page.minimumSizeHint()
        title = window.pages.row.tabText(place)
        assert needed.width() <= page.width() and needed.height() <= page.height(), title
