"""The overview page, used as a person does."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.params import Params
from explorer.ui import export
from explorer.ui.overview import OverviewPage
from explorer.ui.window import MainWindow
from tests.sources import FixedSource
from tests.ui.desk import press, settle, sit_down
from tests.views.pointer import click


def page_of(window: MainWindow) -> OverviewPage:
    titles = [window.pages.row.tabText(i) for i in range(window.pages.count)]
    window.pages.show_page(titles.index("Overview"))
    settle()
    page = window.pages.page(window.pages.place)
    assert isinstance(page, OverviewPage)
    return page


def choose(combo, data) -> None:
    combo.setCurrentIndex(combo.findData(data))
    combo.activated.emit(combo.currentIndex())
    settle()


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot, None) as window:
        source = FixedSource(layers=4, heads=6, key_heads=3)
        source.first_layer = 1
        window.state.open(source, Params(layer=2, head=3, level=0.1))
        yield window


def point_of(page: OverviewPage, layer: int, head: int) -> QPointF:
    cells = page.view.cells
    cell = cells.of((layer, head))
    assert cell is not None
    return cells.mapToScene(cells.box(cell).center())


def test_a_click_opens_a_head_in_explore(window: MainWindow) -> None:
    page = page_of(window)
    assert page.is_complete() and page.view.cells.here == (2, 3)
    click(page.view, point_of(page, 3, 5))
    assert (window.state.params.layer, window.state.params.head) == (3, 5)
    assert window.pages.place == 0
    assert page_of(window).view.cells.here == (3, 5)


def test_arrows_and_enter_open_a_head(window: MainWindow, qtbot: QtBot) -> None:
    page = page_of(window)
    page.view.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Down):
        press(qtbot, key)
    assert page.view.cells.cursor == (3, 4)
    assert "layer 3, head 4" in page.view.accessibleDescription()
    press(qtbot, Qt.Key.Key_Return)
    assert (window.state.params.layer, window.state.params.head) == (3, 4) and window.pages.place == 0


def test_sorted_and_filtered_heads_keep_their_true_numbers(window: MainWindow) -> None:
    page = page_of(window)
    header, cells = page.view.header, page.view.cells
    overview = page.view.result
    choose(header.number, "softmax")
    choose(header.order, "largest")
    values = [cell.value for cell in cells.cells]
    assert values == sorted(values, reverse=True) and len(values) == 18
    choose(header.layer, 3)
    assert {cell.layer for cell in cells.cells} == {3}
    choose(header.bound, "at least")
    limit = round(float(np.median(overview.table("softmax")[2])), 3)
    header.limit.setValue(limit)
    settle()
    assert 0 < len(cells.cells) < 6
    for cell in cells.cells:
        assert cell.value == overview.value("softmax", cell.layer, cell.head) >= limit
    target = cells.cells[-1]
    click(page.view, point_of(page, target.layer, target.head))
    assert (window.state.params.layer, window.state.params.head) == (target.layer, target.head)


def test_hover_says_the_number_and_its_meaning(window: MainWindow) -> None:
    page = page_of(window)
    said = page.view.reading_at(point_of(page, 1, 0))
    assert said.startswith("layer 1, head 0: entropy = ") and "evenly" in said


def test_a_level_change_recomputes_the_errors_only(window: MainWindow) -> None:
    page = page_of(window)
    before = page.view.result
    window.state.update(level=0.3)
    settle()
    after = page.view.result
    assert (after.table("entropy") == before.table("entropy")).all()
    assert (after.table("softmax") > before.table("softmax")).any()


@pytest.mark.parametrize("maps", [False, True])
@pytest.mark.parametrize("kind", ["png", "svg", "pdf", "csv"])
def test_it_is_exported(window: MainWindow, kind: export.Format, maps: bool) -> None:
    page = page_of(window)
    page.view.header.maps.setChecked(maps)
    settle()
    assert len(export.export_bytes([page.view], kind)) > 500


def test_the_table_has_every_number_of_every_head(window: MainWindow) -> None:
    page = page_of(window)
    choose(page.view.header.layer, 3)
    lines = export.export_bytes([page.view], "csv").decode().splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    assert rows[0].startswith("layer,head,key head,entropy") and len(rows) == 1 + 18
    assert rows[1].startswith("1,0,0,") and rows[-1].startswith("3,5,2,")


def test_the_choices_go_into_a_session_and_come_back(window: MainWindow) -> None:
    view = page_of(window).view
    view.set_options({"quantity": "rank", "order": "smallest", "maps": True, "bound": "nonsense"})
    assert view.options()["quantity"] == "rank" and view.options()["bound"] == "all"
    assert view.header.number.currentData() == "rank" and view.header.maps.isChecked()


def test_one_head_alone_has_a_sentence(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        page = page_of(window)
        assert page.view.result is None
        assert "one head only" in page.view._sentence.text()


class Slow(FixedSource):
    """Waits for a word before every layer but the first."""

    def __init__(self) -> None:
        super().__init__(layers=3)
        self.go = threading.Event()

    def capture(self, layers, input, device, should_stop=lambda: False):
        if layers[0] > 0:
            while not self.go.wait(0.01) and not should_stop():
                pass
        return super().capture(layers, input, device, should_stop)


def test_it_shows_what_it_has_stops_and_goes_on(qtbot: QtBot) -> None:
    window = build()
    window.show()
    source = Slow()
    window.state.open(source, Params(level=0.1))
    qtbot.waitUntil(lambda: window.state.result is not None, timeout=30_000)
    page = page_of(window)
    halt = page.view.header.halt
    qtbot.waitUntil(lambda: page.view.result is not None and len(page.view.result.done) == 1, timeout=30_000)
    assert halt.isVisible() and halt.text() == "Stop"
    qtbot.mouseClick(halt, Qt.MouseButton.LeftButton)
    assert halt.text() == "Go on" and "stopped after 1 of 3" in page.view._strip.text
    source.go.set()
    qtbot.mouseClick(halt, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(page.is_complete, timeout=30_000)
    qtbot.waitUntil(lambda: not halt.isVisible())
    window.close()
    window.deleteLater()
    QApplication.processEvents()
