from __future__ import annotations

import numpy as np
import pyqtgraph as pg
import pytest

from explorer.ui import theme
from explorer.views.plot import Plot
from explorer.views.token_axis import LINE, TokenAxis
from tests.views.pixels import count, pixels


@pytest.fixture
def axes(qtbot, qapp):
    left, bottom = TokenAxis("left", name="query"), TokenAxis("bottom", name="key")
    widget = pg.GraphicsLayoutWidget()
    qtbot.addWidget(widget)
    widget.setBackground("w")
    plot = Plot(axes={"left": left, "bottom": bottom})
    widget.addItem(plot)
    widget.resize(400, 300)
    widget.show()

    def show(labels):
        for axis in (left, bottom):
            axis.set_tokens(labels)
        plot.settle((0.0, float(len(labels))), (0.0, float(len(labels))))
        qtbot.wait(1)
        return widget, left, bottom

    return show


def test_all_labels_where_there_is_room(axes):
    _, left, bottom = axes(["one", "two", "three"])
    assert left.shown() == bottom.shown() == [0, 1, 2]


@pytest.mark.parametrize("n", [60, 128, 2000, 50_000])
def test_labels_are_thinned_to_what_is_readable(n, axes):
    _, left, bottom = axes([f"token {i}" for i in range(n)])
    for axis, length in ((left, left.height()), (bottom, bottom.width())):
        shown = axis.shown()
        assert 3 <= len(shown) <= length / LINE + 1
        assert min(np.diff(shown)) * length / n >= LINE - 1e-6


def test_selected_labels_stay_and_others_give_way(axes):
    _, left, _ = axes([f"token {i}" for i in range(200)])
    left.set_selected(np.array([101]))
    assert 101 in left.shown()
    assert 100 not in left.shown()


def test_selected_and_contaminated_are_marked(axes):
    widget, left, _ = axes(["one", "two", "three"])
    before = pixels(widget)
    left.set_selected(np.array([1]))
    assert count(pixels(widget), theme.LIGHT.accent) > 50
    left.set_selected(np.empty(0, np.int64))
    assert np.array_equal(pixels(widget), before)
    left.set_contaminated(np.array([1]))
    triangle = np.argwhere((pixels(widget) != before).any(-1))
    assert len(triangle)
    assert np.ptp(triangle, axis=0).max() <= 9


def test_axis_gives_long_labels_room_and_no_more_than_that(axes):
    _, left, bottom = axes(["a", "b"])
    narrow = left.width()
    axes(["a", "b" * 400])
    assert narrow < left.width() < 110
    assert bottom.height() < 110


def test_a_few_digits_below_lie_flat(axes):
    _, _, bottom = axes([str(i) for i in range(9)])
    assert not bottom._upright()
