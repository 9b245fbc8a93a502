"""Pin a picture, go elsewhere, and read the difference, as a person does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from explorer.params import Params
from explorer.ui import export
from explorer.ui.compare import ComparePage
from explorer.ui.theme import font
from explorer.ui.window import MainWindow
from explorer.views.compare_base import NOTHING_PINNED
from tests.sources import FixedSource
from tests.ui.desk import CTRL, SHIFT, press, sentences, settle, sit_down
from tests.views.pointer import at


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot, None) as window:
        window.state.open(FixedSource(), Params(level=0.1))
        settle()
        yield window


def page_of(window: MainWindow) -> ComparePage:
    titles = [window.pages.row.tabText(i) for i in range(window.pages.count)]
    window.pages.show_page(titles.index("Compare"))
    settle()
    page = window.pages.page(window.pages.place)
    assert isinstance(page, ComparePage)
    return page


def test_before_anything_is_pinned_the_page_says_what_to_do(window: MainWindow) -> None:
    for view in page_of(window).views:
        assert view.result is None and view._sentence.text() == NOTHING_PINNED


def test_the_page_offers_to_pin(window: MainWindow) -> None:
    page = page_of(window)
    offered = [view._button for view in page.views if view._button.isVisible()]
    assert [button.text() for button in offered] == ["Pin as reference"]
    offered[0].click()
    settle()
    assert window.state.reference is not None
    assert all(view.result is not None for view in page.views)
    window.state.pin(None)
    settle()
    assert offered[0].isVisible()


def test_pin_by_keyboard_then_another_head(window: MainWindow, qtbot: QtBot) -> None:
    before = window.state.result
    press(qtbot, Qt.Key.Key_R, CTRL | SHIFT)
    assert any("Pinned fixed · layer 0 head 0" in said for said in sentences(window))
    window.state.update(layer=1, head=2)
    page = page_of(window)
    now = window.state.result
    assert page.maps.maps[2].values == pytest.approx(now.map - before.map)
    columns = page.numbers.table()[1]
    table = dict(zip(columns[0], columns[3], strict=True))
    assert table["e_softmax"] == pytest.approx(now.errors.softmax - before.errors.softmax)
    said = page.maps.reading_at(at(page.maps.maps[2].plot, 3.5, 2.5))
    assert said.startswith("‘t2’ (2) → ‘t3’ (3): pinned ") and "difference" in said


def test_it_survives_another_source_with_other_tokens(window: MainWindow) -> None:
    window.menus.actions["Pin as reference"].trigger()
    window.state.open(FixedSource(tokens=9), Params())
    page = page_of(window)
    assert "12 tokens and this one 9" in page.maps.maps[2].strip.text
    assert not page.maps.maps[2].plot.isVisible()
    assert len(page.spectrum.table()[1][0]) >= 8


def test_of_the_same_clean_keys_the_pinned_queries_lie_behind_the_present(window: MainWindow) -> None:
    before = window.state.result.projection
    window.menus.actions["Pin as reference"].trigger()
    window.state.update(level=0.3)
    view = page_of(window).projection
    left, right = view.planes
    now = window.state.result.projection
    factor = 10.0 ** (before.log10_unit - now.log10_unit)
    ghost = np.stack([right.ghost.data["x"], right.ghost.data["y"]], 1)
    assert ghost == pytest.approx(before.moved_queries * factor)
    assert right.at == pytest.approx(now.moved_queries)
    assert left.plot.vb.viewRect() == right.plot.vb.viewRect()
    assert right.strip.text.endswith("pinned")
    assert "pinned: fixed" in view.reading_at(at(left.plot, *left.at[3]))
    window.state.select(frozenset({3}))
    assert [right.ring.data["x"][0], right.ring.data["y"][0]] == pytest.approx(right.at[3])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"head": 2}, "clean keys"),
        ({"axes": (0, 2)}, "different principal axes"),
        ({"centred": True}, "mean map"),
    ],
)
def test_on_other_axes_the_projections_are_beside_each_other_with_a_sentence(
    window: MainWindow, change: dict[str, object], why: str
) -> None:
    window.menus.actions["Pin as reference"].trigger()
    window.state.update(**change)
    view = page_of(window).projection
    said = next(part for part in view.planes[1].strip.parts if why in part.text)
    assert said.line is None and not said.symbol  # a sentence, no curve
    assert not len(view.planes[1].ghost.data) and len(view.planes[0].at) == len(view.planes[1].at) == 12


def test_without_two_axes_there_is_a_sentence(window: MainWindow) -> None:
    window.menus.actions["Pin as reference"].trigger()
    window.state.open(FixedSource(tokens=2), Params())
    view = page_of(window).projection
    assert view.result is None and "present picture has no projection" in view._sentence.text()


def test_a_level_change_moves_the_difference(window: MainWindow) -> None:
    window.menus.actions["Pin as reference"].trigger()
    page = page_of(window)
    assert not np.any(page.maps.maps[2].values)
    window.state.update(level=0.3)
    settle()
    assert np.any(page.maps.maps[2].values)


def test_unpin_empties_the_page(window: MainWindow) -> None:
    unpin = window.menus.actions["Unpin"]
    assert not unpin.isEnabled()
    window.menus.actions["Pin as reference"].trigger()
    page = page_of(window)
    unpin.trigger()
    assert page.maps.result is None and not unpin.isEnabled()


def test_nothing_to_pin_is_said(qtbot: QtBot) -> None:
    with sit_down(qtbot, None) as window:
        window.menus.actions["Pin as reference"].trigger()
        assert any("no picture to pin" in said for said in sentences(window))


@pytest.mark.parametrize("kind", ["png", "svg", "pdf", "csv"])
def test_every_panel_is_exported(window: MainWindow, kind: export.Format) -> None:
    window.menus.actions["Pin as reference"].trigger()
    window.state.update(head=1)
    for view in page_of(window).views:
        assert len(export.export_bytes([view], kind)) > 200


def test_colour_bars_are_as_high_as_the_maps_and_shared_where_the_scale_is(window: MainWindow) -> None:
    page = page_of(window)
    window.menus.actions["Pin as reference"].trigger()
    window.state.update(layer=1, head=2)
    settle()
    page.grab()
    first, second, third = page.maps.maps
    for tile in (second, third):
        assert tile.bar.vb.sceneBoundingRect().height() == pytest.approx(
            tile.plot.vb.sceneBoundingRect().height(), abs=2
        )
    assert not first.bar.isVisible() and second.bar.isVisible()
    assert first.plot.getAxis("left").isVisible() and not second.plot.getAxis("left").isVisible()
    window.state.update(variant="gram")
    settle()
    page.grab()
    assert first.bar.isVisible()
    assert first.bar.vb.sceneBoundingRect().height() == pytest.approx(
        first.plot.vb.sceneBoundingRect().height(), abs=2
    )


def test_compared_maps_are_equally_wide_whoever_has_the_axis_and_however_wide_the_window(
    window: MainWindow,
) -> None:
    page = page_of(window)
    window.menus.actions["Pin as reference"].trigger()
    window.state.update(layer=1, head=2)
    for width in (1100, 1500, 1200):
        window.resize(width, 700)
        settle()
        page.grab()
        widths = [tile.plot.vb.width() for tile in page.maps.maps]
        assert widths == pytest.approx([widths[0]] * 3, abs=2)
        assert sum(widths) > 0.5 * page.maps.canvas.width()


def test_rows_of_numbers_keep_apart_in_the_lowest_window(window: MainWindow) -> None:
    page = page_of(window)
    window.resize(window.minimumSize())
    window.menus.actions["Pin as reference"].trigger()
    settle()
    lines = page.numbers.lines
    assert QFontMetricsF(font(lines.type_px)).capHeight() < 0.85 * lines.line
    assert lines.type_px < lines.line
