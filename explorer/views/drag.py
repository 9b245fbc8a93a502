"""Drags that mean something else than moving the picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal

EXTEND = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier


@dataclass(frozen=True)
class Drag:
    """Where a drag with the left button stands.

    Attributes
    ----------
    start, last, at : QPointF
        Where the button went down, where the pointer was before and where it is, in the scene.
    begins, ends : bool
    extend : bool
        Whether shift or control is held.
    """

    start: QPointF
    last: QPointF
    at: QPointF
    begins: bool
    ends: bool
    extend: bool

    @classmethod
    def of(cls, event: Any) -> Drag:
        """Read pyqtgraph's event."""
        return cls(
            event.buttonDownScenePos(), event.lastScenePos(), event.scenePos(),
            event.isStart(), event.isFinish(), bool(event.modifiers() & EXTEND),
        )  # fmt: skip


class DragBox(pg.ViewBox):
    """A view box that hands a drag over where `takes` says so.

    Attributes
    ----------
    takes : callable
        Whether a drag with these modifiers is to be handed over; the others move the picture.

    Signals
    -------
    dragged(Drag)
    """

    dragged = Signal(object)

    def __init__(self) -> None:
        super().__init__(enableMenu=False)
        self.takes: Callable[[Qt.KeyboardModifier], bool] = lambda modifiers: False
        self._taken = False

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        """Hand a drag over from its beginning to its end, or move the picture."""
        if event.isStart():
            left = event.button() == Qt.MouseButton.LeftButton
            self._taken = left and axis is None and self.takes(event.modifiers())
        if not self._taken:
            super().mouseDragEvent(event, axis)
            return
        event.accept()
        self.dragged.emit(Drag.of(event))
