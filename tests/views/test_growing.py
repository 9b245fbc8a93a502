"""Response curves grow a hundred times in one picture: only what shows them draws again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from explorer.state import State
from explorer.views.attention_map import AttentionMap
from explorer.views.outputs import Outputs
from explorer.views.points import Points
from tests.views import factory


@pytest.mark.parametrize(("kind", "draws"), [(AttentionMap, 1), (Outputs, 2)])
def test_growing_curves_are_drawn_by_those_who_show_them(
    kind: type[AttentionMap | Outputs], draws: int, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    monkeypatch.setattr(kind, "draw", lambda self, result: drawn.append(result))
    view = kind(State())
    qtbot.addWidget(view)
    first = factory.synthetic(24)
    grown = replace(first, curves=None, final=not first.final)
    view.show_result(first)
    view.show_result(grown)
    assert len(drawn) == draws and view.result is grown
    view.redraw()
    view.show_result(replace(grown, map=grown.map.copy()))
    assert len(drawn) == draws + 2


def test_symbols_of_one_colour_are_rendered_once(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    points, rendered = Points(), []
    monkeypatch.setattr(points, "updateSpots", lambda *_: rendered.append(1))
    x = factory.projection(np.random.default_rng(0), 50, 0.0).keys
    points.move(x[:, 0], x[:, 1])
    before = len(rendered)
    points.tint([], [])
    assert len(rendered) == before
