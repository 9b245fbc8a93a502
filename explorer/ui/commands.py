"""Everything that the menus can do, as a list; and how well words match it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QMenuBar

SEPARATOR = " › "


@dataclass(frozen=True, eq=False)
class Command:
    """One action with where it stands.

    Attributes
    ----------
    path : str
        The menus that lead to it, and its text: "View › Appearance › Dark".
    action : QAction
    """

    path: str
    action: QAction

    @property
    def menu(self) -> str:
        """The menu in the bar under which it stands; empty: none."""
        return self.path.partition(SEPARATOR)[0] if SEPARATOR in self.path else ""

    @property
    def name(self) -> str:
        """Its own text."""
        return self.path.rpartition(SEPARATOR)[2]

    @property
    def keys(self) -> str:
        """Its shortcuts as this platform writes them."""
        native = QKeySequence.SequenceFormat.NativeText
        return ", ".join(keys.toString(native) for keys in self.action.shortcuts())


def commands(window: QMainWindow) -> list[Command]:
    """Return the actions of a window: those of its menus in their order, then those of its own."""
    found = list(_under(window.menuBar(), ""))
    known = {id(command.action) for command in found}
    own = (action for action in window.actions() if id(action) not in known and action.text())
    return found + [Command(_plain(action.text()), action) for action in own]


def _under(menu: QMenu | QMenuBar, before: str) -> Iterator[Command]:
    for action in menu.actions():
        path = before + _plain(action.text())
        inner = QMenu.menuInAction(
            action
        )  # action.menu() would hand the action over to Python, which ends it
        if inner is not None:
            yield from _under(inner, path + SEPARATOR)
        elif not action.isSeparator():
            yield Command(path, action)


def _plain(text: str) -> str:
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


def match(query: str, text: str) -> float:
    """Return how well every word of `query` fits `text`; 0 where one does not fit at all.

    Best is a word's beginning, then the initials of several words, then anything inside, then the letters
    in order with others between.
    """
    text = text.casefold()
    scores = [_match(word, text) for word in query.casefold().split()]
    return min(scores, default=1.0) and sum(scores, 1.0)


def _match(word: str, text: str) -> float:
    at = text.find(word)
    if at >= 0:
        begins = at == 0 or not text[at - 1].isalnum()
        return 4.0 if begins else 2.0
    initials = "".join(part[0] for part in text.replace("›", " ").split())
    if word in initials:
        return 3.0
    place = -1
    for letter in word:
        place = text.find(letter, place + 1)
        if place < 0:
            return 0.0
    first = text.find(word[0])
    return len(word) / (place - first + 1)
