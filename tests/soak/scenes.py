"""What brings fields into sight that chance seldom does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtWidgets import QComboBox

from explorer.models.recipes import Recipe
from explorer.ui.window import MainWindow
from tests.soak import parts

Scene = Callable[[], object]
PATIENCE_S = 30.0
ENCODER = "a sentence encoder"


def scenes(window: MainWindow, drops: Mapping[str, Sequence[Path]]) -> dict[str, Scene]:
    """Return them by name."""

    def on_sample(**changes: object) -> Scene:
        def show() -> None:
            window.opener.open_sample()
            window.state.update(**changes)

        return show

    def undone() -> None:
        window.pages.show_page(0)
        window.state.update(seed=window.state.params.seed + 1)
        history = window.workbench.history
        assert history is not None
        history.undo()

    def at_work(page: str, control: str, drop: str) -> Scene:
        return lambda: _wait_for(window, page, control, drops[drop])

    found = {
        "evidence of a series": at_work(
            "Evidence", "QCheckBox: All checkpoints of the series", "checkpoints of a series"
        )
    }
    if ENCODER in drops:
        found["an overview at work"] = at_work("Overview", "QToolButton: Stop", ENCODER)
        found["answers at work"] = at_work("Model", "QToolButton: Cancel", ENCODER)
    return found | {
        "something undone": undone,
        "an attack": on_sample(contamination="pgd", level=0.02),
        "synthetic data": lambda: window.open_recipe(Recipe(tokens=40)),
        "a spike": lambda: window.open_recipe(Recipe(kind="spiked", tokens=40)),
        "λ and μ by hand": on_sample(lam=3.0, mu=0.5),
        "the tour": window.workbench.tour.start,
    }


def _wait_for(window: MainWindow, page: str, control: str, paths: Sequence[Path]) -> None:
    """Open `paths`, turn to a page with all its lists at their first choice, and wait for a control."""
    window.state.update(device="auto", contamination="sparse", level=0.1)
    window.opener.open_paths(paths)
    while window.opener.task.working:
        parts.watch(0.05)
    titles = [window.pages.row.tabText(i) for i in range(window.pages.count)]
    window.pages.show_page(titles.index(page))
    shown = window.pages.page(window.pages.place)
    for field in parts.Sight(shown).usable:
        if isinstance(field, QComboBox):
            field.setCurrentIndex(0)
            field.activated.emit(0)
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and control not in map(parts.named, parts.Sight(shown).usable):
        parts.watch(0.02)
