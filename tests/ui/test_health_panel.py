"""The health panel shows the numbers of the picture, clean and contaminated, and warns in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.analysis import Evaluator
from explorer.models.base import LayerHeads
from explorer.params import Params
from explorer.result import Result
from explorer.ui.health import NOTHING, ROWS, HealthPanel, warnings
from explorer.ui.window import MainWindow
from tests.sources import FixedSource
from tests.ui.desk import settle, sit_down


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot) as window:
        next(a for a in window.menus.view.actions() if a.text() == "Numerical health").trigger()
        settle()
        yield window


def evaluate(size: float = 1.0, dtype: torch.dtype = torch.float32, **params: float) -> Result:
    def enlarge(heads: LayerHeads) -> LayerHeads:
        return LayerHeads(heads.q * size, heads.k * size, heads.v, heads.scale)

    *_, result = Evaluator()(Params(**params), FixedSource(change=enlarge, dtype=dtype))
    return result


def table(panel: HealthPanel) -> dict[str, tuple[str, str]]:
    return {
        name: (clean.text(), moved.text())
        for (name, _, _), (clean, moved) in zip(ROWS, panel.cells, strict=True)
    }


def test_it_shows_the_numbers_of_the_picture(window: MainWindow) -> None:
    panel = window.workbench.health
    assert panel.isVisible()
    window.state.update(level=0.3)
    result = window.state.result
    shown = table(panel)
    assert shown["Numerical rank"] == (f"{result.clean.rank} of 24", f"{result.moved.rank} of 24")
    assert shown["Tokens over half precision"][1] == f"{result.moved.health.over_half} of 24"
    assert float(shown["Largest logit τ k·k"][1]) == pytest.approx(
        result.moved.health.largest_logit, rel=0.01
    )
    assert shown["Eigenvalues dropped"][0] == str(24 - result.clean.rank)
    assert "computed in float64 on CPU" in panel.head.text()


def test_it_fits_its_place(window: MainWindow) -> None:
    panel = window.workbench.health
    assert panel.widget().width() <= panel.viewport().width()


def test_hidden_it_costs_nothing_and_catches_up(window: MainWindow) -> None:
    panel, dock = window.workbench.health, window.explore.asides["health"]
    dock.hide()
    before = table(panel)
    window.state.update(level=0.4)
    assert table(panel) == before
    dock.show()
    dock.raise_()
    settle()
    assert table(panel) != before


def test_nothing_open(qtbot: QtBot) -> None:
    with sit_down(qtbot, recipe=None) as window:
        assert window.workbench.health.head.text() == NOTHING


def test_its_i_opens_the_definition(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.mouseClick(window.workbench.health.help_button, Qt.MouseButton.LeftButton)
    assert "65504" in window.workbench.help.page.toPlainText()
    window.workbench.help.close()


def test_a_healthy_head_needs_no_warning_of_overflow() -> None:
    assert not any("overflows" in said for said in warnings(evaluate()))


def test_large_keys_are_warned_of_in_words() -> None:
    said = " ".join(warnings(evaluate(size=4.0)))
    assert "overflows half precision" in said
    assert "log domain" in said
    assert "single precision" in " ".join(warnings(evaluate(size=30.0)))


def test_the_contaminated_keys_are_warned_of_apart() -> None:
    said = warnings(evaluate(level=0.3, magnitude=100.0))
    assert any("contaminated keys overflows" in sentence for sentence in said)
    assert not any("clean keys overflows" in sentence for sentence in said)


def test_twins_and_nothing_to_tell_apart() -> None:
    def same(heads: LayerHeads) -> LayerHeads:
        return LayerHeads(heads.q, torch.ones_like(heads.k), heads.v, heads.scale)

    *_, result = Evaluator()(Params(), FixedSource(change=same))
    assert any("no spectrum" in said for said in warnings(result))
    result = evaluate()
    twins = replace(result.clean, identifiable=np.array([True, False, False]))
    said = " ".join(warnings(replace(result, clean=twins)))
    assert "2 of the shown eigenvectors of the clean keys are not identifiable: compare the" in said


def test_a_truncated_spectrum_says_what_was_not_computed(qtbot: QtBot, window: MainWindow) -> None:
    result = window.state.result
    health = replace(result.clean.health, rank_single=None, rank_half=None, clipped=None)
    leading = replace(result.clean, rank=None, health=health)
    window.state.show(replace(result, clean=leading, moved=replace(leading, health=None)))
    shown = table(window.workbench.health)
    assert shown["Numerical rank"] == ("not computed of 24", "—")
    assert shown["of which clipped at 0"][0] == "not computed"
