"""The one observable: each change is told once, and an equal value is no change."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from explorer.params import Params
from explorer.state import State


class Something:
    """Stands for a source."""

    closed = False

    def close(self) -> None:
        self.closed = True


def test_update_tells_once(qtbot: QtBot) -> None:
    state = State()
    heard: list[Params] = []
    state.params_changed.connect(heard.append)
    state.update(level=0.1, seed=3)
    assert [(p.level, p.seed) for p in heard] == [(0.1, 3)]


def test_equal_parameters_are_no_change(qtbot: QtBot) -> None:
    state = State()
    heard: list[Params] = []
    state.params_changed.connect(heard.append)
    state.update(level=0.0)
    state.set_params(Params())
    assert heard == []


def test_opening_tells_in_order_and_closes_the_old_source(qtbot: QtBot) -> None:
    state = State()
    first, second = Something(), Something()
    state.open(first, Params())
    state.select(frozenset({2}))
    order: list[str] = []
    state.source_changed.connect(lambda _: order.append("source"))
    state.selection_changed.connect(lambda _: order.append("selection"))
    state.params_changed.connect(lambda _: order.append("params"))
    state.open(second, Params())
    assert order == ["source", "selection", "params"]
    assert state.selection == frozenset()
    assert first.closed and not second.closed


def test_the_same_selection_is_no_change(qtbot: QtBot) -> None:
    state = State()
    heard: list[frozenset[int]] = []
    state.selection_changed.connect(heard.append)
    state.select(frozenset({1}))
    state.select(frozenset({1}))
    assert heard == [frozenset({1})]
