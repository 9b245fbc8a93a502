"""The figure dialog, worked as a person would."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from explorer.settings import settings
from explorer.ui.exporting.figure import Panel, rows_of
from explorer.ui.exporting.presets import LEAST_PT, PRESETS, Preset, preset_figure
from explorer.ui.figure_dialog import FigureDialog
from explorer.ui.figure_form import KEY, SIZES, Choices, remembered
from explorer.ui.window import MainWindow
from tests.ui.desk import CTRL, press, sentences, settle, sit_down


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot) as window:
        yield window


def opened(qtbot: QtBot, window: MainWindow) -> FigureDialog:
    press(qtbot, Qt.Key.Key_E, CTRL)
    dialog = window.findChild(FigureDialog)
    assert dialog is not None
    return dialog


def click(qtbot: QtBot, dialog: FigureDialog, text: str) -> None:
    button = next(button for button in dialog.findChildren(QPushButton) if button.text() == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    settle()


def drawn(qtbot: QtBot, dialog: FigureDialog) -> QImage:
    qtbot.waitUntil(lambda: not dialog._rest.isActive())
    return dialog.preview.pixmap().toImage()


def proportions(image: QImage) -> float:
    return image.width() / image.height()


def test_panels_in_sight_are_in_it_and_the_preview_has_their_proportions(
    qtbot: QtBot, window: MainWindow
) -> None:
    dialog = opened(qtbot, window)
    assert [box.text() for box in dialog.boxes] == [
        "Attention", "Key-Gram spectrum", "Queries in feature space", "Outputs under contamination", "Input",
    ]  # fmt: skip
    assert [box.isChecked() for box in dialog.boxes] == [True, True, True, True, False]
    before = drawn(qtbot, dialog)
    assert proportions(before) == pytest.approx(183 / dialog.form.choices().height_mm, rel=0.01)
    dialog.boxes[0].click()
    assert drawn(qtbot, dialog) != before
    dialog.reject()


def test_a_panels_own_export_starts_with_that_panel(qtbot: QtBot, window: MainWindow) -> None:
    window.exports.ask([window.explore.views[1]])
    dialog = window.findChild(FigureDialog)
    assert dialog is not None
    assert dialog.chosen() == [window.explore.views[1]]
    dialog.reject()


@pytest.mark.parametrize(("size", "width", "font"), [("one column", 89, 6), ("slide", 338.7, 9.7)])
def test_a_preset_sets_the_fields(
    size: str, width: float, font: float, qtbot: QtBot, window: MainWindow
) -> None:
    dialog = opened(qtbot, window)
    dialog.form.preset.setCurrentText(size)
    choices = dialog.form.choices()
    assert (choices.width_mm, choices.font_pt, choices.size) == (width, font, size)
    dialog.form.font_size.setValue(9)
    assert dialog.form.preset.currentText() == "my own"
    dialog.form.wide.setValue(100)
    assert proportions(drawn(qtbot, dialog)) == pytest.approx(100 / choices.height_mm, rel=0.02)
    dialog.reject()


def test_a_column_grows_with_its_panels_as_far_as_a_page() -> None:
    heights = [preset_figure("one column", [False] * panels).height_mm for panels in (1, 2, 3, 6)]
    assert heights == [62, 124, 186, 234]
    assert preset_figure("one column", [True]).height_mm > 62


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("panels", range(1, 7))
def test_rows_of_a_preset_are_high_enough_or_the_type_is_the_least_that_is_printed(
    preset: Preset, panels: int
) -> None:
    figure = preset_figure(preset, [False] * panels)
    rows = -(-panels // figure.columns)
    assert figure.size.height() / rows >= 280 or figure.font_pt == LEAST_PT
    assert figure.font_pt <= preset_figure(preset, [False]).font_pt


def test_what_is_saved_is_what_was_chosen(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    dialog = opened(qtbot, window)
    dialog.form.preset.setCurrentText("one column")
    dialog.form.dpi.setValue(150)
    dialog.form.paper.setCurrentText("dark")
    dialog.form.kind.setCurrentText("SVG")
    figure = dialog.form.choices().figure
    click(qtbot, dialog, "Save…")
    chooser = dialog.findChild(QFileDialog)
    assert chooser is not None and chooser.defaultSuffix() == "svg"
    chooser.fileSelected.emit(str(tmp_path / "a.svg"))
    settle()
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert root.get("width") == "89mm" and root.get("height") == f"{figure.height_mm:g}mm"
    assert root.find("{http://www.w3.org/2000/svg}rect").get("fill") == figure.scheme.background  # type: ignore[union-attr]
    assert any("Saved a.svg" in sentence for sentence in sentences(window))
    assert window.findChild(FigureDialog) is None
    window.activateWindow()
    settle()
    again = opened(qtbot, window)
    assert again.form.choices().figure == figure and again.form.choices().kind == "svg"
    again.save(tmp_path / "b.png")
    picture = QImage(str(tmp_path / "b.png"))
    assert picture.width() == round(89 / 25.4 * 150)
    settle()


def test_the_caption_names_panels_setting_and_program(qtbot: QtBot, window: MainWindow) -> None:
    window.state.update(level=0.05, lam=3.0)
    settle()
    dialog = opened(qtbot, window)
    click(qtbot, dialog, "Copy caption")
    text = QApplication.clipboard().text()
    for part in ("(a) Attention:", "(d) Outputs", "level 0.05", "λ = 3", "published", "Gramscope"):
        assert part in text
    assert "$" not in text
    assert any("caption is on the clipboard" in sentence for sentence in sentences(window))
    dialog.reject()


def test_copying_takes_the_chosen_size(qtbot: QtBot, window: MainWindow) -> None:
    dialog = opened(qtbot, window)
    dialog.form.wide.setValue(100)
    dialog.form.dpi.setValue(127)
    click(qtbot, dialog, "Copy picture")
    assert QApplication.clipboard().image().width() == 500
    dialog.reject()


def test_no_panel_or_no_room_is_a_sentence(qtbot: QtBot, window: MainWindow) -> None:
    dialog = opened(qtbot, window)
    dialog.form.preset.setCurrentText("my own")
    dialog.form.font_size.setValue(40)
    dialog.form.wide.setValue(20)
    dialog.draw()
    assert "too small" in dialog.preview.text()
    for box in dialog.boxes:
        box.setChecked(False)
    dialog.draw()
    assert "Tick a panel" in dialog.preview.text()
    save = next(button for button in dialog.findChildren(QPushButton) if button.text() == "Save…")
    assert not save.isEnabled()
    dialog.reject()


def test_with_nothing_to_show_there_is_no_dialog(qtbot: QtBot) -> None:
    with sit_down(qtbot, None) as window:
        press(qtbot, Qt.Key.Key_E, CTRL)
        assert window.findChild(FigureDialog) is None
        assert any("no picture to export" in sentence for sentence in sentences(window))


@pytest.mark.parametrize(
    ("wide", "rows"),
    [
        ((False, False, True, False), [[0, 1], [2], [3]]),
        ((True, False, False, False), [[0], [1, 2], [3]]),
        ((True, True), [[0], [1]]),
    ],
)
def test_several_plots_side_by_side_have_a_row_for_themselves(
    wide: tuple[bool, ...], rows: list[list[int]], qtbot: QtBot, window: MainWindow
) -> None:
    assert rows_of(wide, 2) == rows
    assert preset_figure("two columns", wide).height_mm == 66 * len(rows)
    views = window.explore.views[: len(wide)]
    panels = [Panel(view.canvas.ci, view.title, each) for view, each in zip(views, wide, strict=True)]
    places = [picture for _, picture in preset_figure("two columns", wide).cells(panels)]
    for row in rows:
        assert len({places[i].top() for i in row}) == 1
        assert [places[i].width() > 420 for i in row] == [wide[i] for i in row]


@pytest.mark.parametrize("kept", ["{", '{"dpi": 1e9}', '{"paper": "green"}', "[]"])
def test_damaged_preferences_are_left_alone(kept: str) -> None:
    settings().setValue(KEY, kept)
    assert remembered() == Choices()
    assert SIZES[1] == Choices().size
