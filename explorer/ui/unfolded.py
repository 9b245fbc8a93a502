"""Details of a message, which unfold over the page, so that no panel is squeezed to make room."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

INDENT, TALLEST, BELOW = 16, 240, 16
"""Pixels: to the left and right, the height at most, and what stays free at the window's lower edge."""
MOVES = (QEvent.Type.Move, QEvent.Type.Resize)


class Unfolded(QPlainTextEdit):
    """Text that lies under its owner, over what else is there; it goes with its owner.

    Parameters
    ----------
    owner : QWidget
        What it tells more of.

    Signals
    -------
    left()
        By Escape, or as the owner was scrolled out of sight.
    """

    left = Signal()

    def __init__(self, text: str, owner: QWidget) -> None:
        super().__init__(text, owner)
        self._owner = owner
        self.setReadOnly(True)
        self.setProperty("role", "unfolded")
        self.setAccessibleName("Details")
        self.hide()
        owner.destroyed.connect(self.deleteLater)

    def unfold(self, on: bool) -> None:
        """Come up over the window of the owner, or go away."""
        window = self._owner.window()
        if on and self.parentWidget() is not window:
            self.setParent(window)
            for watched in (self._owner, self._owner.parentWidget(), window):
                if watched is not None:
                    watched.installEventFilter(self)
        self._place()
        self.setVisible(on)
        self.raise_()
        if on:
            self.setFocus()

    def event(self, event: QEvent) -> bool:
        """Leave at Escape, which would else reach the window's own actions."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.KeyPress:
                self.left.emit()
            event.accept()
            return True
        return super().event(event)

    def _place(self) -> None:
        window = self._owner.window()
        corner = self._owner.mapTo(window, QPoint(INDENT, self._owner.height()))
        lines = (self.document().blockCount() + 2) * self.fontMetrics().lineSpacing()
        high = min(TALLEST, lines, window.height() - corner.y() - BELOW)
        self.setGeometry(corner.x(), corner.y(), self._owner.width() - 2 * INDENT, high)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay under the owner."""
        if event.type() in MOVES and self.isVisible():
            self._place()
            if self._owner.visibleRegion().isEmpty():
                self.left.emit()
        elif event.type() == QEvent.Type.Hide and watched is self._owner:
            self.hide()
        return super().eventFilter(watched, event)
