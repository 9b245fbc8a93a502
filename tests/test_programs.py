"""The program copied on each page, run by itself, gives the numbers of that page's figures."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from explorer.commands.scenes import titles
from explorer.params import Params
from explorer.ui.window import MainWindow
from tests.ui.desk import sentences, settle, sit_down

HEAD = Params(layer=1, head=1, level=0.1, seed=3)


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot, None) as window:
        window.opener.open_sample()
        window.state.set_params(HEAD)
        settle()
        yield window


def turn_to(window: MainWindow, title: str) -> Any:
    window.pages.show_page(titles(window).index(title))
    settle()
    return window.pages.page(window.pages.place)


def run(window: MainWindow, folder: Path) -> dict[str, Any]:
    """Copy what the shown page says of itself as Python, and run it."""
    QGuiApplication.clipboard().clear()
    window.menus.actions["Copy as Python"].trigger()
    path = folder / "figure.py"
    path.write_text(QGuiApplication.clipboard().text(), encoding="utf-8")
    return runpy.run_path(str(path))


def test_the_overview(window: MainWindow, tmp_path: Path) -> None:
    shown = turn_to(window, "Overview").view.result
    again = run(window, tmp_path)["overview"]
    assert shown.complete and again.complete
    for key in shown.done[0].values:
        np.testing.assert_array_equal(again.table(key), shown.table(key))
    np.testing.assert_array_equal(again.of_layer(1).maps, shown.of_layer(1).maps)


def test_a_comparison_with_another_source(window: MainWindow, tmp_path: Path) -> None:
    window.menus.actions["Pin as reference"].trigger()
    window.state.update(head=0, level=0.3)
    settle()
    page = turn_to(window, "Compare")
    again = run(window, tmp_path)
    state = window.state
    assert page.numbers.result is not None and state.result.params.level == 0.3
    np.testing.assert_array_equal(again["result"].map, state.result.map)
    np.testing.assert_array_equal(again["pinned"].map, state.reference.result.map)
    shown = again["rows"](state.reference.result, state.result)
    np.testing.assert_array_equal(
        [(row.pinned, row.present) for row in again["rows"](again["pinned"], again["result"])],
        [(row.pinned, row.present) for row in shown],
    )


@pytest.mark.parametrize("kind", ["sparse", "occlusion"])
def test_robustness(window: MainWindow, kind: str, qtbot: QtBot, tmp_path: Path) -> None:
    window.state.update(contamination=kind)
    page = turn_to(window, "Robustness")
    qtbot.waitUntil(page.is_complete, timeout=120_000)
    again = run(window, tmp_path)
    np.testing.assert_array_equal(again["pcp"].sparse, page.decomposition.exact.sparse)
    result, phase, sweep = window.state.result, again["phase"], again["sweep"]
    for shown, own in ((page.phase, phase.own), (page.phase, phase.to_softmax), (page.support, sweep.recall)):
        columns = dict(zip(*shown.numbers(result), strict=True))
        assert any(np.array_equal(column, own.ravel(), equal_nan=True) for column in columns.values())


def test_what_a_model_says(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    page = turn_to(window, "Model")
    qtbot.waitUntil(page.is_complete, timeout=120_000)
    again = run(window, tmp_path)
    shown = page.predictions.result
    assert again["answers"].answers.keys() == shown.answers.keys()
    for case, answer in shown.answers.items():
        np.testing.assert_array_equal(again["answers"].answers[case].probabilities, answer.probabilities)
    np.testing.assert_array_equal(again["curve"].exchanged, page.curve.result.exchanged)


def test_the_evidence(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    page = turn_to(window, "Evidence")
    page.fields.cheap.setValue(20)
    page.fields.costly.setValue(3)
    qtbot.waitUntil(lambda: page.fields.asked.costly == 3 and page.is_complete(), timeout=120_000)
    again = run(window, tmp_path)
    assert again["findings"].sentences == page.findings.sentences
    for null in ("permutation", "rotation"):
        np.testing.assert_array_equal(
            again["findings"].score(null, "overlap", "z"), page.findings.score(null, "overlap", "z")
        )
    np.testing.assert_array_equal(again["values"].learned, page.pair.result.learned)


def test_a_study(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    page = turn_to(window, "Study")
    for kind, box in page.controls.kinds.items():
        box.setChecked(kind == "occlusion")
    page.controls.seeds.setValue(1)
    page.controls.button.click()
    qtbot.waitUntil(page.is_complete, timeout=120_000)
    shown, again = page.study.result, run(window, tmp_path)["last"].answers
    assert again.setting == shown.setting and again.right.keys() == shown.right.keys()
    for place, right in shown.right.items():
        np.testing.assert_array_equal(again.right[place], right)


@pytest.mark.parametrize(
    ("title", "words"), [("Compare", "Nothing is pinned"), ("Study", "Nothing is studied yet")]
)
def test_a_page_that_shows_nothing_has_nothing_to_copy(window: MainWindow, title: str, words: str) -> None:
    turn_to(window, title)
    QGuiApplication.clipboard().clear()
    window.menus.actions["Copy as Python"].trigger()
    assert words in sentences(window)[-1] and not QGuiApplication.clipboard().text()


def test_heads_without_a_model_say_nothing(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        turn_to(window, "Model")
        window.menus.actions["Copy as Python"].trigger()
        assert "heads without a model" in sentences(window)[-1]
