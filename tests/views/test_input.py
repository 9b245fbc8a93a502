from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtWidgets import QApplication

from explorer.ui import theme
from explorer.views import colouring
from explorer.views.input import InputView
from explorer.views.patch_image import blended
from explorer.views.token_text import ink
from tests.views import factory
from tests.views.pixels import count, pixels
from tests.views.pointer import at, click, drag

IMAGE = np.random.default_rng(0).integers(0, 255, (32, 32, 3)).astype(np.uint8)


def word(view, row):
    return view._text.mapToScene(view._text.rect_of(row).center())


def choose(view, name):
    place = view._chooser.colour.findData(name)
    view._chooser.colour.setCurrentIndex(place)
    view._chooser.colour.activated.emit(place)


def photograph(**how):
    return replace(factory.digits(), image=IMAGE, **how)


def test_the_colours_are_the_row_of_the_selected_query(shown):
    result = factory.text()
    view = shown(InputView, result)
    click(view, word(view, 3))
    assert view.state.selection == {3}
    assert np.array_equal(view._colours.values, result.map[3])
    low, high = view._colours.levels
    brightest = int(result.map[3].argmax())
    share = round(255 * (result.map[3, brightest] - low) / (high - low))
    wanted = theme.sequential_map().getLookupTable(nPts=256)[share]
    assert view._text._fills[brightest].getRgb()[:3] == tuple(wanted)
    assert "query ‘brown’ (3)" in view._strip.text
    assert "Aᵢⱼ" in view._strip.text


def test_the_label_under_the_pointer_follows_a_click(shown):
    view = shown(InputView, factory.text())
    place = word(view, 3)
    view._hover(place)
    before = view.canvas.reading.text()
    click(view, place)
    assert view.canvas.reading.text() == view.reading_at(place) != before


def test_several_queries_give_their_mean_and_none_that_of_all(shown):
    result = factory.text()
    view = shown(InputView, result)
    assert np.allclose(view._colours.values, result.map.mean(0))
    assert "all queries, their mean" in view._strip.text
    view.state.select(frozenset({2, 5}))
    assert np.allclose(view._colours.values, result.map[[2, 5]].mean(0))
    assert "2 queries, their mean" in view._strip.text


def test_the_column_says_who_looks_at_the_selected_key(shown):
    result = factory.text()
    view = shown(InputView, result)
    choose(view, "attended")
    assert view._colours is None
    assert "Select a token" in view._strip.text
    click(view, word(view, 6))
    assert np.array_equal(view._colours.values, result.map[:, 6])


def test_an_eigenvector_is_signed_and_chosen(shown, qtbot):
    result = factory.text()
    view = shown(InputView, result)
    assert not view._chooser.axis.isVisibleTo(view._chooser)
    with qtbot.waitSignal(view.option_changed) as told:
        choose(view, "eigenvector")
    assert told.args[0]["colour"] == "eigenvector"
    assert view._chooser.axis.isVisibleTo(view._chooser)
    view._chooser.axis.setCurrentIndex(2)
    view._chooser.axis.activated.emit(2)
    assert np.array_equal(view._colours.values, result.clean.vectors[:, 2])
    assert view._colours.levels[0] == -view._colours.levels[1]
    assert "not identifiable" in view._strip.text


@pytest.mark.parametrize("name", ["contamination", "error", "error of rpc"])
def test_contamination_and_errors(name, shown):
    result = factory.text(level=0.2)
    view = shown(InputView, result)
    choose(view, name)
    apart = result.decomposition
    size = np.sqrt(((apart.keys - apart.added) ** 2).sum(1).mean())
    wanted = {
        "contamination": np.linalg.norm(apart.added, axis=1) / size,
        "error": result.errors.softmax_by_token,
        "error of rpc": result.errors.rpc_by_token,
    }
    assert np.allclose(view._colours.values, wanted[name])


def test_no_colours_hides_the_bar(shown):
    view = shown(InputView, factory.text(level=0.0))
    choose(view, "none")
    assert not view._bar.isVisible()
    assert view._text._fills == []
    assert len(view.table()[0]) == 3


def test_hidden_keys_are_hatched_and_read_as_no_number(shown):
    view = shown(InputView, factory.causal())
    view.state.select(frozenset({2}))
    assert view._text._fills[5] is None
    assert count(pixels(view), theme.LIGHT.missing) > 50
    assert "no number" in view.reading_at(word(view, 5))
    assert "no number" in view._strip.text
    view.state.select(frozenset({2, 13}))
    assert view._text._fills[5] is not None


def test_a_drag_selects_a_span_and_shift_adds_to_it(shown):
    view = shown(InputView, factory.text())
    drag(view, [word(view, 2), word(view, 4), word(view, 6)])
    assert view.state.selection == {2, 3, 4, 5, 6}
    drag(view, [word(view, 10), word(view, 9)], Qt.KeyboardModifier.ShiftModifier)
    assert view.state.selection == {2, 3, 4, 5, 6, 9, 10}
    click(view, word(view, 3), Qt.KeyboardModifier.ShiftModifier)
    assert view.state.selection == {2, 4, 5, 6, 9, 10}


def test_pieces_of_a_word_touch_and_stay_on_a_line(shown):
    view = shown(InputView, factory.text(400), size=(320, 240))
    text = view._text
    assert text.rect_of(4).left() == text.rect_of(3).right()
    assert text.rect_of(4).top() == text.rect_of(3).top()
    assert text.rect_of(6).left() > text.rect_of(5).right() or text.rect_of(6).top() > text.rect_of(5).top()
    assert max(text.rect_of(row).right() for row in range(400)) <= text.width()


def test_long_texts_scroll_and_a_selection_elsewhere_is_brought_into_view(shown):
    view = shown(InputView, factory.text(1000), size=(400, 240))
    text = view._text
    assert text.lines > text.visible_lines
    before = pixels(view)
    point = QPointF(view.canvas.mapFromScene(word(view, 1)))
    wheel = QWheelEvent(
        point, point, QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view.canvas.viewport(), wheel)
    assert text.first_line == 3
    assert (pixels(view) != before).any()
    view.state.select(frozenset({990}))
    assert text.rect().contains(text.rect_of(990))
    click(view, word(view, 990))
    assert view.state.selection == frozenset()


def test_four_thousand_tokens(shown):
    view = shown(InputView, factory.synthetic(4096))
    assert view._text.lines > 100
    view._text.scroll_to(10**6)
    assert view._text.rect().contains(view._text.rect_of(4095))
    click(view, word(view, 4095))
    assert view.state.selection == {4095}


def test_keys_walk_and_space_toggles(shown, qtbot):
    view = shown(InputView, factory.text())
    view.canvas.setFocus()
    for _ in range(4):
        qtbot.keyClick(view.canvas, Qt.Key.Key_Right)
    assert "‘brown’ (3)" in view.canvas.reading.text()
    qtbot.keyClick(view.canvas, Qt.Key.Key_Space)
    assert view.state.selection == {3}
    qtbot.keyClick(view.canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert view.state.selection == {3, 4}
    qtbot.keyClick(view.canvas, Qt.Key.Key_Left)
    qtbot.keyClick(view.canvas, Qt.Key.Key_Space)
    assert view.state.selection == {4}


def test_keys_walk_over_patches_and_the_class_token(shown, qtbot):
    view = shown(InputView, photograph())
    view.canvas.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right):
        qtbot.keyClick(view.canvas, key)
    qtbot.keyClick(view.canvas, Qt.Key.Key_Space)
    assert view.state.selection == {1 + 2 * 8 + 1}


def test_patches_are_clicked_and_a_rectangle_is_dragged(shown):
    view = shown(InputView, photograph())
    click(view, at(view.plot, 2.5, 1.5))
    assert view.state.selection == {1 + 8 + 2}
    drag(view, [at(view.plot, x, x) for x in (1.5, 2.0, 3.5)])
    assert view.state.selection == {1 + 8 * r + c for r in (1, 2, 3) for c in (1, 2, 3)}
    drag(view, [at(view.plot, x, 6.5) for x in (7.9, 7.0, 6.2)], Qt.KeyboardModifier.ShiftModifier)
    assert view.state.selection >= {1 + 8 * 6 + 6, 1 + 8 * 6 + 7, 1 + 8 + 1}


def test_the_class_token_is_a_chip_beside_the_image(shown):
    view = shown(InputView, photograph())
    place = view._chips.mapToScene(view._chips.rect_of(0).center())
    assert view.reading_at(place).startswith("‘[CLS]’ (0)")
    click(view, place)
    assert view.state.selection == {0}


def test_full_blend_shows_the_bars_colours_and_none_the_grey_image(shown):
    result = photograph()
    view = shown(InputView, result)
    view._chooser.blend.setValue(100)
    table = theme.sequential_map().getLookupTable(nPts=256)
    wanted = table[view._colours.indices[1 + 8 * 2 + 5]]
    assert tuple(view.plot._pictures[0].image[2 * 4, 5 * 4]) == tuple(wanted)
    view._chooser.blend.setValue(0)
    grey = view.plot._pictures[0].image
    assert np.allclose(grey[..., 0], IMAGE @ [0.299, 0.587, 0.114], atol=0.51)
    choose(view, "none")
    assert np.array_equal(view.plot._pictures[0].image, IMAGE)


def test_patches_without_a_number_stay_bare():
    patches = np.zeros((2, 2, 4), np.uint8)
    patches[0, 0] = (10, 20, 30, 255)
    picture = blended(np.full((4, 4, 3), 100, np.uint8), patches, 1.0)
    assert (picture[:2, :2] == (10, 20, 30)).all()
    assert (picture[2:] == 100).all()


def test_a_contaminated_image_stands_beside_the_clean_one(shown):
    view = shown(InputView, photograph(clean_image=255 - IMAGE))
    assert np.array_equal(view.plot._pictures[1].image, 255 - IMAGE)
    assert view.plot.getAxis("bottom").isVisible()
    offset = view.plot.offset
    assert offset > 8
    click(view, at(view.plot, offset + 2.5, 0.5))
    assert view.state.selection == {3}
    click(view, at(view.plot, 3.5, 0.5))
    assert view.state.selection == {4}
    view.state.show(photograph(clean_image=IMAGE))
    assert view.plot.offset == 0


def test_changed_words_are_underlined_and_tell_the_old_one(shown):
    made = factory.text(8, level=0.0)
    words = ["the", "quick", "red", "fox", "jumping", "over"]
    tokens = (made.tokens[0], *(factory.Token(w) for w in ("the", "quick", "red", "fox", "jump")),
              factory.Token("ing", word_start=False), made.tokens[-1])  # fmt: skip
    hit = np.array([False, False, False, True, False, False, False, False])
    result = replace(made, tokens=tokens, contaminated=hit, text=" ".join(words[:5]),
                     clean_text="the quick brown fox jumping")  # fmt: skip
    view = shown(InputView, result)
    assert view._old == {3: "was ‘brown’"}
    assert "(was ‘brown’)" in view.reading_at(word(view, 3))
    assert "underlined" in view._strip.text
    view.state.show(replace(result, clean_text="the very quick red fox jumping"))
    assert view._old == {2: "before it stood ‘very’"}


def test_options_come_back_and_nonsense_is_left_alone(shown):
    view = shown(InputView, factory.text())
    view.set_options({"colour": "eigenvector", "eigenvector": 3, "blend": 40})
    assert view.options() == {"colour": "eigenvector", "eigenvector": 3, "blend": 40}
    view.set_options({"colour": ["x"], "eigenvector": -4, "blend": "y", "more": 1})
    assert view.options() == {"colour": "eigenvector", "eigenvector": 3, "blend": 40}


def test_a_head_without_a_pursuit_says_who_is_contaminated():
    result = replace(factory.text(level=0.2), decomposition=None)
    assert np.array_equal(colouring.contamination(result).values, result.contaminated)


@pytest.mark.parametrize("colours", [theme.sequential_map(), theme.diverging_map()])
def test_text_is_legible_on_every_colour(colours):
    def luminance(colour):
        parts = np.array(QColor(colour).getRgbF()[:3])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    for rgb in colours.getLookupTable(nPts=256)[:, :3].tolist():
        fill = QColor(*rgb)
        low, high = sorted((luminance(fill), luminance(QColor(ink(fill)))))
        assert (high + 0.05) / (low + 0.05) >= 4.5
