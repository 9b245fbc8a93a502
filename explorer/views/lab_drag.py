"""Takes drags over a plot, in its coordinates."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QPainter

from explorer.views.plot import Plot


class Drag(pg.GraphicsObject):
    """An invisible sheet over a plot.

    Attributes
    ----------
    held : bool
        Whether a drag is under way: what is drawn must not move the plot then.

    Signals
    -------
    grabbed()
    moved(QPointF, QPointF, QPointF)
        Where the button went down, where the pointer was before, and where it is.
    released()
    """

    grabbed = Signal()
    moved = Signal(QPointF, QPointF, QPointF)
    released = Signal()

    def __init__(self, plot: Plot, cursor: Qt.CursorShape) -> None:
        super().__init__()
        self._plot = plot
        self.held = False
        self.setZValue(100)
        self.setCursor(cursor)
        plot.addItem(self, ignoreBounds=True)

    def boundingRect(self) -> QRectF:
        """Return all that the plot shows."""
        return QRectF(self._plot.vb.viewRect())

    def viewRangeChanged(self) -> None:
        """Cover the new range."""
        self.prepareGeometryChange()

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw nothing."""

    def mouseDragEvent(self, event: Any) -> None:
        """Pass a drag with the left button on."""
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        event.accept()
        if event.isStart():
            self.held = True
            self.grabbed.emit()
        self.moved.emit(event.buttonDownPos(), event.lastPos(), event.pos())
        if event.isFinish():
            self.held = False
            self.released.emit()
