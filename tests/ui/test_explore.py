"""The linked panels in the window: one selection, and a layout that keeps its tabs."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.ui.desk import press, settle, sit_down
from tests.views.pointer import click, drag


def test_the_input_lies_in_a_tab_behind_the_map_and_comes_back_so(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        window.resize(1280, 800)
        settle()
        explore = window.explore
        attention, inputs = explore.panels["attention"], explore.panels["input"]
        assert explore._docks.tabifiedDockWidgets(attention) == [inputs]
        assert explore._docks.rect().contains(attention.geometry())
        inputs.raise_()
        settle()
        layout = explore.layout_state()
        explore.reset_layout()
        settle()
        assert explore._docks.rect().contains(attention.geometry())
        explore.restore_layout(layout)
        settle()
        assert explore._docks.tabifiedDockWidgets(attention) == [inputs]
        assert explore._docks.rect().contains(inputs.geometry())
        tops = [explore.panels[name].y() for name in ("input", "spectrum", "projection", "outputs")]
        assert tops[0] == tops[1] < min(tops[2:])


def test_a_span_of_the_input_is_marked_in_every_panel(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        panels = window.explore.panels
        panels["input"].raise_()
        settle()
        view = panels["input"].view
        places = [view._text.mapToScene(view._text.rect_of(row).center()) for row in (2, 4)]
        drag(view, places)
        assert window.state.selection == {2, 3, 4}
        assert panels["attention"].view._rows.selected.tolist() == [2, 3, 4]
        assert len(panels["projection"].view._ring.data) == 3
        click(view, places[0], Qt.KeyboardModifier.ShiftModifier)
        assert window.state.selection == {3, 4}


def test_home_turns_three_axes_back(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        view = window.explore.panels["projection"].view
        view._chooser.three.click()
        settle()
        before = view._rotation.matrix.copy()
        view.canvas.setFocus()
        press(qtbot, Qt.Key.Key_Up)
        assert not np.allclose(view._rotation.matrix, before)
        window.menus.actions["Reset views"].trigger()
        assert np.allclose(view._rotation.matrix, before)
