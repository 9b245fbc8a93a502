"""A hand on the mouse."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication


def click(view, at, modifiers=Qt.KeyboardModifier.NoModifier):
    """Press and release the left button at a point of the scene."""
    viewport = view.canvas.viewport()
    point = QPointF(view.canvas.mapFromScene(at))
    everywhere = viewport.mapToGlobal(point)
    for kind, held in (
        (QEvent.Type.MouseButtonPress, Qt.MouseButton.LeftButton),
        (QEvent.Type.MouseButtonRelease, Qt.MouseButton.NoButton),
    ):
        event = QMouseEvent(kind, point, everywhere, Qt.MouseButton.LeftButton, held, modifiers)
        QApplication.sendEvent(viewport, event)


def at(plot, x, y):
    """Return the point of the scene at which a plot draws (x, y)."""
    return plot.vb.mapViewToScene(QPointF(x, y))
