"""What was opened last, in a menu with Ctrl+1 to Ctrl+9."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from explorer.settings import settings

KEY = "recent"
MOST = 9

Entry = tuple[str, ...]


def _stored() -> list[Entry]:
    """Read the list from the preferences; what is not a list of paths is dropped."""
    try:
        value = json.loads(str(settings().value(KEY, "[]")))
    except ValueError:
        return []
    entries = value if isinstance(value, list) else []
    good = [entry for entry in entries if isinstance(entry, list) and entry]
    return [tuple(entry) for entry in good if all(isinstance(path, str) for path in entry)][:MOST]


class Recents(QObject):
    """Keeps the list and fills a menu with it.

    Attributes
    ----------
    entries : list of tuple of str
        The newest first; several files that belong together are one entry.
    menu : QMenu

    Signals
    -------
    chosen(list)
        The paths of an entry that is to be opened again.
    """

    chosen = Signal(list)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.entries = _stored()
        self.menu = QMenu("Open recent", window)
        self.menu.setToolTipsVisible(True)
        self._actions = [self._make(place) for place in range(MOST)]
        self.menu.addSeparator()
        self._clear = self.menu.addAction("Clear this list", self.clear)
        self._show()

    def _make(self, place: int) -> QAction:
        action = self.menu.addAction("", lambda: self._choose(place))
        action.setShortcut(QKeySequence(f"Ctrl+{place + 1}"))
        return action

    def add(self, paths: Sequence[str]) -> None:
        """Put what was opened on top."""
        entry = tuple(paths)
        self._set([entry, *(other for other in self.entries if other != entry)][:MOST])

    def remove(self, paths: Sequence[str]) -> None:
        """Forget what could not be opened."""
        self._set([other for other in self.entries if other != tuple(paths)])

    def clear(self) -> None:
        """Forget everything."""
        self._set([])

    def _set(self, entries: list[Entry]) -> None:
        self.entries = entries
        settings().setValue(KEY, json.dumps(entries))
        self._show()

    def _show(self) -> None:
        names = [Path(entry[0]).name for entry in self.entries]
        for place, action in enumerate(self._actions):
            there = place < len(self.entries)
            action.setVisible(there)
            action.setEnabled(there)
            entry = self.entries[place] if there else ()
            ambiguous = there and names.count(names[place]) > 1
            action.setText(_title(entry, ambiguous).replace("&", "&&") if there else f"Recent {place + 1}")
            action.setToolTip("\n".join(entry))
        self._clear.setEnabled(bool(self.entries))
        self.menu.setEnabled(bool(self.entries))

    def _choose(self, place: int) -> None:
        self.chosen.emit([Path(path) for path in self.entries[place]])


def _title(entry: Entry, ambiguous: bool) -> str:
    """Return what the menu says: the name, with its folder where another entry is called the same."""
    path = Path(entry[0])
    name = f"{path.name} in {path.parent.name}" if ambiguous else path.name
    return name if len(entry) == 1 else f"{name} and {len(entry) - 1} more"
