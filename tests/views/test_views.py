"""What every panel must do."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QAction, QImage
from PySide6.QtWidgets import QApplication

from explorer.ui import theme
from explorer.ui.export import export_bytes
from tests.views import factory
from tests.views.conftest import KINDS
from tests.views.pixels import array, count, pixels
from tests.views.pointer import click

kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
RESULTS = {
    "text": factory.text,
    "digits": factory.digits,
    "masked": factory.causal,
    "one": lambda: factory.text(1),
    "two": lambda: factory.text(2),
    "clean": lambda: factory.text(level=0.0),
    "many": lambda: factory.synthetic(2000),
}


@kinds
def test_has_names_and_help(kind):
    assert kind.name.isidentifier()
    assert kind.title
    assert 2 <= kind.help.count(". ") + 1 <= 7
    assert "arXiv" in kind.help


@kinds
def test_minimum_size_is_enough_to_draw(kind, shown):
    view = shown(kind, factory.text())
    view.resize(view.minimumSize())
    assert 200 <= view.minimumWidth() <= 400
    assert view.minimumHeight() <= 240
    for plot in view.plot_items:
        assert plot.vb.width() >= 8
        assert plot.vb.height() >= 8


@kinds
@pytest.mark.parametrize("name", RESULTS)
def test_shows_a_result(kind, name, shown):
    view = shown(kind)
    empty = pixels(view)
    view.state.show(RESULTS[name]())
    assert view.result is view.state.result
    assert view.plot_items
    assert (pixels(view) != empty).any()


@kinds
def test_shows_nothing_yet(kind, shown, settle_paint):
    view = shown(kind)
    assert view.result is None
    assert view.table() == ([], [])
    before = pixels(view)
    opened = []
    action = QAction("Open…", view)
    action.triggered.connect(lambda: opened.append(True))
    view.show_nothing("Nothing here. Open a model.", action)
    settle_paint()
    assert (pixels(view) != before).any()
    view._button.click()
    assert opened


@kinds
def test_survives_nan(kind, shown):
    view = shown(kind, factory.without_numbers())
    pixels(view)
    view.state.select(frozenset({1}))
    view.state.show(factory.text())
    assert view.result is not None


@kinds
def test_same_result_gives_the_same_pixels_again(kind, shown):
    first = factory.synthetic(level=0.05)
    view = shown(kind, first)
    before = pixels(view)
    view.state.show(factory.synthetic(level=0.4))
    assert (pixels(view) != before).any()
    view.state.show(first)
    assert np.array_equal(pixels(view), before)


@kinds
def test_a_light_and_a_dark_picture_return(kind, shown, settle_paint):
    view = shown(kind, factory.text())
    before = pixels(view)
    with theme.theme().using(theme.DARK):
        settle_paint()
        dark = pixels(view)
        assert count(dark, theme.DARK.background, 2) > dark[..., 0].size / 8
        assert count(dark[4:], theme.LIGHT.background, 0) < dark[..., 0].size / 8
    settle_paint()
    assert np.array_equal(pixels(view), before)


@kinds
def test_selection_marks_pixels_and_goes_away(kind, shown):
    view = shown(kind, factory.text())
    before = pixels(view)
    view.state.select(frozenset({3, 7}))
    marked = pixels(view)
    assert count(marked, theme.LIGHT.accent) > count(before, theme.LIGHT.accent) + 20
    view.state.select(frozenset())
    assert np.array_equal(pixels(view), before)


@kinds
def test_a_selection_from_elsewhere_in_the_input_marks_nothing(kind, shown):
    view = shown(kind, factory.text())
    before = pixels(view)
    view.state.select(frozenset({999}))
    assert np.array_equal(pixels(view), before)


@kinds
def test_contaminated_tokens_have_a_mark(kind, shown):
    view = shown(kind, factory.text(level=0.0))
    clean = pixels(view)
    view.state.show(factory.text(level=0.2))
    assert (pixels(view) != clean).any()


@kinds
def test_working_line(kind, shown):
    view = shown(kind, factory.text())
    before = pixels(view)
    view.working(True)
    assert (pixels(view)[:2] != before[:2]).any()
    view.working(False)
    assert np.array_equal(pixels(view), before)


@kinds
def test_table_has_equal_lengths_and_unique_names(kind, shown):
    view = shown(kind, factory.digits())
    names, columns = view.table()
    assert len(names) == len(set(names)) == len(columns)
    assert len({len(column) for column in columns}) == 1


@kinds
def test_exports_can_be_read_back(kind, shown):
    view = shown(kind, factory.text())
    picture = QImage.fromData(export_bytes([view], "png"))
    assert not picture.isNull()
    assert len(np.unique(array(picture).reshape(-1, 3), axis=0)) > 5
    drawing = export_bytes([view], "svg").decode()
    assert "<text" in drawing
    assert "<path" in drawing
    assert export_bytes([view], "pdf").startswith(b"%PDF")
    lines = [line for line in export_bytes([view], "csv").decode().splitlines() if not line.startswith("#")]
    rows = list(csv.reader(io.StringIO("\n".join(lines))))
    assert rows[0] == view.table()[0]


@kinds
def test_an_export_leaves_the_screen_as_it_was(kind, shown, settle_paint):
    view = shown(kind, factory.text())
    before = pixels(view)
    export_bytes([view], "png")
    settle_paint()
    assert np.array_equal(pixels(view), before)


@kinds
def test_a_click_beside_every_token_clears_the_selection(kind, shown):
    view = shown(kind, factory.text())
    view.state.select(frozenset({2}))
    click(view, QPointF(view.canvas.width() - 3, 3))
    assert view.state.selection == frozenset()


@kinds
def test_hover_label_stays_inside_and_goes_with_the_pointer(kind, shown):
    view = shown(kind, factory.text())
    view.canvas.say(
        "a reading that is rather long", QPointF(view.canvas.width() - 2, view.canvas.height() - 2)
    )
    assert view.canvas.reading.isVisible()
    assert view.canvas.rect().contains(view.canvas.reading.geometry())
    QApplication.sendEvent(view.canvas, QEvent(QEvent.Type.Leave))
    assert not view.canvas.reading.isVisible()


@kinds
def test_ranges_wait_while_a_button_is_held(kind, shown, qtbot, monkeypatch):
    view = shown(kind, factory.synthetic(level=0.02))
    ranges = [plot.vb.viewRange() for plot in view.plot_items]
    held = [Qt.MouseButton.LeftButton]
    monkeypatch.setattr("explorer.views.picture.QGuiApplication.mouseButtons", lambda: held[0])
    view.state.show(factory.synthetic(level=0.5, seed=1))
    assert [plot.vb.viewRange() for plot in view.plot_items] == ranges
    held[0] = Qt.MouseButton.NoButton
    qtbot.waitUntil(lambda: not view._rest.isActive())
    settled = [plot.vb.viewRange() for plot in view.plot_items]
    view.redraw()
    assert [plot.vb.viewRange() for plot in view.plot_items] == settled
