"""Clouds of 10⁴ and 10⁵ symbols move at 30 frames a second, beside pyqtgraph's own scatter."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
import pytest
from numpy.typing import NDArray
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.ui.theme import clean_brush, pen
from explorer.views.plot import Plot
from explorer.views.points import Points

pytestmark = pytest.mark.bench
ROUNDS, LIMIT = 25, 1000 / 30
Move = Callable[[NDArray[np.float64], NDArray[np.float64]], None]


def shown(item: pg.ScatterPlotItem, qtbot: QtBot) -> pg.GraphicsLayoutWidget:
    widget = pg.GraphicsLayoutWidget()
    qtbot.addWidget(widget)
    plot = Plot()
    widget.addItem(plot)
    plot.addItem(item, ignoreBounds=True)
    plot.settle((-4.0, 4.0), (-4.0, 4.0))
    widget.resize(560, 360)
    widget.show()
    qtbot.wait(50)
    return widget


def frame(widget: pg.GraphicsLayoutWidget, move: Move, step: int, count: int) -> float:
    x, y = np.random.default_rng(step).normal(size=(2, count))
    begin = time.perf_counter()
    move(x, y)
    widget.viewport().repaint()
    QApplication.processEvents()
    return (time.perf_counter() - begin) * 1e3


@pytest.mark.parametrize("tinted", [False, True], ids=["one colour", "a colour each"])
@pytest.mark.parametrize("count", [10_000, 100_000])
def test_a_cloud_moves(count: int, tinted: bool, qtbot: QtBot, capsys: pytest.CaptureFixture[str]) -> None:
    ours, theirs = Points("o", 7), pg.ScatterPlotItem(symbol="o", size=7, antialias=True)
    for item in (ours, theirs):
        item.setPen(pen("#0072B2", 1.25))
        item.setBrush(clean_brush("#0072B2"))
    if tinted:
        shades = [pg.mkBrush(QColor.fromHsv(hue, 200, 200)) for hue in range(256)]
        ours.tint([shades[i % 256] for i in range(count)], [])
    moves: list[tuple[pg.GraphicsLayoutWidget, Move]] = [
        (shown(ours, qtbot), ours.move),
        (shown(theirs, qtbot), lambda x, y: theirs.setData(x=x, y=y)),
    ]
    times = [[frame(widget, move, step, count) for widget, move in moves] for step in range(ROUNDS)]
    ours_took, theirs_took = zip(*times[3:], strict=True)
    median, plain = statistics.median(ours_took), statistics.median(theirs_took)
    with capsys.disabled():
        print(
            f"\n{count} points{', a colour each' if tinted else ''}: {median:.1f} ms a frame "
            f"(at most {LIMIT:.1f}), pyqtgraph's setData {plain:.1f} ms in one colour"
        )
    assert statistics.quantiles(ours_took)[0] <= LIMIT
    assert median <= 0.75 * plain
