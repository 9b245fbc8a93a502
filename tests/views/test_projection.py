from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from explorer.ui.export import export_bytes
from explorer.views import colouring
from explorer.views.lasso import inside
from explorer.views.projection import ProjectionView
from tests.views import factory
from tests.views.pixels import count, pixels
from tests.views.pointer import at, click, drag


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
    where = at(view.plot, *view._shown.queries[3])
    assert view.reading_at(where).endswith("(×10⁻⁴)")
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
    assert told.args[0]["keys"]
    assert np.allclose(np.stack(view._keys.getData(), 1), result.projection.keys)
    assert "key" in view._strip.text
    view.set_options({"keys": False})
    assert np.array_equal(pixels(view), without)
    assert view.options() == {"keys": False, "3-D": False, "third": 2, "colour": "plain"}


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
    moved = projection.in_unit(int(np.floor(unit)))
    assert 0 <= unit - moved.log10_unit < 1
    assert np.allclose(moved.keys, projection.keys * 10 ** (unit - moved.log10_unit))


def solid(shown, result=None, **how):
    view = shown(ProjectionView, result or factory.text(**how))
    view._chooser.three.click()
    QTest.qWait(20)
    return view


def choose(view, name):
    place = view._chooser.colour.findData(name)
    view._chooser.colour.setCurrentIndex(place)
    view._chooser.colour.activated.emit(place)


def around(view, points, pad):
    """Return places of the scene on a circle around a point of the plot."""
    angles = np.linspace(0, 2 * np.pi, 12)
    middle, pixel = points.mean(0), np.array(view.plot.vb.viewPixelSize())
    return [at(view.plot, *(middle + pad * pixel * (np.cos(a), np.sin(a)))) for a in angles]


@pytest.mark.parametrize("way", ["toggle", "shift"])
def test_a_lasso_selects_what_it_holds(way, shown):
    result = factory.synthetic(120, level=0.0)
    view = shown(ProjectionView, result)
    points = result.projection.queries
    near = 30 * np.array(view.plot.vb.viewPixelSize())
    if way == "toggle":
        view._chooser.lasso.click()
    before = view.plot.vb.viewRange()
    shift = Qt.KeyboardModifier.ShiftModifier
    drag(view, around(view, points[[5]], 30), shift if way == "shift" else Qt.KeyboardModifier.NoModifier)
    distance = np.hypot(*((points - points[5]) / near).T)
    assert view.plot.vb.viewRange() == before
    assert view.state.selection >= set(np.flatnonzero(distance < 0.9).tolist())
    assert view.state.selection <= set(np.flatnonzero(distance < 1.1).tolist())
    assert 5 in view.state.selection
    assert view._lasso.polygon().isEmpty()
    if way == "toggle":
        first = view.state.selection
        drag(view, around(view, points[[6]], 30), shift)
        assert view.state.selection > first


def test_without_lasso_a_drag_moves_the_picture(shown):
    view = shown(ProjectionView, factory.text())
    before = view.plot.vb.viewRange()
    drag(view, [QPointF(200, 150), QPointF(230, 160), QPointF(260, 170)])
    assert view.plot.vb.viewRange() != before
    assert view.state.selection == frozenset()


def test_a_polygon_holds_points_by_the_even_odd_rule():
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], float)
    points = np.array([[1, 1], [3, 1], [1, -1], [0.1, 1.9], [np.nan, 1]])
    assert inside(square, points).tolist() == [True, False, False, True, False]
    bow = np.array([[0, 0], [2, 2], [2, 0], [0, 2]], float)
    assert inside(bow, np.array([[0.3, 1.0], [1.0, 0.3], [1.7, 1.0]])).tolist() == [True, False, True]


def test_three_axes_are_the_projection_turned(shown):
    result = factory.text()
    view = solid(shown, result)
    queries = result.projection.leading[0][:, [0, 1, 2]]
    matrix = view._rotation.matrix
    assert np.allclose(matrix @ matrix.T, np.eye(3))
    assert np.isclose(np.linalg.det(matrix), 1)
    assert np.allclose(np.stack(view._queries.getData(), 1), (queries - view._middle) @ matrix[:2].T)
    assert not view.plot.getAxis("left").isVisible()
    assert [name.toPlainText().split()[0] for name in view._triad.names] == ["u₁", "u₂", "u₃"]
    assert all("%" in name.toPlainText() for name in view._triad.names)
    assert "query on u3 (1e-3)" in view.table()[0]
    view._chooser.third.setCurrentIndex(4)
    view._chooser.third.activated.emit(4)
    queries = result.projection.leading[0][:, [0, 1, 4]]
    assert np.allclose(np.stack(view._queries.getData(), 1), (queries - view._middle) @ matrix[:2].T)
    assert view.options()["third"] == 4


def test_a_drag_and_the_arrows_turn_and_home_turns_back(shown, qtbot):
    view = solid(shown, factory.text(level=0.0))
    first, ranges = view._rotation.matrix.copy(), view.plot.vb.viewRange()
    start = np.stack(view._queries.getData(), 1)
    drag(view, [QPointF(200, 150), QPointF(230, 160), QPointF(260, 170)])
    turned = view._rotation.matrix.copy()
    assert np.abs(turned - first).max() > 0.1
    assert view.plot.vb.viewRange() == ranges
    qtbot.keyClick(view.canvas, Qt.Key.Key_Right)
    assert np.abs(view._rotation.matrix - turned).max() > 0.01
    qtbot.keyClick(view.canvas, Qt.Key.Key_Home)
    assert np.allclose(view._rotation.matrix, first)
    assert np.allclose(np.stack(view._queries.getData(), 1), start)


def test_hover_click_and_lasso_in_three_dimensions(shown):
    view = solid(shown, factory.text(level=0.0))
    view.turn(0.4, -0.3)
    place = np.stack(view._queries.getData(), 1)[3]
    reading = view.reading_at(at(view.plot, *place))
    assert reading.startswith("query ‘brown’ (3): ")
    assert reading.count(", ") == 2
    click(view, at(view.plot, *place))
    assert view.state.selection == {3}
    assert np.allclose(np.stack(view._ring.getData(), 1), [place])
    drag(view, around(view, place[None], 12), Qt.KeyboardModifier.ShiftModifier)
    assert 3 in view.state.selection


def test_back_in_the_plane_everything_is_as_before(shown):
    view = shown(ProjectionView, factory.text())
    before = pixels(view)
    view._chooser.three.click()
    assert (pixels(view) != before).any()
    view._chooser.three.click()
    assert np.array_equal(pixels(view), before)


def test_three_dimensions_survive_nan_and_two_tokens(shown):
    view = solid(shown)
    view.state.show(factory.text(2))
    pixels(view)
    made = factory.text(level=0.0)
    made.projection.leading[0, 3] = np.nan
    view.state.show(made)
    assert len(view._queries.data) == 13


@pytest.mark.parametrize("name", ["position", "attention", "contamination", "error"])
def test_colours_are_numbers_with_a_bar(name, shown):
    result = factory.text(level=0.2)
    view = shown(ProjectionView, result)
    view.state.select(frozenset({2}))
    choose(view, name)
    wanted = {
        "position": result.positions, "attention": result.map[2], "error": result.errors.softmax_by_token,
        "contamination": colouring.contamination(result).values,
    }  # fmt: skip
    assert np.allclose(view._colours.values, wanted[name])
    assert view._bar.isVisible()
    assert view._colours.symbol in view._strip.text
    assert len({brush.color().name() for brush in view._queries.data["brush"]}) > 3
    assert view._colours.symbol in view.reading_at(at(view.plot, *result.projection.queries[3]))
    QTest.qWait(20)
    narrow = view.plot.width()
    choose(view, "plain")
    QTest.qWait(20)
    assert not view._bar.isVisible() and view.plot.width() > narrow + 50


def test_kinds_have_symbols_of_their_own_and_a_legend(shown):
    view = shown(ProjectionView, factory.text(level=0.0))
    choose(view, "kind")
    assert set(view._queries.data["symbol"]) == {"o", "s", "t"}
    assert "special · word · piece of a word" in view._strip.text
    view.state.show(factory.synthetic(level=0.0))
    assert len(set(view._queries.data["symbol"])) == 6
    assert "label 5" in view._strip.text


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_three_dimensions_in_colour_are_exported(kind, shown):
    view = solid(shown)
    choose(view, "position")
    data = export_bytes([view], kind)
    assert len(data) > 2000
    if kind == "svg":
        assert "u₃" in data.decode()
