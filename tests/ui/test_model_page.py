"""The model page as a person uses it: choose, drag, cancel, look elsewhere, close."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.answers import AnswerCurve, Exchange
from explorer.app import build
from explorer.models.recipes import Recipe
from explorer.params import Input, Params
from explorer.predictions import Predictor
from explorer.ui import export
from explorer.ui.model_page import ModelPage
from explorer.ui.window import MainWindow
from explorer.views.exchange_chooser import TYPED
from tests.ui.desk import settle


def page_of(window: MainWindow) -> ModelPage:
    titles = [window.pages.row.tabText(i) for i in range(window.pages.count)]
    window.pages.show_page(titles.index("Model"))
    page = window.pages.page(window.pages.place)
    assert isinstance(page, ModelPage)
    return page


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    """A window on the sample that computes at once."""
    window = build(inline=True)
    window.resize(1280, 800)
    window.show()
    window.opener.open_sample()
    yield window
    window.close()
    window.deleteLater()


@pytest.fixture
def live(qtbot: QtBot) -> Iterator[MainWindow]:
    """A window on the sample that computes on its threads."""
    window = build()
    window.resize(1280, 800)
    window.show()
    window.opener.open_sample()
    qtbot.waitUntil(lambda: window.state.source is not None, timeout=60_000)
    yield window
    window.close()
    window.deleteLater()


def answers_of(page: ModelPage) -> Any:
    return page.predictions.result


def test_the_answers_are_the_predictors(window: MainWindow) -> None:
    page = page_of(window)
    window.state.update(level=0.1, lam=3.0)
    found = answers_of(page)
    assert len(found.answers) == 4 and "λ = 3" in found.exchange and "all layers" in found.exchange
    p = window.state.params
    *_, expected = Predictor(window.state.source).predict(p, Exchange("rpc", tuple(range(4))))
    for case, answer in expected.answers.items():
        np.testing.assert_array_equal(answer.probabilities, found.answers[case].probabilities)
    assert "trained with softmax" in page.predictions._label.text


def test_a_model_that_was_asked_is_let_go_when_another_is_opened(window: MainWindow) -> None:
    page = page_of(window)
    assert answers_of(page) is not None
    asked = weakref.ref(window.state.source)
    window.pages.show_page(0)
    window.open_recipe(Recipe(tokens=24, dim=8, components=3))
    settle()
    gc.collect()
    assert asked() is None


def test_without_contamination_two_answers_are_enough(window: MainWindow) -> None:
    page = page_of(window)
    window.state.update(level=0.0)
    assert len(answers_of(page).answers) == 2


def test_a_person_chooses_attention_and_layers(window: MainWindow, qtbot: QtBot) -> None:
    page = page_of(window)
    chooser = page.predictions.chooser
    chooser.attention.setFocus()
    qtbot.keyClick(chooser.attention, Qt.Key.Key_Down)
    assert answers_of(page).exchange == "symmetric softmax in all layers"
    chooser.where.setCurrentText("this layer")
    window.state.update(layer=2)
    assert answers_of(page).exchange.endswith("in layer 2")
    chooser.where.setCurrentText(TYPED)
    assert chooser.layers.isVisible()
    chooser.layers.clear()
    qtbot.keyClicks(chooser.layers, "0, 2-3")
    qtbot.keyClick(chooser.layers, Qt.Key.Key_Return)
    assert answers_of(page).exchange.endswith("in layers 0, 2–3")
    chooser.attention.setCurrentIndex(chooser.attention.findData("scaled"))
    assert chooser.s.isVisible() and "s = 0.5" in answers_of(page).exchange


def test_layers_that_are_not_there_are_named_and_mended(window: MainWindow, qtbot: QtBot) -> None:
    page = page_of(window)
    chooser = page.predictions.chooser
    chooser.where.setCurrentText(TYPED)
    chooser.layers.setText("9")
    qtbot.keyClick(chooser.layers, Qt.Key.Key_Return)
    assert answers_of(page) is None
    assert "the layers are 0 to 3" in page.predictions._sentence.text()
    chooser.layers.setText("1")
    qtbot.keyClick(chooser.layers, Qt.Key.Key_Return)
    assert answers_of(page).exchange.endswith("in layer 1")


def test_exact_pcp_waits_for_rest(window: MainWindow, qtbot: QtBot) -> None:
    page = page_of(window)
    page.predictions.set_options({"attention": "pcp", "where": "first layer"})
    qtbot.waitUntil(lambda: answers_of(page) is not None and "exact PCP" in answers_of(page).exchange)
    before = answers_of(page)
    window.state.update(level=0.2)
    assert answers_of(page) is before
    qtbot.waitUntil(lambda: answers_of(page) is not before and len(answers_of(page).answers) == 4)


def test_the_curve_comes_at_rest_and_is_kept(window: MainWindow, qtbot: QtBot) -> None:
    page = page_of(window)
    qtbot.waitUntil(page.is_complete, timeout=20_000)
    first: Any = page.curve.result
    assert "which is true" in first.measure and first.done == first.wanted
    window.state.update(level=0.3)
    qtbot.waitUntil(page.is_complete)
    assert page.curve.result is first and page.curve._level.value() == pytest.approx(0.3)
    window.state.update(iterations=2)
    qtbot.waitUntil(lambda: page.is_complete() and page.curve.result is not first, timeout=20_000)
    window.state.update(iterations=4)
    qtbot.waitUntil(lambda: page.curve.result is first)


def test_options_come_back(window: MainWindow) -> None:
    page = page_of(window)
    options = {"attention": "scaled", "where": TYPED, "layers": "1-2", "s": 0.3}
    page.predictions.set_options(options)
    assert page.predictions.options() == options
    assert "layers 1–2" in answers_of(page).exchange
    page.predictions.set_options({"attention": "nonsense", "where": "nowhere"})
    assert page.predictions.options()["attention"] == "rpc"


def test_heads_without_a_model_say_what_to_open(window: MainWindow) -> None:
    page = page_of(window)
    window.open_recipe(Recipe(tokens=16, dim=4, components=2))
    assert answers_of(page) is None and page.curve.result is None
    assert "Open a checkpoint or the sample" in page.predictions._sentence.text()
    window.opener.open_sample()
    assert answers_of(page) is not None


def test_nothing_is_asked_while_the_page_is_not_shown(window: MainWindow) -> None:
    page = page_of(window)
    before = answers_of(page)
    window.pages.show_page(0)
    window.state.update(level=0.25)
    assert answers_of(page) is before
    page_of(window)
    assert answers_of(page) is not before


@pytest.mark.parametrize("kind", ["png", "svg", "pdf", "csv", "json"])
def test_both_panels_are_exported(window: MainWindow, qtbot: QtBot, kind: export.Format) -> None:
    page = page_of(window)
    qtbot.waitUntil(page.is_complete, timeout=20_000)
    for view in page.views:
        assert len(export.export_bytes([view], kind)) > 100


def test_panels_have_names_and_help(window: MainWindow) -> None:
    page = page_of(window)
    for panel in page.panels.values():
        assert panel.help_button.accessibleName() and panel.menu_button.accessibleName()
    for widget in (page.predictions.chooser.attention, page.predictions.chooser.where):
        assert widget.accessibleName() and widget.toolTip()
        assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_a_drag_animates_and_the_latest_level_wins(live: MainWindow, qtbot: QtBot) -> None:
    page = page_of(live)
    qtbot.waitUntil(
        lambda: answers_of(page) is not None and len(answers_of(page).answers) == 2, timeout=30_000
    )
    seen: list[Any] = []
    page._answers.item.connect(seen.append)
    for step in range(1, 41):
        live.state.update(level=step / 100)
        qtbot.wait(15)
    qtbot.waitUntil(lambda: page._running is None and page._waiting is None)
    last = {id(found) for found in seen}
    assert len(last) > 3
    *_, expected = Predictor(live.state.source).predict(live.state.params, Exchange("rpc", tuple(range(4))))
    for case, answer in expected.answers.items():
        np.testing.assert_allclose(
            answer.probabilities, answers_of(page).answers[case].probabilities, atol=1e-6
        )


def test_a_long_asking_is_cancelled_and_asked_again(
    live: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(live)
    qtbot.waitUntil(lambda: answers_of(page) is not None, timeout=30_000)
    begun = threading.Event()
    original = Predictor.predict

    def slow(self: Predictor, p: Params, exchange: Exchange, place: Any, should_stop: Any) -> Iterator[Any]:
        begun.set()
        while not should_stop():
            threading.Event().wait(0.01)
        yield from original(self, p, exchange, place, should_stop)

    monkeypatch.setattr(Predictor, "predict", slow)
    chooser = page.predictions.chooser
    chooser.attention.setCurrentIndex(1)
    asking = page.predictions.chooser.asking
    qtbot.waitUntil(asking.button.isVisible)
    assert begun.is_set() and asking.button.text() == "Cancel"
    qtbot.mouseClick(asking.button, Qt.MouseButton.LeftButton)
    assert asking.progress.text() == "cancelled" and asking.button.text() == "Ask again"
    qtbot.waitUntil(lambda: not any(t.name == "gramscope-answers" for t in threading.enumerate()))
    monkeypatch.setattr(Predictor, "predict", original)
    qtbot.mouseClick(asking.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: answers_of(page) is not None and "symmetric" in answers_of(page).exchange, timeout=10_000
    )
    assert not asking.button.isVisible()


def test_closing_while_it_asks_leaves_no_thread(live: MainWindow, qtbot: QtBot) -> None:
    page = page_of(live)
    page.predictions.set_options({"attention": "pcp"})
    live.state.update(level=0.1)
    qtbot.wait(350)
    live.close()
    settle()
    QApplication.processEvents()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gramscope-")]


def test_a_new_source_does_not_meet_the_answers_of_the_last_one(
    live: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(live)
    qtbot.waitUntil(page.is_complete, timeout=30_000)
    go_on = threading.Event()
    original = Predictor.predict

    def slow(self: Predictor, *args: Any) -> Iterator[Any]:
        go_on.wait(20)
        yield from original(self, *args)

    monkeypatch.setattr(Predictor, "predict", slow)
    live.state.update(input=Input(index=5))
    assert answers_of(page) is not None
    qtbot.waitUntil(lambda: answers_of(page) is None)
    assert "being asked" in page.predictions._sentence.text()
    go_on.set()
    qtbot.waitUntil(lambda: answers_of(page) is not None, timeout=10_000)
    qtbot.waitUntil(page.is_complete, timeout=30_000)
    assert page.curve.result.measure != "", "the curve is that of the new input"


def test_a_drag_of_the_level_keeps_the_picture(window: MainWindow, qtbot: QtBot) -> None:
    page = page_of(window)
    window.state.update(level=0.1)
    before = answers_of(page)
    window.state.update(level=0.2)
    page._clear()
    assert answers_of(page) is not None and answers_of(page) is not before


def test_a_long_curve_says_how_long_and_waits_for_a_person(
    live: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(live)
    original = Predictor.curve

    def slow(self: Predictor, *args: Any) -> Iterator[AnswerCurve]:
        for curve in original(self, *args):
            threading.Event().wait(0.02)
            yield (
                curve if curve.seconds is None else replace(curve, seconds=2.0 * (curve.wanted - curve.done))
            )

    monkeypatch.setattr(Predictor, "curve", slow)
    live.state.update(contamination="pgd", level=0.1, steps=1)
    asking = page.curve.asking
    qtbot.waitUntil(lambda: asking.button.text() == "Compute", timeout=20_000)
    assert "takes about 2 min" in asking.progress.text()
    assert page.curve.result.done < page.curve.result.wanted
    qtbot.mouseClick(asking.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: asking.button.text() == "Cancel" and asking.button.isVisible(), timeout=20_000)
    qtbot.waitUntil(lambda: "left" in asking.progress.text(), timeout=20_000)
    qtbot.waitUntil(page.is_complete, timeout=30_000)
    qtbot.waitUntil(lambda: not asking.button.isVisible())


def test_a_curve_is_cancelled_and_begun_again(
    live: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(live)
    original = Predictor.curve

    def slow(self: Predictor, *args: Any) -> Iterator[AnswerCurve]:
        for curve in original(self, *args):
            threading.Event().wait(0.1)
            yield replace(curve, seconds=1.0)

    monkeypatch.setattr(Predictor, "curve", slow)
    live.state.update(level=0.1, seed=3)
    asking = page.curve.asking
    qtbot.waitUntil(lambda: asking.button.text() == "Cancel" and asking.button.isVisible(), timeout=20_000)
    qtbot.mouseClick(asking.button, Qt.MouseButton.LeftButton)
    assert asking.progress.text() == "cancelled" and asking.button.text() == "Begin again"
    known = 0 if page.curve.result is None else page.curve.result.done
    qtbot.wait(400)
    assert (0 if page.curve.result is None else page.curve.result.done) == known
    monkeypatch.setattr(Predictor, "curve", original)
    qtbot.mouseClick(asking.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(page.is_complete, timeout=30_000)
