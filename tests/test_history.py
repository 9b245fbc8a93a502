"""Every parameter can be taken back, one deliberate step at a time."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from explorer import history as module
from explorer.history import STEPS, WORDS, History, history_of
from explorer.params import Input, Params
from explorer.state import State

OTHER: dict[str, Any] = {
    "layer": 1, "head": 2, "query": 3, "input": Input(index=1), "contamination": "tokens", "level": 0.25,
    "magnitude": 3.0, "seed": 9, "contaminate_values": True, "target": "output", "steps": 3,
    "form": "pcp", "queries": "asymmetric",
    "lam": 2.0, "mu": 0.5, "iterations": 7, "variant": "rpc", "axes": (1, 2),
    "centred": True, "device": "cpu",
}  # fmt: skip


@pytest.fixture
def state() -> State:
    return State()


@pytest.fixture
def history(state: State) -> History:
    return history_of(state)


@pytest.mark.parametrize("name", [field.name for field in fields(Params)])
def test_every_parameter_goes_back_and_forth(state: State, history: History, name: str) -> None:
    state.update(**{name: OTHER[name]})
    assert history.undoes == WORDS[name]
    history.undo()
    assert state.params == Params()
    assert (history.undoes, history.redoes) == ("", WORDS[name])
    history.redo()
    assert state.params == Params(**{name: OTHER[name]})


def test_many_steps(state: State, history: History) -> None:
    for seed in range(1, 121):
        state.update(seed=seed)
    for seed in range(119, -1, -1):
        history.undo()
        assert state.params.seed == seed
    history.undo()
    assert state.params.seed == 0
    for _ in range(200):
        history.redo()
    assert state.params.seed == 120


def test_memory_is_bounded(state: State, history: History) -> None:
    for seed in range(1, STEPS + 50):
        state.update(seed=seed)
    while history.undoes:
        history.undo()
    assert state.params.seed == 49


def test_what_is_held_is_one_step(state: State, history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RUN_MS", 0)
    history.begin()
    for step in range(1, 30):
        state.update(level=step / 100)
    history.end()
    history.begin()
    state.update(level=0.4)
    history.end()
    history.undo()
    assert state.params.level == 0.29
    history.undo()
    assert state.params.level == 0.0
    assert not history.undoes


def test_a_drag_there_and_back_is_no_step(state: State, history: History) -> None:
    state.update(seed=1)
    history.begin()
    for level in (0.1, 0.2, 0.1, 0.0):
        state.update(level=level)
    history.end()
    assert history.undoes == "seed"
    history.begin()
    for level in (0.1, 0.0, 0.3):
        state.update(level=level)
    history.end()
    history.undo()
    assert state.params == Params(seed=1)
    assert (history.undoes, history.redoes) == ("seed", "level")


def test_a_wheel_is_one_step_and_a_pause_ends_it(
    state: State, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.update(magnitude=11.0)
    state.update(magnitude=12.0)
    monkeypatch.setattr(module, "RUN_MS", 0)
    state.update(magnitude=13.0)
    history.undo()
    assert state.params.magnitude == 12.0
    history.undo()
    assert state.params.magnitude == 10.0


def test_other_numbers_are_other_steps(state: State, history: History) -> None:
    state.update(level=0.1)
    state.update(magnitude=12.0)
    state.update(level=0.2)
    history.undo()
    assert (state.params.level, state.params.magnitude) == (0.1, 12.0)


def test_a_change_after_an_undo_forgets_what_was_undone(state: State, history: History) -> None:
    state.update(seed=1)
    state.update(seed=2)
    history.undo()
    state.update(level=0.1)
    assert not history.redoes
    history.undo()
    assert state.params == Params(seed=1)


def test_a_change_after_an_undo_is_a_step_of_its_own(state: State, history: History) -> None:
    state.update(level=0.1)
    history.undo()
    state.update(level=0.2)
    history.undo()
    assert state.params.level == 0.0


class Nothing:
    """Stands for a source."""

    def close(self) -> None:
        pass


def test_another_source_begins_another_history(state: State, history: History) -> None:
    state.update(level=0.1)
    state.open(Nothing(), Params(seed=5))  # type: ignore[arg-type]
    assert not history.undoes
    state.update(seed=6)
    history.undo()
    history.undo()
    assert state.params == Params(seed=5)


def test_it_tells_of_changes(state: State, history: History) -> None:
    heard: list[str] = []
    history.changed.connect(lambda: heard.append(history.undoes))
    state.update(level=0.1)
    history.undo()
    assert heard == ["level", ""]


def test_many_changes_at_once_are_counted(state: State, history: History) -> None:
    state.update(level=0.1, seed=1, magnitude=2.0)
    assert history.undoes == "level, magnitude, seed"
    state.update(level=0.2, seed=2, magnitude=3.0, lam=1.0)
    assert history.undoes == "4 settings"


class Room:
    """A number that something may refuse."""

    def __init__(self) -> None:
        self.number = (0,)
        self.history = History(lambda: self.number, self.set, {}, lambda number: {"number": number})

    def set(self, number: tuple[int]) -> None:
        self.number = number
        self.history.follow(number)


@pytest.fixture
def room() -> Room:
    return Room()


def numbers(room: Room) -> list[int]:
    """All steps, from the first one on, by going there."""
    while room.history.undoes:
        room.history.undo()
    found = [*room.number]
    while room.history.redoes:
        room.history.redo()
        found += room.number
    return found


def test_what_is_refused_is_no_step(room: Room) -> None:
    for number in (1, 2, 3):
        room.set((number,))
    room.history.refuse((1,))
    assert room.number == (1,) and room.history.undoes == "number" and not room.history.redoes
    assert numbers(room) == [0, 1]


def test_what_is_held_stays_held_when_something_on_the_way_is_refused(room: Room) -> None:
    room.history.begin()
    for number in (1, 2, 3):
        room.set((number,))
    room.history.refuse((0,))
    for number in (4, 5, 6):
        room.set((number,))
    room.history.end()
    assert numbers(room) == [0, 6]


def test_an_undo_that_is_refused_is_forgotten(room: Room) -> None:
    for number in (1, 2, 3):
        room.set((number,))
    room.history.undo()
    room.history.undo()
    room.history.refuse((2,))
    assert room.number == (2,)
    assert numbers(room) == [0, 2, 3]
    room.history.undo()
    room.history.refuse((3,))
    assert numbers(room) == [0, 3]


def test_no_step_is_nothing(room: Room) -> None:
    for number in (1, 0):
        room.set((number,))
    room.history.undo()
    room.history.refuse((0,))
    assert numbers(room) == [0]
    room.set((4,))
    room.history.refuse((7,))
    assert numbers(room) == [7]
