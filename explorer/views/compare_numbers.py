"""Every number of the pinned and of the present picture, and their differences, as a table."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from explorer.comparison import Row, rows
from explorer.result import Result
from explorer.ui.theme import AXIS_PX, font, hairline_pen, scheme
from explorer.views.base import Table
from explorer.views.compare_base import CompareView
from explorer.views.words import figure

TALLEST = 20.0
TYPE = 0.85
"""Height of the type in a row, at most, so that rows keep apart."""
HEADS = ("", "pinned", "present", "difference")
NAMES = 0.43
"""Share of the width for the names."""


class _Table(pg.GraphicsWidget):
    """Rows of a name and three numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Row] = []

    def show_rows(self, shown: list[Row]) -> None:
        """Draw these."""
        self.rows = shown
        self.update()

    @property
    def line(self) -> float:
        """Height of a row in pixels."""
        return min(TALLEST, self.height() / (len(self.rows) + 1))

    @property
    def type_px(self) -> int:
        """Height of the type in pixels."""
        return max(1, min(AXIS_PX, math.floor(TYPE * self.line)))

    def boundingRect(self) -> QRectF:
        """Return the item's own rectangle."""
        return QRectF(0, 0, self.width(), self.height())

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw the heads, a hairline, and the rows."""
        painter.setFont(font(self.type_px))
        self._draw(painter, 0.0, HEADS, scheme().secondary)
        painter.setPen(hairline_pen())
        painter.drawLine(QPointF(0, self.line), QPointF(self.width(), self.line))
        for i, row in enumerate(self.rows, start=1):
            self._draw(painter, i * self.line, _cells(row), scheme().text)

    def _draw(self, painter: QPainter, top: float, cells: tuple[str, ...], colour: str) -> None:
        painter.setPen(QColor(colour))
        middle = Qt.AlignmentFlag.AlignVCenter
        name = NAMES * self.width()
        painter.drawText(QRectF(0, top, name, self.line), Qt.AlignmentFlag.AlignLeft | middle, cells[0])
        width = (self.width() - name) / 3
        for i, text in enumerate(cells[1:]):
            box = QRectF(name + i * width, top, width - 4, self.line)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | middle, text)


def _cells(row: Row) -> tuple[str, ...]:
    """Return a row as words: counts as they are, measured numbers with three digits each."""
    values = (row.pinned, row.present, row.difference)
    counts = all(value == round(value) for value in values if math.isfinite(value))
    return (row.name, *(figure(value, zeros=not counts) for value in values))


class CompareNumbers(CompareView):
    """A table; the difference is the present less the pinned number."""

    name = "compare-numbers"
    title = "Numbers of both"
    help = (
        "Each number that stands for a whole picture, pinned and present, and the present less the pinned. "
        "Errors are relative to the norm of the clean output; a dash stands where a head does not allow the "
        "number. Sources: Teo and Nguyen, arXiv 2406.13762; Sarıtaş and Yıldız, arXiv 2505.07908."
    )

    def build(self) -> None:
        """Make the items, once."""
        self.lines = _Table()
        self.canvas.addItem(self.lines, 0, 0)

    def recolour(self) -> None:
        """Take the colours of the scheme again."""
        self.lines.update()

    def draw(self, result: Result) -> None:
        """Put both pictures' numbers into the table."""
        self.lines.show_rows(rows(self.reference.result, result))
        said = ", ".join(f"{row.name} {figure(row.difference)}" for row in self.lines.rows[:3])
        self.setAccessibleDescription(f"Present less pinned: {said}")

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Mark nothing: no token is shown."""

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return nothing: no token is shown."""
        return []

    def reading_at(self, at: QPointF) -> str:
        """Return the row under the pointer with all digits that count."""
        i = int(self.lines.mapFromScene(at).y() // max(self.lines.line, 1.0)) - 1
        if not 0 <= i < len(self.lines.rows):
            return ""
        row = self.lines.rows[i]
        return f"{row.name}: pinned {figure(row.pinned, 5)}, present {figure(row.present, 5)}"

    def numbers(self, result: Result) -> Table:
        """Return the table."""
        shown = rows(self.reference.result, result)
        return ["number", "pinned", "present", "present - pinned"], [
            [row.name for row in shown],
            np.array([row.pinned for row in shown]),
            np.array([row.present for row in shown]),
            np.array([row.difference for row in shown]),
        ]
