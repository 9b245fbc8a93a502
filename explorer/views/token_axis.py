"""An axis that names tokens and marks the selected and the contaminated ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPolygonF

from explorer.ui.theme import AXIS_PX, accent_pen, font, pen, scheme

LINE = 13
LONGEST = 64
MARKS = 9
NAME = 15
STRIDES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


class TokenAxis(pg.AxisItem):
    """Token i lies at i + `middle`; labels are thinned to what is readable, the selected ones stay.

    Parameters
    ----------
    orientation : str
        "left" or "bottom".
    middle : float
        0.5 where a token is a cell, 0 where it is a point.
    name : str
        What the axis is called; empty: nothing.
    """

    def __init__(self, orientation: str, middle: float = 0.5, name: str = "") -> None:
        super().__init__(orientation)
        self.setStyle(hideOverlappingLabels=False)
        self.middle = middle
        self.labels: list[str] = []
        self.selected = np.empty(0, np.int64)
        self.contaminated = np.empty(0, np.int64)
        self._metrics = QFontMetricsF(font(AXIS_PX))
        self._longest = 0.0
        self.set_name(name)
        self._reserve()

    def set_name(self, name: str) -> None:
        """Call the axis something else."""
        if name != self.labelText:
            self.setLabel(name)
            self._reserve()

    def set_tokens(self, labels: Sequence[str]) -> None:
        """Name the tokens."""
        if list(labels) == self.labels:
            return
        self.labels = list(labels)
        self._longest = _longest(tuple(labels))
        self._reserve()
        self._redraw()

    def set_contaminated(self, rows: NDArray[np.int64]) -> None:
        """Mark the contaminated tokens with a hollow triangle each."""
        if not np.array_equal(rows, self.contaminated):
            self.contaminated = rows
            self._redraw()

    def set_selected(self, rows: NDArray[np.int64]) -> None:
        """Mark the selected tokens with a bar in the accent."""
        if not np.array_equal(rows, self.selected):
            self.selected = rows
            self._redraw()

    def shown(self) -> list[int]:
        """Return the tokens that have a label at the present size: every n-th, and the selected ones."""
        low, high, per_token = self._visible()
        if per_token <= 0:
            return []
        room = LINE if self._upright() else self._longest + 6
        stride = next((s for s in STRIDES if s * per_token >= room), STRIDES[-1])
        chosen = [row for row in self.selected.tolist() if low <= row + self.middle <= high]
        chosen = _apart(chosen, room / per_token)
        first = int(np.ceil((low - self.middle) / stride)) * stride
        for row in range(max(0, first), len(self.labels), stride):
            if row + self.middle > high:
                break
            if all(abs(row - other) * per_token >= room for other in chosen if other != row):
                chosen.append(row)
        return sorted(set(chosen))

    def _upright(self) -> bool:
        """Whether labels stand one line apart: on the left always, below where long ones are turned."""
        return self.orientation == "left" or self._longest > 24

    def _visible(self) -> tuple[float, float, float]:
        low, high = sorted(self.range)
        length = self.height() if self.orientation == "left" else self.width()
        return low, high, length / (high - low) if high > low else 0.0

    def _reserve(self) -> None:
        text = min(self._longest, LONGEST) if self._upright() else LINE
        room = MARKS + 4 + text + (NAME if self.labelText else 0)
        self.setWidth(room) if self.orientation == "left" else self.setHeight(room)

    def _redraw(self) -> None:
        self.picture = None
        self.update()

    def generateDrawSpecs(self, painter: QPainter) -> tuple[Any, ...] | None:
        """Return where the axis line, the marks and the labels go."""
        bounds = self.mapRectFromParent(self.geometry())
        _, _, per_token = self._visible()
        if bounds.isEmpty() or per_token <= 0:
            return None
        return bounds, per_token, self.shown()

    def drawPicture(self, painter: QPainter, bounds: QRectF, per_token: float, shown: list[int]) -> None:
        """Draw the axis line, the marks and the labels."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(self.boundingRect())
        painter.setPen(self.pen())
        left = self.orientation == "left"
        start = bounds.topRight() if left else bounds.topLeft()
        painter.drawLine(start, bounds.bottomRight() if left else bounds.topRight())
        self._draw_contaminated(painter, bounds, per_token)
        self._draw_selected(painter, bounds, per_token)
        painter.setFont(font(AXIS_PX))
        chosen = set(self.selected.tolist())
        for row in shown:
            painter.setPen(QColor(scheme().accent) if row in chosen else self.textPen())
            self._draw_label(painter, bounds, row)

    def place(self, row: float, bounds: QRectF) -> float:
        """Return where along the axis, in its own pixels, the middle of a token lies."""
        low, high = self.range
        share = (row + self.middle - low) / (high - low)
        if self.orientation == "left":
            return bounds.bottom() - share * bounds.height()
        return bounds.left() + share * bounds.width()

    def _draw_contaminated(self, painter: QPainter, bounds: QRectF, per_token: float) -> None:
        """Draw a hollow triangle a token, or a stroke where triangles would run into each other."""
        half = min(per_token / 2 - 0.5, 3.5) if per_token >= 5 else 0.0
        painter.setPen(pen(scheme().text, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        places = np.unique(np.round([self.place(row, bounds) for row in self.contaminated.tolist()], 1))
        for at in places.tolist():
            if self.orientation == "left":
                x = bounds.right() - 2
                corners = QPointF(x, at), QPointF(x - 6, at - half), QPointF(x - 6, at + half)
            else:
                y = bounds.top() + 2
                corners = QPointF(at, y), QPointF(at - half, y + 6), QPointF(at + half, y + 6)
            painter.drawPolygon(QPolygonF(corners))

    def _draw_selected(self, painter: QPainter, bounds: QRectF, per_token: float) -> None:
        half = max(per_token / 2, 1.5)
        line = accent_pen()
        line.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(line)
        for row in self.selected.tolist():
            at = self.place(row, bounds)
            if self.orientation == "left":
                x = bounds.right() - 1
                painter.drawLine(QPointF(x, at - half), QPointF(x, at + half))
            else:
                y = bounds.top() + 1
                painter.drawLine(QPointF(at - half, y), QPointF(at + half, y))

    def _draw_label(self, painter: QPainter, bounds: QRectF, row: int) -> None:
        at = self.place(row, bounds)
        text = self._metrics.elidedText(self.labels[row], Qt.TextElideMode.ElideRight, LONGEST)
        middle, right = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignRight
        if self.orientation == "left":
            edge = bounds.right() - MARKS - 2
            painter.drawText(
                QRectF(edge - LONGEST - 8, at - LINE / 2, LONGEST + 8, LINE), right | middle, text
            )
        elif self._upright():
            painter.save()
            painter.translate(at, bounds.top() + MARKS + 2)
            painter.rotate(-90)
            painter.drawText(QRectF(-LONGEST - 8, -LINE / 2, LONGEST + 8, LINE), right | middle, text)
            painter.restore()
        else:
            centre = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
            painter.drawText(QRectF(at - 20, bounds.top() + MARKS, 40, LINE), centre, text)


def _apart(rows: list[int], least: float) -> list[int]:
    """Return `rows` without those nearer than `least` to the one kept before."""
    kept: list[int] = []
    for row in sorted(rows):
        if not kept or row - kept[-1] >= least:
            kept.append(row)
    return kept


@lru_cache(maxsize=2)
def _longest(labels: tuple[str, ...]) -> float:
    """Return the width of the widest label, measured once for all the axes that have the same."""
    advance = QFontMetricsF(font(AXIS_PX)).horizontalAdvance
    return max(map(advance, set(labels)), default=0.0)
