from __future__ import annotations

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtGui import QColor, QPen

from explorer.views.plot import Plot
from explorer.views.points import Points, nearest
from tests.views.pixels import pixels


def plot_of(qtbot, item):
    widget = pg.GraphicsLayoutWidget()
    qtbot.addWidget(widget)
    widget.setBackground("w")
    plot = Plot()
    widget.addItem(plot)
    plot.addItem(item)
    plot.settle((-1.0, 1.0), (-1.0, 1.0))
    widget.resize(400, 300)
    widget.show()
    qtbot.wait(1)
    return widget, plot


def styled(symbol="o"):
    points = Points(symbol, 7)
    points.style(QPen(QColor("#0072B2"), 1.5), pg.mkBrush("#ffffff"))
    return points


@pytest.mark.parametrize("n", [1, 128, 10_000])
def test_moved_points_look_as_if_set_anew(n, qtbot, qapp):
    rng = np.random.default_rng(n)
    first, second = rng.normal(0, 0.4, (2, n)), rng.normal(0, 0.4, (2, n))
    points = styled()
    widget, _ = plot_of(qtbot, points)
    points.move(*first)
    before = pixels(widget)
    points.move(*second)
    moved = pixels(widget)
    points.setData(x=second[0], y=second[1])
    assert np.array_equal(moved, pixels(widget))
    assert not np.array_equal(moved, before)
    assert points.boundingRect().contains(*second[:, 0].tolist())


def test_points_that_are_no_numbers_are_left_out(qtbot, qapp):
    points = styled()
    widget, _ = plot_of(qtbot, points)
    empty = pixels(widget)
    points.move(np.array([np.nan, np.inf]), np.array([0.0, 0.0]))
    assert np.array_equal(pixels(widget), empty)
    points.move(np.array([np.nan, 0.0]), np.array([0.0, 0.0]))
    assert len(points.data) == 1
    assert not np.array_equal(pixels(widget), empty)
    points.move(np.empty(0), np.empty(0))
    assert np.array_equal(pixels(widget), empty)


def test_all_points_of_an_item_share_pen_and_brush(qapp):
    points = styled()
    points.move(np.zeros(5000), np.zeros(5000))
    assert set(map(id, points.data["brush"])) == {id(None)}
    assert len(np.unique(points.data["sourceRect"])) == 1


def test_symbols_of_former_pens_are_not_kept(qapp):
    points = Points()
    for shade in range(20):
        points.style(pg.mkPen(shade), pg.mkBrush(shade))
        points.move(np.arange(3.0), np.arange(3.0))
        points.style(pg.mkPen(shade), pg.mkBrush("r"))
    assert 1 <= len(points.fragmentAtlas) <= 2


def test_nearest_is_nearest_on_the_screen(qtbot, qapp):
    points = styled()
    widget, plot = plot_of(qtbot, points)
    x, y = np.array([0.0, 0.5, np.nan]), np.array([0.0, 0.5, 0.0])
    points.move(x, y)
    assert nearest(points, (0.01, 0.01), x, y, 10)[0] == 0
    assert nearest(points, (0.49, 0.5), x, y, 10)[0] == 1
    assert nearest(points, (-0.9, 0.9), x, y, 10) == (-1, np.inf)
    plot.settle((-1.0, 1.0), (-100.0, 100.0))
    pixels(widget)
    assert nearest(points, (0.01, 1.0), x, y, 10)[0] == 0
