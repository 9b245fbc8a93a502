"""Once the picture rests, its numbers depend on what is set and not on how one came there, bit for bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.models.recipes import Recipe
from explorer.ui.window import MainWindow
from explorer.views.picture import Picture
from tests.ui.desk import settle, sit_down

GOAL: dict[str, Any] = {
    "level": 0.1, "seed": 3, "lam": 2.0, "iterations": 4, "queries": "asymmetric", "variant": "rpc",
}  # fmt: skip
TIMES = {"milliseconds", "seconds"}
LARGE = Recipe(tokens=300, dim=16, components=4)
"""Above the size up to which a drag shows exact eigenvectors."""


def straight(window: MainWindow) -> None:
    window.state.update(**GOAL)


def one_by_one(window: MainWindow) -> None:
    for name, value in GOAL.items():
        window.state.update(**{name: value})


def backwards(window: MainWindow) -> None:
    for name, value in reversed(GOAL.items()):
        window.state.update(**{name: value})


def by_a_long_way(window: MainWindow) -> None:
    """Drag over levels, seeds and forms, and come back."""
    for level in (0.02, 0.3, 0.07, 0.0, 0.2):
        window.state.update(level=level)
    window.state.update(seed=1, form="pcp", contamination="tokens")
    window.state.update(contamination="sparse", form="published", iterations=9)
    window.state.update(**GOAL)


@pytest.fixture
def at_rest(qtbot: QtBot) -> Iterator[Callable[[Callable[[MainWindow], None]], dict[str, Any]]]:
    """Walk in a window of its own on real threads, and return the numbers once nothing is computed."""

    def walk(way: Callable[[MainWindow], None]) -> dict[str, Any]:
        window = build()
        window.show()
        window.open_recipe(LARGE)
        qtbot.waitUntil(lambda: window.state.result is not None, timeout=30_000)
        way(window)

        def rests() -> bool:
            result = window.state.result
            return result.final and result.params == window.state.params

        qtbot.waitUntil(rests, timeout=60_000)
        found = numbers(window.state.result)
        window.close()
        window.deleteLater()
        return found

    yield walk


def numbers(value: Any, name: str = "result") -> dict[str, Any]:
    """Return every number in a result by where it stands."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        found = [numbers(part, f"{name}.{key}") for key, part in parts if key not in TIMES]
        return {key: part for each in found for key, part in each.items()}
    if isinstance(value, dict | list | tuple):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        found = [numbers(each, f"{name}[{at}]") for at, each in items if at not in TIMES]
        return {key: part for each in found for key, part in each.items()}
    if isinstance(value, torch.Tensor):
        value = value.numpy()
    return {name: value.tobytes() if isinstance(value, np.ndarray) else value}


def test_whatever_the_order_of_clicks(at_rest: Callable[..., dict[str, Any]]) -> None:
    expected = at_rest(straight)
    assert sum(isinstance(part, bytes) for part in expected.values()) > 10
    for way in (one_by_one, backwards, by_a_long_way):
        found = at_rest(way)
        different = [name for name in expected if found[name] != expected[name]]
        assert different == [], way.__name__


def page_results(qtbot: QtBot, titles: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Show pages one after the other in a window of their own, and return the numbers of each at rest."""
    found = {}
    with sit_down(qtbot, None) as window:
        window.opener.open_sample()
        straight_to_there = {"level": 0.1, "seed": 3, "layer": 1}
        window.state.update(**straight_to_there)
        places = {window.pages.row.tabText(place): place for place in range(window.pages.count)}
        for title in titles:
            window.pages.show_page(places[title])
            settle()
            views = window.pages.page(places[title]).findChildren(Picture)
            found[title] = {
                key: part for view in views for key, part in numbers(view.result, view.name).items()
            }
            window.state.update(level=0.3, head=1)
            settle()
            window.state.update(level=0.1, head=0)
    return found


def test_whichever_page_is_seen_first(qtbot: QtBot) -> None:
    titles = ["Overview", "Robustness", "Evidence"]
    expected, found = page_results(qtbot, titles), page_results(qtbot, titles[::-1])
    for title in titles:
        assert sum(isinstance(part, bytes | float) for part in expected[title].values()) > 10, title
        different = [name for name, part in expected[title].items() if found[title][name] != part]
        assert different == [], title


def test_the_laboratory_trains_alike_whatever_was_set_before() -> None:
    """The weights after some steps depend on the setting alone, not on what was trained before."""
    from explorer.lab.setting import Setting
    from explorer.lab.trainer import Trainer

    def trained(*before: Setting) -> dict[str, Any]:
        for setting in before:
            other = Trainer(setting)
            other.step()
        trainer = Trainer(Setting(seed=5, length=8))
        for _ in range(12):
            trainer.step()
        return numbers(trainer.snapshot())

    assert trained() == trained(Setting(seed=1), Setting(kind="linear", length=4))
