"""Undo and redo in the laboratory, by keys and hands; training runs on its real thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QSlider, QStyle, QStyleOptionSlider
from pytestqt.qtbot import QtBot

from explorer import history
from explorer.lab.setting import Data
from explorer.ui.lab import LabPage
from explorer.ui.lab_controls import LabControls
from explorer.ui.window import MainWindow
from tests.ui.desk import CTRL, SHIFT, press, sentences, settle
from tests.ui.lab_desk import LEFT, drag, laboratory, place_of, press_button, step_of

Key = Qt.Key


@pytest.fixture
def window(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    monkeypatch.setattr(history, "RUN_MS", 0)
    with laboratory(qtbot) as window:
        yield window


@pytest.fixture
def page(window: MainWindow) -> LabPage:
    return window.findChild(LabPage)


def undo(qtbot: QtBot) -> None:
    press(qtbot, Key.Key_Z, CTRL)


def redo(qtbot: QtBot) -> None:
    press(qtbot, Key.Key_Z, CTRL | SHIFT)


def pull(slider: QSlider, *steps: int) -> None:
    """Drag the handle of a slider by some pixels, and some more, before letting go."""

    def handle() -> QPoint:
        option = QStyleOptionSlider()
        slider.initStyleOption(option)
        control, part = QStyle.ComplexControl.CC_Slider, QStyle.SubControl.SC_SliderHandle
        return slider.style().subControlRect(control, option, part, slider).center()

    QTest.mousePress(slider, LEFT, pos=handle())
    for step in steps:
        QTest.mouseMove(slider, handle() + QPoint(step, 0))
    QTest.mouseRelease(slider, LEFT, pos=handle())
    settle()


def choose(combo: QComboBox, key: str) -> None:
    combo.setCurrentIndex(combo.findData(key))
    combo.activated.emit(combo.currentIndex())


HANDS: dict[str, Callable[[LabControls], object]] = {
    "attention": lambda c: choose(c.kind, "linear"),
    "what is trained": lambda c: choose(c.structure, "free"),
    "count of directions": lambda c: c.rank.field.setValue(3),
    "λσ₁": lambda c: c.coupling.field.setValue(0.5),
    "learning λ": lambda c: c.learn.click(),
    "data": lambda c: choose(c.family, "power"),
    "data, spectrum": lambda c: choose(c.family, "drawn"),
    "d": lambda c: c.d.field.setValue(4),
    "θ": lambda c: c.theta.field.setValue(5.0),
    "exponent e": lambda c: c.exponent.field.setValue(2.0),
    "ν": lambda c: c.degrees.field.setValue(30),
    "L": lambda c: c.length.slider.setValue(200),
    "whitening": lambda c: c.whiten.click(),
    "batch": lambda c: c.batch.field.setValue(16),
    "learning rate": lambda c: c.rate.field.setValue(0.3),
    "seed": lambda c: c.seed.setValue(4),
    "kind of contamination": lambda c: choose(c.contamination, "tokens"),
    "level": lambda c: c.level.field.setValue(0.2),
    "magnitude": lambda c: c.magnitude.field.setValue(3.0),
    "cleaning": lambda c: c.clean.click(),
    "iterations of the pursuit": lambda c: c.iterations.field.setValue(5),
}
"""What every control of the column changes, and what the menu calls it."""


def test_every_control_is_taken_back_and_repeated(window: MainWindow, page: LabPage, qtbot: QtBot) -> None:
    action = window.menus.actions["Undo"]
    beginning = page.state.setting
    met = [beginning]
    for name, act in HANDS.items():
        act(page.controls)
        assert action.text() == f"Undo {name}"
        met.append(page.state.setting)
    page.controls.start.setFocus()
    for setting in met[-2::-1]:
        undo(qtbot)
        assert page.state.setting == setting
    assert not action.isEnabled()
    for setting in met[1:]:
        redo(qtbot)
        assert page.state.setting == setting
    qtbot.waitUntil(lambda: page.alignment.result.setting == met[-1])
    assert page.controls.kind.currentData() == "linear"


def test_a_slider_that_is_dragged_is_one_step(window: MainWindow, page: LabPage, qtbot: QtBot) -> None:
    before = page.state.setting.coupling
    slider = page.controls.coupling.slider
    pull(slider, 5, 10, 20)
    first = page.state.setting.coupling
    pull(slider, 3, -20)
    assert len({before, first, page.state.setting.coupling}) == 3
    undo(qtbot)
    assert page.state.setting.coupling == first
    undo(qtbot)
    assert page.state.setting.coupling == before
    assert not window.menus.actions["Undo"].isEnabled()


def test_a_bar_that_is_dragged_is_one_step(window: MainWindow, page: LabPage, qtbot: QtBot) -> None:
    plain = page.state.setting
    view = page.spectrum
    drag(view, view.plot, (3.0, 0.9), (3.0, 2.5))
    qtbot.waitUntil(lambda: view.result.setting == page.state.setting)
    first = page.state.setting
    drag(view, view.plot, (5.0, 0.9), (5.0, 3.5))
    qtbot.waitUntil(lambda: view.result.setting == page.state.setting)
    assert window.menus.actions["Undo"].text() == "Undo spectrum"
    undo(qtbot)
    assert page.state.setting == first
    undo(qtbot)
    assert page.state.setting == plain
    qtbot.waitUntil(lambda: view.result.setting == plain)
    assert view.reading_at(view.plot.vb.mapViewToScene(view.plot.vb.viewRect().center())).endswith("= 1")
    redo(qtbot)
    redo(qtbot)
    assert page.state.setting.data.spectrum[4] == pytest.approx(3.5, abs=0.05)


def test_sixty_steps(page: LabPage, qtbot: QtBot) -> None:
    seed = page.controls.seed
    seed.setFocus()
    for _ in range(60):
        qtbot.keyClick(seed, Key.Key_Up)
    assert page.state.setting.seed == 60
    for _ in range(60):
        qtbot.keyClick(seed, Key.Key_Z, CTRL)
    assert page.state.setting.seed == 0


def test_each_page_has_its_own(window: MainWindow, page: LabPage, qtbot: QtBot) -> None:
    window.state.update(level=0.2)
    page.controls.theta.field.setValue(4.0)
    undo(qtbot)
    undo(qtbot)
    assert (window.state.params.level, page.state.setting.data.theta) == (0.2, 3.0)
    window.pages.show_page(place_of(window, "Study"))
    assert not window.menus.actions["Undo"].isEnabled() and not window.menus.actions["Redo"].isEnabled()
    undo(qtbot)
    window.pages.show_page(0)
    assert window.menus.actions["Undo"].text() == "Undo level"
    redo(qtbot)
    undo(qtbot)
    assert window.state.params.level == 0
    assert page.state.setting.data.theta == 3.0
    window.pages.show_page(place_of(window, "Laboratory"))
    redo(qtbot)
    assert (window.state.params.level, page.state.setting.data.theta) == (0, 4.0)


def test_while_training_it_acts_as_a_hand_would(page: LabPage, qtbot: QtBot) -> None:
    page.controls.speed.field.setValue(200)
    press_button(qtbot, page.controls.start)
    page.controls.coupling.field.setValue(0.5)
    qtbot.waitUntil(lambda: page.alignment.result.coupling == 0.5 and step_of(page) > 20)
    undo(qtbot)
    before = step_of(page)
    qtbot.waitUntil(lambda: page.alignment.result.coupling == 1.0 and step_of(page) > before)
    assert page.training.running
    page.controls.d.field.setValue(4)
    qtbot.waitUntil(lambda: len(page.alignment.result.eigenvalues) == 4 and step_of(page) > 20)
    undo(qtbot)
    qtbot.waitUntil(lambda: len(page.alignment.result.eigenvalues) == 10)
    assert page.training.running
    press_button(qtbot, page.controls.start)


def test_what_was_refused_cannot_be_brought_back(
    window: MainWindow, page: LabPage, qtbot: QtBot, tmp_path: Path
) -> None:
    page.controls.theta.field.setValue(4.0)
    before = page.state.setting
    (tmp_path / "words.csv").write_text("a,b\n1,x\n")
    page.open_table("rows", tmp_path / "words.csv")
    qtbot.waitUntil(lambda: bool(sentences(window)))
    assert page.state.setting == before
    assert not window.menus.actions["Redo"].isEnabled()
    window.activateWindow()
    settle()
    undo(qtbot)
    assert page.state.setting == before.with_data(theta=3.0)
    redo(qtbot)
    assert page.state.setting == before


def test_typed_eigenvalues(page: LabPage, qtbot: QtBot) -> None:
    page.state.update(data=Data("drawn", spectrum=(3.0, 1.0)))
    field = page.controls.spectrum
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "5, 2")
    qtbot.keyClick(field, Key.Key_Z, CTRL)
    assert page.state.setting.data.spectrum == (3.0, 1.0), "what is being typed is undone first"
    field.selectAll()
    qtbot.keyClicks(field, "5, 2, 1")
    qtbot.keyClick(field, Key.Key_Return)
    assert page.state.setting.data.spectrum == (5.0, 2.0, 1.0)
    undo(qtbot)
    assert page.state.setting.data.spectrum == (3.0, 1.0)
    assert field.text() == "3, 1"


def test_words_are_walked_through_in_a_field_of_words(page: LabPage, qtbot: QtBot) -> None:
    page.state.update(data=Data("drawn", spectrum=(3.0, 1.0)))
    field = page.controls.spectrum
    field.setFocus()
    field.setCursorPosition(4)
    qtbot.keyClick(field, Key.Key_Left, CTRL)
    assert field.cursorPosition() == 3
