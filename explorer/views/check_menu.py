"""A button that opens a list of things to tick."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton


class CheckMenu(QToolButton):
    """Chooses some of a list.

    Parameters
    ----------
    text, tip : str
    most : int or None
        How many may be ticked; one more unticks the one ticked first.

    Signals
    -------
    changed()
        A person ticked or unticked something.
    """

    changed = Signal()

    def __init__(self, text: str, tip: str, most: int | None = None) -> None:
        super().__init__()
        self._most = most
        self._order: list[int] = [0]
        self.setText(text)
        self.setToolTip(tip)
        self.setAccessibleName(tip)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self.setMenu(self._menu)
        self.entries: list[QAction] = []

    def offer(self, names: Sequence[str]) -> None:
        """Offer these; what was ticked stays so by its place in the list."""
        if list(names) == [entry.text() for entry in self.entries]:
            return
        self._menu.clear()
        self.entries = [self._menu.addAction(name) for name in names]
        for i, entry in enumerate(self.entries):
            entry.setCheckable(True)
            entry.triggered.connect(lambda on, i=i: self._tick(i, on))
        self._show()

    def chosen(self) -> list[int]:
        """Return the places of what is ticked and on offer, ascending."""
        return sorted(i for i in self._order if i < len(self.entries))

    def choose(self, places: Iterable[int]) -> None:
        """Tick exactly these."""
        self._order = list(dict.fromkeys(i for i in places if isinstance(i, int) and i >= 0))
        self._cut()

    def _tick(self, place: int, on: bool) -> None:
        self._order = [i for i in self._order if i != place] + [place] * on
        self._cut()
        self.changed.emit()

    def _cut(self) -> None:
        if self._most is not None:
            self._order = self._order[-self._most :]
        self._show()

    def _show(self) -> None:
        for i, entry in enumerate(self.entries):
            entry.setChecked(i in self._order)
