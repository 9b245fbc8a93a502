"""The answers side by side, and over the level: what is drawn, read and exported."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage

from explorer.answers import ATTENTIONS, Answer, AnswerCurve, Answers
from explorer.params import Params
from explorer.ui import theme
from explorer.ui.export import export_bytes
from explorer.views.picture import Provenance
from explorer.views.predictions import CASES, PredictionsView
from explorer.views.predictions_curve import PredictionsCurveView, spread
from tests.views.conftest import settle
from tests.views.pixels import count, pixels

FROM = Provenance("digits, softmax", {"level": 0.1}, "float32 on cpu")


def classes(cases=CASES, true="3", names=tuple("0123456789")):
    draw = np.random.default_rng(0)
    answers = {}
    for case in cases:
        shares = draw.dirichlet(np.full(len(names), 0.3))
        answers[case] = Answer(names, shares, float(shares[names.index(true)]) if true else None)
    return Answers(
        "classes", "which digit it shows", "RPC in all layers",
        "the keys of every head" if len(cases) > 2 else "", "This checkpoint was trained with softmax.", (),
        true, answers,
    )  # fmt: skip


def tokens():
    names = ("the", "a", "river", "·street·with·a·very·long·name·indeed", "of", "to", "and", "in")
    return classes(true=None, names=names)


def embedding(lowest=0.4):
    answers = {
        case: Answer((), np.empty(0), cosine=cosine)
        for case, cosine in zip(CASES, (1.0, lowest, 0.9, 0.3), strict=True)
    }
    made = classes()
    return Answers(
        "embedding", "its embedding", made.exchange, "keys", made.label, ("No head.",), None, answers
    )


def curve(known=3):
    levels = np.linspace(0, 0.5, 7)
    draw = np.random.default_rng(1)
    values = [np.clip(np.exp(-k * levels) + 0.1 * draw.normal(size=(3, 7)), 0, 1) for k in (4, 2)]
    for part in values:
        part[known:] = np.nan
    return AnswerCurve(levels, *values, "probability of “3”, which is true")


MADE = {"classes": classes, "tokens": tokens, "embedding": embedding, "negative": lambda: embedding(-0.7)}


@pytest.fixture
def view(qtbot, qapp):
    made = PredictionsView()
    qtbot.addWidget(made)
    made.resize(1000, 340)
    made.show()
    settle(qtbot)
    return made


@pytest.fixture
def curve_view(qtbot, qapp):
    made = PredictionsCurveView()
    qtbot.addWidget(made)
    made.resize(900, 260)
    made.show()
    settle(qtbot)
    return made


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_each_kind_of_answer_is_drawn_with_each_attention(view, name, attention):
    empty = pixels(view)
    view.show_answers(MADE[name](), attention, FROM)
    assert (pixels(view) != empty).any()


def test_colours_are_those_of_the_attentions(view):
    view.show_answers(classes(), "rpc", FROM)
    drawn = pixels(view)
    assert count(drawn, theme.SOFTMAX) > 200 and count(drawn, theme.RPC) > 200
    view.show_answers(classes(), "pcp", FROM)
    drawn = pixels(view)
    assert count(drawn, theme.PCP) > 200 and count(drawn, theme.RPC, 2) < 20


def test_what_is_true_is_marked_and_said(view):
    view.show_answers(classes(), "rpc", FROM)
    ticks = dict(view.columns[0]._ticks["left"])
    assert ticks[3.0] == "› 3" and ticks[4.0] == "4"
    assert "true: “3”" in view._asked.text
    assert "trained with softmax" in view._label.text


def test_a_bar_has_its_value_and_says_it_under_the_pointer(view, qtbot):
    made = classes()
    view.show_answers(made, "rpc", FROM)
    settle(qtbot)
    for case, column in zip(CASES, view.columns, strict=True):
        assert np.array_equal(column.shown.values, made.answers[case].probabilities)
        at = column.vb.mapViewToScene(QPointF(0.01, 3))
        reading = view.reading_at(at)
        assert "“3”" in reading and "which is true" in reading
        assert column.shown.figure(3) in reading
        assert ("contaminated" in reading, "RPC" in reading) == case


@pytest.mark.parametrize(("width", "shown"), [(1000, ["0", "50 %", "100 %"]), (480, ["0", "100 %"])])
def test_shares_keep_apart_where_it_is_narrow(view, qtbot, width, shown):
    view.show_answers(classes(), "rpc", FROM)
    view.resize(width, 340)
    settle(qtbot)
    for column in view.columns:
        assert [text for _, text in column.getAxis("bottom")._tickLevels[0]] == shown


def test_what_is_not_asked_yet_says_so(view):
    view.show_answers(classes(CASES[:2]), "rpc", FROM)
    assert "raise the level" in view._strips[2].text
    made = classes()
    for case in CASES[1:]:
        del made.answers[case]
    view.show_answers(made, "rpc", FROM)
    assert "not asked yet" in view._strips[3].text
    assert view.columns[3].shown is None


@pytest.mark.parametrize("name", MADE)
def test_the_numbers_are_the_bars(view, name):
    made = MADE[name]()
    view.show_answers(made, "rpc", FROM)
    names, columns = view.table()
    assert names[:2] == ["case", "answer"] and len({len(column) for column in columns}) == 1
    bars = [value for answer in made.answers.values() for value in
            ([answer.cosine] if answer.cosine is not None else answer.probabilities)]  # fmt: skip
    np.testing.assert_array_equal(columns[2], bars)


def test_exports_can_be_read_back(view, curve_view):
    view.show_answers(classes(), "rpc", FROM)
    curve_view.show_curve(curve(), "rpc", Params(), FROM)
    for each in (view, curve_view):
        assert not QImage.fromData(export_bytes([each], "png")).isNull()
        assert "<path" in export_bytes([each], "svg").decode()
        assert export_bytes([each], "pdf").startswith(b"%PDF")
        text = export_bytes([each], "csv").decode()
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        assert next(csv.reader(io.StringIO("\n".join(lines)))) == each.table()[0]
        assert "digits, softmax" in text


@pytest.mark.parametrize("kind", [PredictionsView, PredictionsCurveView])
def test_help_says_how_not_to_read_it(kind):
    assert "arXiv" in kind.help and ("not" in kind.help)


def test_dark_and_light_return(view, curve_view, qtbot):
    view.show_answers(classes(), "rpc", FROM)
    curve_view.show_curve(curve(), "rpc", Params(), FROM)
    for each in (view, curve_view):
        settle(qtbot)
        before = pixels(each)
        with theme.theme().using(theme.DARK):
            settle(qtbot)
            assert (pixels(each) != before).any()
        settle(qtbot)
        assert np.array_equal(pixels(each), before)


def test_the_curve_says_its_numbers_and_marks_the_level(curve_view, qtbot):
    made = curve(known=2)
    curve_view.show_curve(made, "rpc", Params(), FROM)
    curve_view.show_level(0.2)
    settle(qtbot)
    assert curve_view._level.value() == 0.2
    assert f"{made.done} of {made.wanted} answers" in curve_view._strip.text
    at = curve_view.plot.vb.mapViewToScene(QPointF(float(made.levels[2]), 0.5))
    reading = curve_view.reading_at(at)
    low, mean, high = (f"{row[2]:.3g}" for row in spread(made.softmax))
    assert reading.startswith("at 16.7 %") and f"softmax {mean} ({low} to {high})" in reading


@pytest.mark.parametrize(("kind", "ticks"), [("sparse", ["0 %", "10 %"]), ("gaussian", None)])
def test_levels_are_written_as_in_the_other_panels(curve_view, kind, ticks):
    curve_view.show_curve(curve(), "rpc", Params(contamination=kind), FROM)
    shown = curve_view.plot.getAxis("bottom")._tickLevels
    assert (shown and [text for _, text in shown[0][:2]]) == ticks


def test_a_curve_without_numbers_is_drawn(curve_view):
    curve_view.show_curve(curve(known=0), "pcp", Params(), FROM)
    assert pixels(curve_view).size


def test_spread_ignores_what_is_not_known():
    values = np.array([[1.0, 2.0, np.nan], [3.0, np.nan, np.nan]])
    low, mean, high = spread(values)
    np.testing.assert_array_equal(low, [1, 2, np.nan])
    np.testing.assert_array_equal(mean, [2, 2, np.nan])
    np.testing.assert_array_equal(high, [3, 2, np.nan])


@pytest.mark.parametrize(("answers", "room"), [(classes, 46), (tokens, 92)])
def test_short_names_leave_their_room_to_the_bars(view, answers, room):
    view.show_answers(answers(), "rpc", FROM)
    for column in view.columns:
        assert column.getAxis("left").width() <= room
        assert column.getAxis("left").width() % 23 == 0
