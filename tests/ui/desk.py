"""A window to work at, for tests that act as a person does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.models.recipes import Recipe
from explorer.ui.window import MainWindow

CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
SMALL = Recipe(tokens=24, dim=8, components=3)


def settle() -> None:
    for _ in range(6):
        QApplication.processEvents()


@contextmanager
def sit_down(qtbot: QtBot, recipe: Recipe | None = SMALL) -> Iterator[MainWindow]:
    """Open a window that computes at once, on a small synthetic head; None: with nothing open."""
    window = build(inline=True)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    if recipe is not None:
        window.open_recipe(recipe)
    settle()
    try:
        yield window
    finally:
        window.close()
        settle()
        shiboken6.delete(window)


def press(qtbot: QtBot, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Press a key where the keyboard is."""
    target = QApplication.focusWidget() or QApplication.activeWindow()
    assert target is not None, "the keyboard belongs to no window"
    qtbot.keyClick(target, key, modifiers)
    settle()


def sentences(window: MainWindow) -> list[str]:
    settle()
    return [bar.message.sentence for bar in window.messages.bars]
