"""Where a view draws: a graphics layout with a small label that follows the pointer."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel

from explorer.ui.theme import AXIS_PX, GRID, font, scheme


class Canvas(pg.GraphicsLayoutWidget):
    """A graphics layout in the scheme's background.

    Attributes
    ----------
    said_at : QPointF
        The point of the scene that the label is about.

    Signals
    -------
    left()
        The pointer went away.
    """

    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.ci.layout.setContentsMargins(2 * GRID, GRID // 2, GRID, GRID)
        self.ci.layout.setSpacing(GRID // 2)
        self.reading = QLabel(self)
        self.reading.setFont(font(AXIS_PX))
        self.reading.setMargin(4)
        self.reading.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.retheme()
        self.say("", QPointF())

    def retheme(self) -> None:
        """Take the colours again."""
        colours = scheme()
        self.setBackground(colours.background)
        self.reading.setStyleSheet(
            f"background: {colours.raised}; color: {colours.text}; border: 1px solid {colours.hairline};"
        )

    def say(self, text: str, at: QPointF) -> None:
        """Show `text` beside the point `at` of the scene, inside the canvas; an empty one hides the label."""
        self.said_at = at
        self.reading.setVisible(bool(text))
        if not text:
            return
        self.reading.setText(text)
        self.reading.adjustSize()
        point = self.mapFromScene(at)
        x = min(point.x() + 2 * GRID, self.width() - self.reading.width())
        below = point.y() + 2 * GRID
        fits = below + self.reading.height() <= self.height()
        y = below if fits else point.y() - GRID - self.reading.height()
        self.reading.move(max(0, x), max(0, y))

    def leaveEvent(self, event: QEvent) -> None:
        """Tell that the pointer went away."""
        self.left.emit()
        super().leaveEvent(event)
