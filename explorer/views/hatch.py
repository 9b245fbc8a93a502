"""The hatch where there is no number, as lines: equally dense on every screen and in every file."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsRectItem

from explorer.ui.theme import pen, scheme, theme

SPACING = 6.0


class Hatch(QGraphicsRectItem):
    """A rectangle filled with diagonal lines, however its coordinates are stretched."""

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw the lines in the device's pixels, cut at the rectangle: no clip or pattern is needed."""
        box = painter.transform().mapRect(self.rect())
        painter.save()
        painter.resetTransform()
        painter.setPen(pen(scheme().missing, 0.75))
        painter.drawLines(list(diagonals(box, SPACING * theme().stretch)))
        painter.restore()


def diagonals(box: QRectF, spacing: float) -> Iterator[QLineF]:
    """Yield the rising diagonals of `box`, `spacing` apart along its sides and in step with all others."""
    first = -(-(box.left() + box.top()) // spacing) * spacing
    total = first
    while total <= box.right() + box.bottom():
        left, right = max(box.left(), total - box.bottom()), min(box.right(), total - box.top())
        yield QLineF(left, total - left, right, total - right)
        total += spacing
