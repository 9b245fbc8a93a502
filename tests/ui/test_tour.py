"""The tour leads over the sample to the breakdown point, once, and blocks nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.session import Origin
from explorer.ui.tour import STEPS, Tour, breakdown
from explorer.ui.window import MainWindow
from explorer.views.words import figure, percent
from tests.ui.desk import SMALL, press, settle, sit_down

LEFT = Qt.MouseButton.LeftButton
Key = Qt.Key


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot, recipe=None) as window:
        yield window


def area(window: MainWindow, place: int) -> QRect:
    target = STEPS[place].target(window)
    return QRect(target.mapTo(window, QPoint()), target.size())


def test_it_does_not_start_by_itself(qtbot: QtBot, window: MainWindow) -> None:
    window.opener.open_sample()
    settle()
    assert window.workbench.tour.at is None
    assert not window.workbench.tour.callout.isVisible()


def test_the_first_start_leads_through_five_steps(qtbot: QtBot, window: MainWindow) -> None:
    window.workbench.begin([])
    settle()
    tour, callout = window.workbench.tour, window.workbench.tour.callout
    assert window.opener.origin == Origin()
    titles = []
    for place in range(5):
        assert tour.at == place
        assert callout.place.text() == f"{place + 1} of 5"
        assert callout.ring.geometry().contains(area(window, place))
        assert window.rect().contains(callout.geometry())
        assert not callout.geometry().contains(area(window, place).center())
        titles.append(callout.title.text())
        qtbot.mouseClick(callout.next, LEFT)
        settle()
    assert titles[-1] == "The breakdown point" and len(set(titles)) == 5
    assert not callout.isVisible() and not callout.ring.isVisible()
    assert Tour.was_seen()


def test_it_ends_with_the_measured_breakdown(qtbot: QtBot, window: MainWindow) -> None:
    window.workbench.begin([])
    settle()
    for _ in range(4):
        press(qtbot, Key.Key_Space)
    curves = window.state.result.curves
    assert curves.seeds == curves.seeds_wanted
    assert curves.outcome == "at a level" and 0.02 < curves.breakdown < 0.4
    text = window.workbench.tour.callout.text.text()
    assert text == breakdown(window.state.result)
    assert percent(curves.breakdown) in text
    assert figure(curves.mean["rpc_to_softmax"][0], 2) in text
    window.workbench.tour.end()


@pytest.mark.parametrize(
    ("outcome", "level", "words"),
    [
        ("at a level", 0.12, "RPC stays worse than softmax from a level of 12 %: its breakdown point"),
        ("at once", None, "RPC is worse than softmax from the first level on"),
        ("never", None, "RPC never becomes worse than softmax for good"),
        ("unknown", None, "being computed"),
    ],
)
def test_it_says_what_was_measured(window: MainWindow, outcome: str, level: float | None, words: str) -> None:
    window.opener.open_sample()
    result = window.state.result
    curves = replace(result.curves, outcome=outcome, breakdown=level)
    assert words in breakdown(replace(result, curves=curves))


def test_the_window_works_meanwhile(qtbot: QtBot, window: MainWindow) -> None:
    window.workbench.begin([])
    settle()
    slider = window.explore.controls.level.slider
    slider.setFocus()
    press(qtbot, Key.Key_Right)
    assert window.state.params.level > 0
    assert window.workbench.tour.at == 0
    qtbot.mouseClick(window.explore.panels["outputs"].help_button, LEFT)
    assert window.workbench.help.isVisible()
    window.workbench.help.close()
    window.workbench.tour.end()


def test_back_skip_and_escape(qtbot: QtBot, window: MainWindow) -> None:
    window.workbench.begin([])
    settle()
    tour, callout = window.workbench.tour, window.workbench.tour.callout
    assert callout.back.isHidden()
    press(qtbot, Key.Key_Space)
    qtbot.mouseClick(callout.back, LEFT)
    assert tour.at == 0
    window.state.select(frozenset({1}))
    callout.next.setFocus()
    press(qtbot, Key.Key_Escape)
    assert tour.at is None and Tour.was_seen()
    assert window.state.selection == {1}, "Escape closes the tour and nothing else"
    window.menus.actions["Tour"].trigger()
    settle()
    qtbot.mouseClick(callout.skip, LEFT)
    assert tour.at is None


def test_a_second_start_has_none(qtbot: QtBot) -> None:
    with sit_down(qtbot, recipe=None) as window:
        window.workbench.begin([])
        settle()
        window.workbench.tour.end()
    with sit_down(qtbot, recipe=None) as window:
        window.workbench.begin([])
        settle()
        assert window.workbench.tour.at is None
        assert window.state.source is not None


def test_from_another_source_it_opens_the_sample(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        window.menus.actions["Tour"].trigger()
        settle()
        assert window.opener.origin == Origin()
        assert window.workbench.tour.at == 0
        window.workbench.tour.end()


def test_another_source_ends_it(qtbot: QtBot, window: MainWindow) -> None:
    window.workbench.begin([])
    settle()
    assert window.workbench.tour.at == 0
    window.open_recipe(SMALL)
    settle()
    assert window.workbench.tour.at is None
    assert not window.workbench.tour.callout.isVisible()


def test_it_follows_the_window_and_brings_a_closed_panel_back(qtbot: QtBot, window: MainWindow) -> None:
    window.explore.panels["spectrum"].hide()
    window.workbench.begin([])
    settle()
    press(qtbot, Key.Key_Space)
    assert window.explore.panels["spectrum"].isVisible()
    window.resize(1000, 640)
    settle()
    callout = window.workbench.tour.callout
    assert window.rect().contains(callout.geometry())
    assert callout.ring.geometry().contains(area(window, 1))
    assert QApplication.focusWidget() is callout.next
    window.workbench.tour.end()
