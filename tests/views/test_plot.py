from __future__ import annotations

import numpy as np
import pyqtgraph as pg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.views.plot import APART, Aside, Plot, ceiling, span, up_from_zero

numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)


@given(numbers)
def test_span_holds_all_and_wastes_little(values):
    low, high = span(np.array(values))
    width = max(values) - min(values)
    assert low < min(values)
    assert high > max(values)
    if width > 1e-6 * max(map(abs, values)):
        assert high - low <= 1.4 * width


def test_span_of_nothing_and_of_one_number():
    assert span(np.array([np.nan, np.inf])) == (0.0, 1.0)
    low, high = span(np.array([2.0]))
    assert low < 2.0 < high


@given(st.floats(1e-300, 1e300))
def test_ceiling_is_above_and_near(value):
    assert value <= ceiling(value) * (1 + 1e-9)
    assert ceiling(value) <= value * 1.1 * (1 + 1e-9)


@pytest.mark.parametrize(("value", "above"), [(0.787, 0.8), (0.33, 0.34), (1.0, 1.0), (0.0, 1.0)])
def test_ceiling_is_round(value, above):
    assert ceiling(value) == pytest.approx(above)


def test_range_up_from_zero():
    assert up_from_zero(np.array([0.5, np.nan])) == pytest.approx((0.0, 0.55))
    assert up_from_zero(np.empty(0)) == (0.0, 1.0)


@given(st.floats(1.0, 900.0), st.floats(-50.0, 50.0), st.floats(1e-3, 1e3))
def test_figures_beside_a_plot_never_run_into_each_other(qapp, height, low, width):
    levels = Aside("left").tickSpacing(low, low + width, height)
    spacing = levels[0][0]
    assert spacing * height / width >= APART * (1 - 1e-9)
    assert any(
        spacing == pytest.approx(factor * 10.0 ** round(np.log10(spacing / factor))) for factor in (1, 2, 5)
    )


def test_settled_range_moves_until_a_person_zooms(qapp):
    plot = Plot(zoom=True)
    plot.settle((0.0, 2.0), (0.0, 3.0))
    assert plot.vb.viewRange() == [[0.0, 2.0], [0.0, 3.0]]
    plot.vb.setRange(xRange=(0.5, 1.0), padding=0)
    plot.vb.sigRangeChangedManually.emit([True, True])
    plot.settle((0.0, 4.0), (0.0, 3.0))
    assert plot.vb.viewRange()[0] == [0.5, 1.0]
    plot.fit()
    assert plot.vb.viewRange() == [[0.0, 4.0], [0.0, 3.0]]


@pytest.mark.parametrize("height", [300, 90])
def test_the_name_of_an_axis_stays_within_it(qapp, height):
    layout = pg.GraphicsLayoutWidget()
    plot = Plot()
    layout.addItem(plot)
    plot.name_axes("step", "|cos| with the direction")
    layout.resize(400, height)
    layout.grab()
    axis = plot.getAxis("left")
    name = axis.label.mapRectToParent(axis.label.boundingRect())
    assert name.height() <= axis.size().height() + 1
    assert name.top() >= -1 and name.bottom() <= axis.size().height() + 1
    assert (axis.label.scale() < 1) == (height == 90)
