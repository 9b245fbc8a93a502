"""The robustness page: the keys taken apart, what S finds, and the phase diagram that can be clicked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.models.recipes import Recipe
from explorer.params import Params
from explorer.ui import export
from explorer.ui.robustness import RobustnessPage
from explorer.ui.theme import AXIS_PX, font
from explorer.ui.window import MainWindow
from explorer.views.phase import WORDS
from tests.sources import FixedSource
from tests.views.pointer import click

TICK = 10
"""Pixels between the bar and its words."""


def show(window: MainWindow) -> None:
    titles = [window.pages.row.tabText(i) for i in range(window.pages.count)]
    window.pages.show_page(titles.index("Robustness"))


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    window = build(inline=True)
    window.show()
    window.open_recipe(Recipe(tokens=20, dim=6, components=3))
    window.state.update(level=0.1)
    show(window)
    yield window
    window.close()
    window.deleteLater()


def page_of(window: MainWindow) -> RobustnessPage:
    page = window.pages.page(window.pages.place)
    assert isinstance(page, RobustnessPage)
    return page


def test_the_phase_diagram_marks_the_present_point_and_a_click_goes_there(window: MainWindow) -> None:
    view = page_of(window).phase
    names, columns = view.table()
    assert len(names) == len(columns) and len(columns[0]) == 400
    QApplication.processEvents()
    plot = view.plot_items[0]
    middle = plot.vb.sceneBoundingRect().center()
    row, column = view.cell_at(QPointF(middle))
    before = window.state.params
    click(view, QPointF(middle))
    after = window.state.params
    assert (after.lam, after.level) != (before.lam, before.level)
    assert after.lam is not None and 0 < after.level < 0.5
    assert row >= 0 and column >= 0


def test_the_diagram_agrees_with_the_point_itself(window: MainWindow) -> None:
    view = page_of(window).phase
    names, columns = view.table()
    table = dict(zip(names, columns, strict=True))
    assert {name for name in names if "λ" in name or "lam" in name}, names
    finite = [column for column in table.values() if isinstance(column, np.ndarray)]
    assert all(np.isfinite(column).any() for column in finite)


def test_exact_pcp_and_the_scores_arrive_at_rest(window: MainWindow, qtbot: QtBot) -> None:
    page = page_of(window)
    before = page.decomposition.table()[0]
    qtbot.waitUntil(lambda: page.decomposition.table()[0] != before or len(page.support.table()[0]) > 0)
    assert page.support.table()[0]


def test_the_scrubber_shows_each_iteration(window: MainWindow) -> None:
    view = page_of(window).decomposition
    assert view.result is not None and view.result.decomposition is not None
    low = view.result.decomposition.low
    assert low.shape[0] == window.state.params.iterations
    view.set_options({"iteration": 1})
    assert view.iteration == 1


def test_the_added_part_is_what_contamination_added(window: MainWindow) -> None:
    found = window.state.result.decomposition
    assert np.count_nonzero(found.hit) == round(0.1 * found.hit.size)
    assert (found.added[~found.hit] == 0).all()


@pytest.mark.parametrize("kind", ["png", "svg", "pdf", "csv"])
def test_every_panel_is_exported(window: MainWindow, kind: export.Format) -> None:
    for view in page_of(window).views:
        assert len(export.export_bytes([view], kind)) > 100


def test_a_head_without_rpc_says_why(window: MainWindow) -> None:
    window.state.open(FixedSource(value_dim=6), Params(level=0.1))
    for view in page_of(window).views:
        assert view.result is None


def test_closing_with_the_page_open_leaves_no_thread(qtbot: QtBot, tmp_path: Path) -> None:
    window = build()
    window.show()
    window.open_recipe(Recipe())
    qtbot.waitUntil(lambda: window.state.result is not None, timeout=30_000)
    show(window)
    window.state.update(level=0.1)
    qtbot.wait(300)
    window.close()
    window.deleteLater()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gramscope-")]


def test_another_head_does_not_meet_the_exact_parts_of_the_last_one(window: MainWindow) -> None:
    page = page_of(window)
    page._take_apart()
    assert page.decomposition.exact is not None
    window.open_recipe(Recipe(tokens=30, dim=8, components=3))
    QApplication.processEvents()
    assert window.state.result is not None and window.state.result.decomposition is not None
    assert window.state.result.decomposition.keys.shape == (30, 8)


def test_an_input_that_is_contaminated_is_taken_apart_too(window: MainWindow, qtbot: QtBot) -> None:
    window.opener.open_sample()
    window.state.update(contamination="salt and pepper", level=0.2, layer=1, iterations=2)
    page = page_of(window)
    qtbot.waitUntil(page.is_complete, timeout=20_000)
    keys = window.state.result.decomposition.keys
    assert page.decomposition.exact.low.shape == keys.shape
    assert np.isfinite(page.support.table()[1][3]).all(), "the share of K in S over λ"
    assert "nobody knows" in page.support._strip.text
    phase = page.phase._phase
    assert phase.done == phase.wanted and np.isfinite(phase.own).all()
    assert "at " in page.phase._strip.text and not window.messages.bars
    window.state.update(level=0.0)
    assert "nothing to find" in page.support._strip.text, "at level 0 the input is as it was"
    window.state.update(contamination="sparse", level=0.1)
    qtbot.waitUntil(page.is_complete, timeout=20_000)
    assert page.phase._phase.own.shape != phase.own.shape


def test_another_source_ends_what_is_taken_apart_of_the_last_one(window: MainWindow) -> None:
    page = page_of(window)
    told: list[bool] = []
    page._streams["phase"].running_changed.connect(told.append)
    window.state.source_changed.emit(window.state.source)
    assert told == [False]


def test_the_maps_of_the_keys_are_equally_wide(window: MainWindow) -> None:
    window.resize(1400, 800)
    view = page_of(window).decomposition
    QApplication.processEvents()
    view.grab()
    for tiles in view._tiles:
        widths = [tile.plot.vb.width() for tile in tiles]
        assert widths == pytest.approx([widths[0]] * 3, abs=2)


def test_the_longest_words_at_the_colour_bar_have_room() -> None:
    assert QFontMetricsF(font(AXIS_PX)).horizontalAdvance("softmax, ≥ 100 × less") <= WORDS - TICK
