"""The laboratory as it is first seen, when the button that turned to it may still be down."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.ui.lab import LabPage
from tests.ui.lab_desk import laboratory, press_button


def ranges(page: LabPage) -> list[list[list[float]]]:
    return [plot.vb.viewRange() for view in page.live_views for plot in view.plot_items]


def test_it_is_drawn_first_as_after_a_reset(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    held = [Qt.MouseButton.LeftButton]
    monkeypatch.setattr("explorer.views.picture.QGuiApplication.mouseButtons", lambda: held[0])
    with laboratory(qtbot) as window:
        page = window.findChild(LabPage)
        assert page is not None
        first = ranges(page)
        held[0] = Qt.MouseButton.NoButton
        before = page.loss.result
        press_button(qtbot, page.controls.reset)
        qtbot.waitUntil(lambda: page.loss.result is not before)
        assert ranges(page) == first
        assert page.loss.plot.home != ((0.0, 1.0), (0.0, 1.0))


def test_the_axes_follow_when_the_button_is_let_go(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    held = [Qt.MouseButton.NoButton]
    monkeypatch.setattr("explorer.views.picture.QGuiApplication.mouseButtons", lambda: held[0])
    with laboratory(qtbot) as window:
        page = window.findChild(LabPage)
        assert page is not None
        first, before = page.loss.plot.home, page.loss.result
        held[0] = Qt.MouseButton.LeftButton
        page.state.update_data(theta=9.0)
        qtbot.waitUntil(lambda: page.loss.result is not before)
        assert page.loss.plot.home == first
        held[0] = Qt.MouseButton.NoButton
        qtbot.waitUntil(lambda: page.loss.plot.home != first)
