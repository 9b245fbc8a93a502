"""A hand on the mouse."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
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


def drag(view, points, modifiers=Qt.KeyboardModifier.NoModifier):
    """Press the left button at the first point of the scene, move over all, and release at the last."""
    viewport, none, left = view.canvas.viewport(), Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton
    _send(viewport, view, QEvent.Type.MouseButtonPress, points[0], left, left, modifiers)
    for point in points:
        QTest.qWait(12)  # pyqtgraph leaves out moves that follow each other faster
        _send(viewport, view, QEvent.Type.MouseMove, point, none, left, modifiers)
    _send(viewport, view, QEvent.Type.MouseButtonRelease, points[-1], left, none, modifiers)


def _send(viewport, view, kind, at, button, held, modifiers):
    point = QPointF(view.canvas.mapFromScene(at))
    event = QMouseEvent(kind, point, viewport.mapToGlobal(point), button, held, modifiers)
    QApplication.sendEvent(viewport, event)
