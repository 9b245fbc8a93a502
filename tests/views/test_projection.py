from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt

from explorer.views.projection import ProjectionView, in_unit
from tests.views import factory
from tests.views.pixels import count, pixels
from tests.views.pointer import at, click


def test_points_are_the_projections(shown):
    result = factory.text()
    view = shown(ProjectionView, result)
    hit = result.contaminated
    assert np.allclose(np.stack(view._queries.getData(), 1), result.projection.queries)
    assert np.allclose(np.stack(view._moved.getData(), 1), result.projection.moved_queries[~hit])
    assert np.allclose(np.stack(view._hit.getData(), 1), result.projection.moved_queries[hit])
    x, y = view._links.getData()
    assert np.allclose(np.stack([x[::2], y[::2]], 1), result.projection.queries)
    assert np.allclose(np.stack([x[1::2], y[1::2]], 1), result.projection.moved_queries)


def test_unit_is_a_whole_power_of_ten_and_the_numbers_follow(shown):
    made = factory.text()
    result = replace(made, projection=replace(made.projection, log10_unit=-3.4))
    view = shown(ProjectionView, result)
    label = view.plot.getAxis("bottom").labelText
    assert "10<sup>-4</sup>" in label
    assert np.allclose(view._queries.getData()[0] * 1e-4, made.projection.queries[:, 0] * 10**-3.4)
    names, columns = view.table()
    assert names[3] == "query on u1 (1e-4)"
    assert np.allclose(columns[3] * 1e-4, made.projection.queries[:, 0] * 10**-3.4)


def test_unit_stays_with_the_range_while_a_button_is_held(shown, monkeypatch):
    made = factory.text()
    view = shown(ProjectionView, made)
    unit = view._unit
    monkeypatch.setattr(view, "settles", lambda *_: False)
    smaller = replace(made.projection, log10_unit=made.projection.log10_unit - 2)
    view.state.show(replace(made, projection=smaller))
    assert view._unit == unit
    assert np.allclose(view._queries.getData()[0], made.projection.queries[:, 0] / 100)


def test_clean_picture_has_no_hollow_points(shown):
    view = shown(ProjectionView, factory.text(level=0.0))
    assert not len(view._moved.data)
    assert not len(view._links.getData()[0])
    assert "contaminated" not in view._strip.text


def test_hover_names_the_nearest_token(shown):
    result = factory.text()
    view = shown(ProjectionView, result)
    place = result.projection.queries[3]
    reading = view.reading_at(at(view.plot, *place))
    assert reading.startswith("query ‘brown’ (3): ")
    assert f"{place[0]:.3g}".replace("-", "−") in reading
    assert view.reading_at(at(view.plot, *view.plot.home[0])) == ""


def test_click_selects_and_shift_extends(shown):
    result = factory.text(level=0.0)
    view = shown(ProjectionView, result)
    first, second = result.projection.queries[3], result.projection.queries[7]
    click(view, at(view.plot, *first))
    assert view.state.selection == {3}
    click(view, at(view.plot, *second), Qt.KeyboardModifier.ShiftModifier)
    assert view.state.selection == {3, 7}
    click(view, at(view.plot, *first), Qt.KeyboardModifier.ShiftModifier)
    assert view.state.selection == {7}


def test_keys_are_shown_on_request_and_tell_it(shown, qtbot):
    result = factory.text()
    view = shown(ProjectionView, result)
    without = pixels(view)
    assert not len(view._keys.data)
    with qtbot.waitSignal(view.option_changed) as told:
        view._chooser.keys.click()
    assert told.args == [{"keys": True}]
    assert np.allclose(np.stack(view._keys.getData(), 1), result.projection.keys)
    assert "key" in view._strip.text
    view.set_options({"keys": False})
    assert np.array_equal(pixels(view), without)
    assert view.options() == {"keys": False}


def test_choosers_go_both_ways(shown):
    view = shown(ProjectionView, factory.text())
    horizontal, vertical = view._chooser.axes
    assert horizontal.count() == view.result.clean.vectors.shape[1]
    horizontal.setCurrentIndex(4)
    horizontal.activated.emit(4)
    assert view.state.params.axes == (4, 1)
    view._chooser.centred.click()
    assert view.state.params.centred
    changes = []
    view.state.params_changed.connect(changes.append)
    view.state.update(axes=(2, 5), centred=False)
    assert (horizontal.currentIndex(), vertical.currentIndex()) == (2, 5)
    assert not view._chooser.centred.isChecked()
    assert len(changes) == 1


def test_a_head_without_projections_says_why(shown):
    view = shown(ProjectionView, replace(factory.text(), projection=None, notes=("Only one axis.",)))
    assert view.result is None
    assert view._sentence.text() == "Only one axis."
    assert view.table() == ([], [])


def test_many_points_are_smaller(shown):
    few = count(pixels(shown(ProjectionView, factory.text(14, level=0.0))), "#0072B2") / 14
    many = count(pixels(shown(ProjectionView, factory.synthetic(600, level=0.0))), "#0072B2") / 600
    assert many < few


@pytest.mark.parametrize("unit", [-400.0, -2.6, 0.0, 7.3])
def test_same_place_in_another_unit(unit):
    projection = replace(factory.text().projection, log10_unit=unit)
    moved = in_unit(projection, int(np.floor(unit)))
    assert 0 <= unit - moved.log10_unit < 1
    assert np.allclose(moved.keys, projection.keys * 10 ** (unit - moved.log10_unit))
