from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from explorer.ui import theme
from explorer.views.attention_map import SIGNED, VARIANTS, AttentionMap
from tests.views import factory
from tests.views.pixels import count, pixels
from tests.views.pointer import at, click


def colour(view, row, column):
    """The colour that the screen has in the middle of a cell."""
    point = view.canvas.mapFromScene(at(view.plot, column + 0.5, row + 0.5))
    corner = view.canvas.mapTo(view, point)
    return view.grab().toImage().pixelColor(corner).getRgb()[:3]


def test_row_is_query_and_column_is_key(shown):
    values = np.zeros((5, 5))
    values[1, 3] = 1.0
    view = shown(AttentionMap, replace(factory.text(5, level=0.0), map=values))
    table = theme.sequential_map().getLookupTable(nPts=256)
    assert np.abs(np.array(colour(view, 1, 3)) - table[255]).max() <= 1
    assert np.abs(np.array(colour(view, 3, 1)) - table[0]).max() <= 1
    assert (
        view.canvas.mapFromScene(at(view.plot, 0, 0)).y() < view.canvas.mapFromScene(at(view.plot, 0, 4)).y()
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_zero_is_dark_for_weights_and_white_for_differences(variant, shown):
    values = np.full((4, 4), 0.25)
    values[0, 0] = 0.0
    view = shown(AttentionMap, replace(factory.text(4, level=0.0, variant=variant), map=values))
    low, high = view._levels
    assert high >= 0.25
    if variant in SIGNED:
        assert low == -high
        assert min(colour(view, 0, 0)) > 240
    else:
        assert low == 0
        assert max(colour(view, 0, 0)) < 90


def test_signed_levels_are_symmetric_about_the_larger_side(shown):
    values = np.array([[0.1, -0.7], [0.2, 0.0]])
    view = shown(AttentionMap, replace(factory.text(2, variant="difference"), map=values))
    assert view._levels == pytest.approx((-0.7, 0.7))


def test_map_is_square_at_any_size(shown, settle_paint):
    view = shown(AttentionMap, factory.text())
    for size in ((900, 300), (320, 600), (400, 240), (560, 360)):
        view.resize(*size)
        settle_paint()
        assert view.plot.vb.width() == pytest.approx(view.plot.vb.height(), abs=1.5)
        assert view.plot.vb.width() > 0.3 * min(size)


def test_masked_cells_are_hatched_and_say_so(shown):
    view = shown(AttentionMap, factory.causal(6))
    assert view.reading_at(at(view.plot, 5.5, 0.5)).endswith("hidden by the mask")
    grey = count(pixels(view), theme.LIGHT.missing, 40)
    view.state.show(factory.text(6))
    assert grey > count(pixels(view), theme.LIGHT.missing, 40) + 200


def test_hover_names_query_key_and_weight(shown):
    result = factory.text()
    view = shown(AttentionMap, result)
    reading = view.reading_at(at(view.plot, 5.5, 3.5))
    assert reading == f"query ‘brown’ (3) → key ‘jumps’ (5): {result.map[3, 5]:.3g}"
    assert view.reading_at(QPointF(view.canvas.width() - 2, view.canvas.height() - 2)) == ""


def test_hover_on_a_label_names_its_token(shown):
    view = shown(AttentionMap, factory.text())
    label = at(view.plot, 0, 3.5) - QPointF(20, 0)
    assert view.reading_at(label) == "‘brown’ (3)"


def test_click_selects_query_and_key_and_again_clears(shown, qtbot):
    view = shown(AttentionMap, factory.text())
    clicked = []
    view.token_clicked.connect(lambda *args: clicked.append(args))
    click(view, at(view.plot, 5.5, 3.5))
    assert view.state.selection == {3, 5}
    assert clicked == [(3, False), (5, False)]
    click(view, at(view.plot, 7.5, 7.5), Qt.KeyboardModifier.ShiftModifier)
    assert view.state.selection == {3, 5, 7}
    click(view, at(view.plot, 7.5, 7.5), Qt.KeyboardModifier.ShiftModifier)
    click(view, at(view.plot, 5.5, 3.5))
    assert view.state.selection == frozenset()


def test_click_on_a_label_selects_one_token(shown):
    view = shown(AttentionMap, factory.text())
    click(view, at(view.plot, 4.5, 14) + QPointF(0, 15))
    assert view.state.selection == {4}


def test_selection_speaks_of_places_in_the_input(shown):
    result = replace(factory.text(5), positions=np.array([2, 3, 5, 7, 11]))
    view = shown(AttentionMap, result)
    click(view, at(view.plot, 4.5, 4.5))
    assert view.state.selection == {11}
    assert "(11)" in view.reading_at(at(view.plot, 4.5, 4.5))


def test_chooser_goes_both_ways(shown, qtbot):
    view = shown(AttentionMap, factory.text())
    chooser = view.header_controls()
    for index, variant in enumerate(VARIANTS):
        chooser.setCurrentIndex(index)
        with qtbot.waitSignal(view.state.params_changed, timeout=200, raising=False):
            chooser.activated.emit(index)
        assert view.state.params.variant == variant
    changes = []
    view.state.params_changed.connect(changes.append)
    for variant in VARIANTS:
        view.state.update(variant=variant)
        assert chooser.currentData() == variant
    assert len(changes) == len(VARIANTS)


def test_large_map_keeps_a_single_large_entry(shown):
    values = np.zeros((2000, 2000))
    values[1234, 77] = 1.0
    view = shown(AttentionMap, replace(factory.synthetic(2000), map=values))
    image = view._map.image.image
    assert image.shape[0] <= 400
    assert image.max() == 1.0
    assert np.count_nonzero(image) == 1
    assert "1" in view.reading_at(at(view.plot, 77.5, 1234.5)).split(": ")[-1]
    assert count(pixels(view), "#fde725", 30) > 0


def test_zoom_shows_the_entries_themselves_and_double_click_returns(shown, settle_paint):
    rng = np.random.default_rng(0)
    view = shown(AttentionMap, replace(factory.synthetic(2000), map=rng.random((2000, 2000))))
    view.plot.vb.setRange(xRange=(100, 120), yRange=(500, 520), padding=0)
    view.plot.vb.sigRangeChangedManually.emit([True, True])
    settle_paint()
    assert np.array_equal(view._map.image.image, view.result.map[500:520, 100:120].astype(np.float32))
    view.redraw()
    assert view.plot.vb.viewRange()[0] == pytest.approx([100, 120])
    view.fit()
    assert view.plot.vb.viewRange()[0] == pytest.approx([0, 2000])


def test_table_is_the_map(shown):
    view = shown(AttentionMap, factory.text(5))
    names, columns = view.table()
    assert names[:3] == ["query", "token", "contaminated"]
    assert names[3] == "key 0 [CLS]"
    assert np.array_equal(np.stack(columns[3:], 1), view.result.map)


def test_gram_is_between_keys(shown):
    view = shown(AttentionMap, factory.text(variant="gram"))
    assert view._rows.labelText == "key"
    assert view.reading_at(at(view.plot, 5.5, 3.5)).startswith("key ‘brown’ (3) → key ‘jumps’ (5): ")


def test_level_of_the_colours_stays_while_a_button_is_held(shown, monkeypatch):
    view = shown(AttentionMap, factory.text(seed=0))
    levels = view._levels
    monkeypatch.setattr(view, "settles", lambda *_: False)
    view.state.show(replace(factory.text(seed=1), map=10 * view.result.map))
    assert view._levels == levels
