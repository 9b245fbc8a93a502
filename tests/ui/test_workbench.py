"""The window as a place to work in: keys, undo, palette, help, memory."""

from __future__ import annotations

import runpy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QColor, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QSlider,
    QSpinBox,
    QStyle,
    QStyleOptionSlider,
    QTreeWidgetItemIterator,
    QWidget,
)
from pytestqt.qtbot import QtBot

from explorer import history
from explorer.params import Params
from explorer.settings import settings
from explorer.ui import theme
from explorer.ui.commands import commands
from explorer.ui.definitions import DEFINITIONS
from explorer.ui.shortcuts import ShortcutsPage
from explorer.ui.window import MainWindow
from explorer.views.plot import Plot
from tests.sources import FixedSource
from tests.ui.desk import ALT, CTRL, SHIFT, SMALL, press, sentences, settle, sit_down

Key = Qt.Key
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot) as window:
        yield window


def handle(slider: QSlider) -> QPoint:
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    control, part = QStyle.ComplexControl.CC_Slider, QStyle.SubControl.SC_SliderHandle
    return slider.style().subControlRect(control, option, part, slider).center()


def drag(qtbot: QtBot, slider: QSlider, *steps: int) -> None:
    qtbot.mousePress(slider, LEFT, pos=handle(slider))
    for step in steps:
        qtbot.mouseMove(slider, handle(slider) + QPoint(step, 0))
    qtbot.mouseRelease(slider, LEFT, pos=handle(slider))
    settle()


def test_a_drag_is_one_step_of_undo(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "RUN_MS", 0)
    slider = window.explore.controls.level.slider
    window.explore.controls.seed.setValue(3)
    drag(qtbot, slider, 10, 10, 20)
    first = window.state.params.level
    drag(qtbot, slider, 15, 15)
    assert window.state.params.level > first > 0
    assert window.workbench.history.undoes == "level"
    press(qtbot, Key.Key_Z, CTRL)
    assert window.state.params.level == first
    press(qtbot, Key.Key_Z, CTRL)
    assert window.state.params == Params(seed=3)
    assert slider.value() == 0
    press(qtbot, Key.Key_Z, CTRL | SHIFT)
    assert window.state.params.level == first
    assert window.state.result.params.level == first


def test_undo_from_the_field_that_changed(qtbot: QtBot, window: MainWindow) -> None:
    seed = window.explore.controls.seed
    seed.setFocus()
    for _ in range(55):
        qtbot.keyClick(seed, Key.Key_Up)
    assert window.state.params.seed == 55
    for _ in range(55):
        qtbot.keyClick(seed, Key.Key_Z, CTRL)
    assert window.state.params.seed == 0
    assert not window.menus.actions["Undo"].isEnabled()


def test_a_field_undoes_what_is_being_typed(qtbot: QtBot, window: MainWindow) -> None:
    seed = window.explore.controls.seed
    qtbot.keyClick(window, Key.Key_Z, CTRL)
    seed.setFocus()
    seed.selectAll()
    qtbot.keyClicks(seed, "12")
    qtbot.keyClick(seed, Key.Key_Z, CTRL)
    assert seed.lineEdit().text() in ("0", "")
    assert window.state.params.seed == 0


def test_the_menu_says_what_is_undone(window: MainWindow) -> None:
    undo, redo = window.menus.actions["Undo"], window.menus.actions["Redo"]
    assert not undo.isEnabled() and not redo.isEnabled()
    window.explore.controls.form.setCurrentIndex(1)
    assert (undo.text(), redo.text()) == ("Undo form of RPC", "Redo")
    undo.trigger()
    assert (undo.text(), redo.text()) == ("Undo", "Redo form of RPC")
    redo.trigger()
    assert window.explore.controls.form.currentIndex() == 1


def test_another_source_cannot_be_undone(window: MainWindow) -> None:
    window.state.update(seed=4)
    window.open_recipe(SMALL)
    assert not window.menus.actions["Undo"].isEnabled()


def test_arrows_walk_through_heads_and_layers_wherever_the_keyboard_is(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.state.open(FixedSource(layers=3, heads=4), Params(queries="asymmetric"))
    for place in (window.explore.controls.seed, window.explore.controls.level.slider, window.bar.head):
        window.state.update(layer=0, head=0)
        place.setFocus()
        press(qtbot, Key.Key_Right, CTRL)
        press(qtbot, Key.Key_Right, CTRL)
        press(qtbot, Key.Key_Left, CTRL)
        press(qtbot, Key.Key_Up, CTRL)
        assert (window.state.params.layer, window.state.params.head) == (1, 1), place


def test_tokens_are_selected_from_the_keyboard(qtbot: QtBot, window: MainWindow) -> None:
    press(qtbot, Key.Key_Right, ALT)
    assert window.state.selection == {0}
    press(qtbot, Key.Key_Right, ALT)
    press(qtbot, Key.Key_Right, ALT | SHIFT)
    assert window.state.selection == {1, 2}
    press(qtbot, Key.Key_Left, ALT | SHIFT)
    assert window.state.selection == {0, 1, 2}
    press(qtbot, Key.Key_Left, ALT)
    assert window.state.selection == {0}
    press(qtbot, Key.Key_Escape)
    assert window.state.selection == frozenset()
    press(qtbot, Key.Key_Left, ALT)
    assert window.state.selection == {23}


def test_home_brings_the_views_back_and_is_a_sliders_own(qtbot: QtBot, window: MainWindow) -> None:
    view = next(v for v in window.explore.views if v.name == "projection")
    plot = next(p for p in view.plot_items if isinstance(p, Plot))
    before = plot.vb.viewRange()
    plot.vb.scaleBy((0.3, 0.3))
    assert not np.allclose(plot.vb.viewRange(), before)
    view.setFocus()
    press(qtbot, Key.Key_Home)
    np.testing.assert_allclose(plot.vb.viewRange(), before)
    slider = window.explore.controls.level.slider
    slider.setValue(50)
    slider.setFocus()
    heard: list[bool] = []
    window.menus.actions["Reset views"].triggered.connect(heard.append)
    press(qtbot, Key.Key_Home)
    assert slider.value() == 0
    assert heard == []


def test_copy_as_python_gives_these_numbers(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.state.update(level=0.15, seed=2)
    press(qtbot, Key.Key_C, CTRL | ALT)
    path = tmp_path / "figure.py"
    path.write_text(QGuiApplication.clipboard().text(), encoding="utf-8")
    result = runpy.run_path(str(path))["result"]
    shown = window.state.result
    np.testing.assert_array_equal(result.map, shown.map)
    assert result.errors.rpc == shown.errors.rpc
    assert result.curves.breakdown == shown.curves.breakdown
    assert sentences(window) == ["A Python program that computes these numbers is on the clipboard."]


def test_the_palette_from_the_keyboard(qtbot: QtBot, window: MainWindow) -> None:
    window.explore.controls.seed.setFocus()
    for keys in ((Key.Key_K, CTRL), (Key.Key_P, CTRL | SHIFT)):
        press(qtbot, *keys)
        assert window.workbench.palette.isVisible()
        press(qtbot, Key.Key_Escape)
        assert not window.workbench.palette.isVisible()
    press(qtbot, Key.Key_K, CTRL)
    qtbot.keyClicks(QApplication.focusWidget(), "short")
    press(qtbot, Key.Key_Return)
    page = window.findChild(ShortcutsPage)
    assert page.isVisible()
    page.close()


def test_the_palette_has_every_action_of_the_window(window: MainWindow) -> None:
    there = {id(command.action) for command in commands(window)}
    missing = [
        action.text() for action in window.findChildren(QAction)
        if action.text() and not action.isSeparator() and action.parent() is window and action.menu() is None
        and id(action) not in there
    ]  # fmt: skip
    assert missing == []


def test_no_two_actions_share_keys(window: MainWindow) -> None:
    keys = Counter(
        sequence.toString() for command in commands(window) for sequence in command.action.shortcuts()
    )
    assert [key for key, count in keys.items() if count > 1] == []
    assert {"Ctrl+O", "Ctrl+E", "Ctrl+S", "Ctrl+Z", "Ctrl+Shift+Z", "Ctrl+K", "F1", "Home", "Ctrl+1"} <= set(
        keys
    )


def test_the_shortcuts_page_lists_every_key(qtbot: QtBot, window: MainWindow) -> None:
    press(qtbot, Key.Key_Slash, CTRL)
    page = window.findChild(ShortcutsPage)
    listed = [item.value().text(1) for item in QTreeWidgetItemIterator(page.list) if item.value().text(1)]
    assert sorted(listed) == sorted(command.keys for command in commands(window) if command.keys)
    page.close()


def test_f1_explains_the_panel_with_the_keyboard(qtbot: QtBot, window: MainWindow) -> None:
    panel = window.explore.panels["spectrum"]
    panel.view.setFocus()
    press(qtbot, Key.Key_F1)
    help_ = window.workbench.help
    assert help_.isVisible()
    assert help_.topics.currentItem().text() == "Key-Gram spectrum"
    assert "eigenvalues" in help_.page.toPlainText()
    help_.close()


@pytest.mark.parametrize("name", ["attention", "spectrum", "projection", "outputs"])
def test_the_i_of_each_panel_opens_its_definition(qtbot: QtBot, window: MainWindow, name: str) -> None:
    qtbot.mouseClick(window.explore.panels[name].help_button, LEFT)
    text = window.workbench.help.page.toPlainText()
    for part in ("How to read it", "How not to read it", "Sources:", "arXiv"):
        assert part in text, part
    assert "<sub>" not in text and "$" not in text
    assert "sub" in window.workbench.help.page.toHtml()
    window.workbench.help.close()


def test_every_panel_has_a_definition(window: MainWindow) -> None:
    assert {view.name for view in window.explore.views} <= set(DEFINITIONS)
    titles = {view.name: view.title for view in window.explore.views}
    assert {name: DEFINITIONS[name].title for name in titles} == titles


def test_geometry_and_panels_are_remembered(qtbot: QtBot) -> None:
    with sit_down(qtbot) as first:
        first.resize(1000, 720)
        first.explore.panels["outputs"].hide()
        first.explore.asides["health"].show()
        settle()
    with sit_down(qtbot) as second:
        assert second.height() == 720
        assert second.explore.panels["outputs"].isHidden()
        assert not second.explore.asides["health"].isHidden()
        second.menus.actions["Reset layout"].trigger()
        settle()
        assert not second.explore.panels["outputs"].isHidden()
        assert second.explore.asides["health"].isHidden()


def test_a_damaged_memory_is_left_alone(qtbot: QtBot) -> None:
    settings().setValue("window/layout", '{"panel-attention": {"x": "far"}}')
    settings().setValue("recent", "[[1]]")
    with sit_down(qtbot) as window:
        assert not window.explore.panels["attention"].isHidden()
        assert window.workbench.sessions.recents.entries == []


def test_every_control_has_a_name_for_who_cannot_see_it(window: MainWindow) -> None:
    window.menus.view.actions()
    named = (QAbstractButton, QComboBox, QSlider, QSpinBox)
    silent = [
        widget
        for kind in named
        for widget in window.findChildren(kind)
        if widget.isVisible() and not (widget.accessibleName() or getattr(widget, "text", str)())
    ]
    assert silent == []


def test_the_panel_with_the_keyboard_has_a_ring(window: MainWindow) -> None:
    canvas = window.explore.panels["projection"].view.canvas
    accent = QColor(theme.scheme().accent).rgb()
    for place, ringed in ((window.explore.controls.seed, False), (canvas, True)):
        place.setFocus()
        settle()
        edge = canvas.grab().toImage()
        assert (edge.pixel(edge.width() // 2, 0) == accent) is ringed


def test_tab_reaches_every_control_of_the_column(qtbot: QtBot, window: MainWindow) -> None:
    controls = window.explore.controls
    controls.entry.place.setFocus()
    seen: list[QWidget] = []
    for _ in range(40):
        seen.append(QApplication.focusWidget())
        press(qtbot, Key.Key_Tab)
    names = ("magnitude", "seed", "values", "form", "queries", "iterations", "lam_auto", "mu_auto")
    order = [controls.entry.kind, *(getattr(controls, name) for name in names)]
    assert [widget for widget in seen if widget in order][: len(order)] == order
    assert controls.level.slider in seen
