"""Docks come back where they were, whatever a person did to them, and whatever a file says."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QTabBar, QTextEdit
from pytestqt.qtbot import QtBot

from explorer.session import PLACE_RANGES, Place
from explorer.ui.explore import SETTLED_MS
from explorer.ui.layout import ACROSS, AREAS, DOWN, arrange, describe
from tests.ui.desk import sit_down


def settle() -> None:
    for _ in range(8):
        QApplication.processEvents()


def make() -> QMainWindow:
    window = QMainWindow()
    window.setDockNestingEnabled(True)
    window.resize(1000, 700)
    for i in range(6):
        dock = QDockWidget(f"dock {i}")
        dock.setObjectName(f"d{i}")
        dock.setWidget(QTextEdit())
        window.addDockWidget(AREAS["left"] if i % 2 == 0 else AREAS["right"], dock)
    window.show()
    settle()
    return window


@pytest.fixture
def windows(qapp: QApplication) -> Iterator[list[QMainWindow]]:
    pair = [make(), make()]
    yield pair
    for window in pair:
        shiboken6.delete(window)


def docks(window: QMainWindow) -> list[QDockWidget]:
    return sorted(window.findChildren(QDockWidget), key=lambda dock: dock.objectName())


def disorder(window: QMainWindow, draw: random.Random) -> None:
    """Move docks about as a person does: split, tab, close, float, resize."""
    for _ in range(8):
        here = [dock for dock in docks(window) if not dock.isFloating() and not dock.isHidden()]
        a, b = draw.sample(here, 2)
        act = draw.randrange(6)
        if act == 0:
            window.splitDockWidget(a, b, draw.choice([ACROSS, DOWN]))
        elif act == 1:
            window.tabifyDockWidget(a, b)
        elif act == 2 and len(here) > 3:
            a.hide()
        elif act == 3 and len(here) > 3 and not window.tabifiedDockWidgets(a):
            a.setFloating(True)
            a.setGeometry(QRect(50, 60, 300, 200))
        else:
            sizes = [draw.randrange(150, 500) for _ in range(2)]
            window.resizeDocks([a, b], sizes, draw.choice([ACROSS, DOWN]))
        settle()


def close(a: Place, b: Place) -> bool:
    if not a.shown:
        return not b.shown
    same = (a.shown, a.floating, a.tab) == (b.shown, b.floating, b.tab)
    near = all(abs(getattr(a, name) - getattr(b, name)) <= 6 for name in PLACE_RANGES)
    return same and near and (a.floating or a.area == b.area)


@pytest.mark.parametrize("seed", range(12))
def test_any_arrangement_comes_back(windows: list[QMainWindow], seed: int) -> None:
    before, after = windows
    disorder(before, random.Random(seed))
    wanted = describe(before)
    arrange(after, wanted)
    settle()
    got = describe(after)
    assert {name: (wanted[name], got[name]) for name in wanted if not close(wanted[name], got[name])} == {}


def test_a_hostile_layout_breaks_nothing(windows: list[QMainWindow]) -> None:
    window, draw = windows[0], random.Random(0)
    names = [f"d{i}" for i in range(6)] + ["", "gone"]
    for _ in range(60):
        layout = {
            draw.choice(names): Place(
                draw.random() < 0.8, draw.random() < 0.2, draw.choice(list(AREAS)), draw.choice(names),
                *(draw.choice([0, 1, -32_768, 32_767, 200]) for _ in range(4)),
            )
            for _ in range(6)
        }  # fmt: skip
        arrange(window, layout)
        settle()
    arrange(window, describe(windows[1]))
    settle()
    got = describe(window)
    assert all(close(place, got[name]) for name, place in describe(windows[1]).items())


def test_only_tabs_that_belong_to_a_panel_are_seen(qtbot: QtBot) -> None:
    def rows() -> list[list[str]]:
        bars = [bar for bar in window.explore.findChildren(QTabBar) if not bar.visibleRegion().isEmpty()]
        return [[bar.tabText(i) for i in range(bar.count())] for bar in bars]

    with sit_down(qtbot) as window:
        for _ in range(2):
            window.explore.reset_layout()
        qtbot.waitUntil(lambda: rows() == [["Attention", "Input"]])
        health = window.explore.asides["health"]
        health.show()
        settle()
        assert ["Key-Gram spectrum", "Numerical health"] in rows()
        health.hide()
        settle()
        qtbot.wait(SETTLED_MS + 50)
