"""Tokens as running text, each on the colour of its number; long texts scroll."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPolygonF
from PySide6.QtWidgets import QGraphicsSceneResizeEvent, QGraphicsSceneWheelEvent

from explorer.ui.theme import AXIS_PX, BODY_PX, accent_pen, font, pen, scheme
from explorer.views.drag import Drag
from explorer.views.hatch import SPACING, diagonals

LINE, TALL, PAD, GAP, BAR = 26, 18, 2, 5, 8
DARK_INK, LIGHT_INK = "#000000", "#FFFFFF"


@dataclass(frozen=True)
class Piece:
    """One token to write.

    Attributes
    ----------
    text : str
    quiet : bool
        Special tokens, which are no part of the text.
    joins : bool
        Whether it continues the word before it.
    """

    text: str
    quiet: bool = False
    joins: bool = False


class TokenText(pg.GraphicsWidget):
    """Words flow from left to right; the pieces of one word touch and stay on one line.

    Attributes
    ----------
    current : int
        The token that the keyboard is at; −1: none.
    first_line : int
        The line on top.

    Signals
    -------
    dragged(Drag)
    """

    dragged = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._metrics = QFontMetricsF(font(BODY_PX))
        self._pieces: tuple[Piece, ...] = ()
        self._even = False
        self._x = self._width = np.empty(0)
        self._line = np.empty(0, np.intp)
        self._flowed: tuple[object, ...] = ()
        self._fills: Sequence[QColor | None] = ()
        self._marks: NDArray[np.bool_] = np.empty(0, bool)
        self._selected: frozenset[int] = frozenset()
        self._notes: Mapping[int, str] = {}
        self.current, self.first_line = -1, 0

    # What it shows.

    def set_pieces(self, pieces: Sequence[Piece], even: bool = False) -> None:
        """Write these; `even`: in cells of equal width, for tokens that are no text."""
        if (tuple(pieces), even) != (self._pieces, self._even):
            self._pieces, self._even = tuple(pieces), even
            self.first_line, self.current = 0, -1
        self._flow()

    def set_colours(self, fills: Sequence[QColor | None]) -> None:
        """Put a colour behind each token; None: no number, hatched; empty: no colours."""
        self._fills = fills
        self.update()

    def set_marks(self, contaminated: NDArray[np.bool_], notes: Mapping[int, str]) -> None:
        """Mark contaminated tokens with a hollow triangle, and underline those that have a note."""
        self._marks, self._notes = contaminated, notes
        self.update()

    def set_selected(self, rows: NDArray[np.int64]) -> None:
        """Outline the selected tokens."""
        self._selected = frozenset(rows.tolist())
        self.update()

    def go_to(self, row: int) -> None:
        """Make `row` the current token, and visible."""
        self.current = row
        self.reveal(row)
        self.update()

    def shows(self, rows: NDArray[np.int64]) -> bool:
        """Return whether any of these tokens is in view."""
        lines = self._line[rows] - self.first_line
        return bool(((lines >= 0) & (lines < self.visible_lines)).any())

    def reveal(self, row: int) -> None:
        """Scroll as little as brings a token into view."""
        line = int(self._line[row])
        self.scroll_to(min(max(self.first_line, line - self.visible_lines + 1), line))

    def scroll_to(self, line: int) -> None:
        """Put a line on top, as far as there are lines."""
        line = min(max(0, line), max(0, self.lines - self.visible_lines))
        if line != self.first_line:
            self.first_line = line
            self.update()

    # Where things are.

    @property
    def lines(self) -> int:
        """How many lines the text takes."""
        return int(self._line[-1]) + 1 if len(self._line) else 0

    @property
    def visible_lines(self) -> int:
        """How many whole lines fit."""
        return max(1, int(self.height() // LINE))

    def rect_of(self, row: int) -> QRectF:
        """Return where a token is written, in the item's coordinates."""
        top = (int(self._line[row]) - self.first_line) * LINE + (LINE - TALL) / 2
        return QRectF(self._x[row], top, self._width[row], TALL)

    def row_at(self, at: QPointF) -> int:
        """Return the token at a point of the item; −1 where none is."""
        row = self.row_near(at)
        inside = row >= 0 and self.rect().contains(at) and self.rect_of(row).contains(at)
        return row if inside else -1

    def row_near(self, at: QPointF) -> int:
        """Return the last token that begins before a point, on its line; −1 where there are no tokens."""
        if not len(self._line):
            return -1
        line = min(max(0, int(at.y() // LINE) + self.first_line), self.lines - 1)
        first, last = np.searchsorted(self._line, [line, line + 1])
        return int(max(first, first + np.searchsorted(self._x[first:last], at.x(), side="right") - 1))

    def above_or_below(self, row: int, lines: int) -> int:
        """Return the token so many lines further down (or up), under the middle of `row`."""
        line = int(self._line[row]) + lines
        if not 0 <= line < self.lines:
            return row
        y = (line - self.first_line + 0.5) * LINE
        return self.row_near(QPointF(self.rect_of(row).center().x(), y))

    def _flow(self) -> None:
        room = self.width() - BAR
        flowed = (self._pieces, self._even, room)
        if flowed == self._flowed:
            return
        self._flowed = flowed
        widths = self._widths(max(room, 24.0))
        self._x, self._line, self._width = np.empty(len(widths)), np.empty(len(widths), np.intp), widths
        x, line = 0.0, 0
        for begin, end in self._words():
            taken = float(widths[begin:end].sum())
            if x and x + taken > room:
                x, line = 0.0, line + 1
            for row in range(begin, end):
                if x and x + widths[row] > room:
                    x, line = 0.0, line + 1
                self._x[row], self._line[row] = x, line
                x += widths[row]
            x += GAP
        self.scroll_to(self.first_line)
        self.update()

    def _widths(self, room: float) -> NDArray[np.float64]:
        advance = {text: self._metrics.horizontalAdvance(text) for text in {p.text for p in self._pieces}}
        widths = np.array([advance[piece.text] + 2 * PAD for piece in self._pieces], float)
        if self._even and len(widths):
            widths[:] = max(widths.max(), 2.0 * TALL)
        return np.minimum(widths, room)

    def _words(self) -> list[tuple[int, int]]:
        starts = [row for row, piece in enumerate(self._pieces) if not row or not piece.joins]
        return list(itertools.pairwise([*starts, len(self._pieces)]))

    def resizeEvent(self, event: QGraphicsSceneResizeEvent) -> None:
        """Flow again."""
        super().resizeEvent(event)
        self._flow()

    def boundingRect(self) -> QRectF:
        """Return the item's own rectangle."""
        return QRectF(0, 0, self.width(), self.height())

    # The hand.

    def wheelEvent(self, event: QGraphicsSceneWheelEvent) -> None:
        """Scroll by three lines a notch."""
        before = self.first_line
        self.scroll_to(before - round(3 * event.delta() / 120))
        event.setAccepted(self.first_line != before)

    def mouseDragEvent(self, event: Any) -> None:
        """Tell of a drag with the left button."""
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        event.accept()
        self.dragged.emit(Drag.of(event))

    # The picture.

    def paint(self, painter: QPainter, *_: object) -> None:
        """Write the lines that fit."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        last_line = self.first_line + self.visible_lines
        first, last = np.searchsorted(self._line, [self.first_line, last_line])
        for row in range(first, last):
            self._write(painter, row, self.rect_of(row))
        for row in sorted(self._selected):
            if first <= row < last:
                self._outline(painter, self.rect_of(row))
        if first <= self.current < last and self._has_keyboard():
            painter.setPen(pen(scheme().text, 1, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect_of(self.current).adjusted(-1.5, -1.5, 1.5, 1.5))
        self._scroll_bar(painter)

    def _has_keyboard(self) -> bool:
        widget = self.getViewWidget()
        return widget is not None and widget.hasFocus()

    def _write(self, painter: QPainter, row: int, rect: QRectF) -> None:
        piece = self._pieces[row]
        fill = self._fills[row] if len(self._fills) else None
        cell = rect.adjusted(0.5 if piece.joins or self._even else 0, 0, 0, 0)
        if fill is not None:
            painter.fillRect(cell, fill)
        elif len(self._fills):
            painter.setPen(pen(scheme().missing, 0.75))
            painter.drawLines(list(diagonals(cell, SPACING)))
        painter.setFont(font(AXIS_PX if piece.quiet else BODY_PX))
        painter.setPen(QColor(ink(fill) if fill is not None else self._colour(piece)))
        text = piece.text
        if self._metrics.horizontalAdvance(text) > rect.width():
            text = self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width() - 2 * PAD)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
        if row in self._notes:
            painter.setPen(pen(scheme().text, 1.5))
            painter.drawLine(rect.bottomLeft() + QPointF(1, 2), rect.bottomRight() + QPointF(-1, 2))
        if row < len(self._marks) and self._marks[row]:
            self._triangle(painter, rect.topLeft() + QPointF(3, -1))

    @staticmethod
    def _colour(piece: Piece) -> str:
        return scheme().secondary if piece.quiet else scheme().text

    @staticmethod
    def _triangle(painter: QPainter, at: QPointF) -> None:
        painter.setPen(pen(scheme().text, 1))
        painter.setBrush(QColor(scheme().background))
        corners = [at + QPointF(0, -1), at + QPointF(3.5, 5), at + QPointF(-3.5, 5)]
        painter.drawPolygon(QPolygonF(corners))

    @staticmethod
    def _outline(painter: QPainter, rect: QRectF) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(scheme().background, 4))
        painter.drawRect(rect)
        painter.setPen(accent_pen())
        painter.drawRect(rect)

    def _scroll_bar(self, painter: QPainter) -> None:
        if self.lines <= self.visible_lines:
            return
        height = self.visible_lines * LINE
        length = max(16.0, height * self.visible_lines / self.lines)
        top = (height - length) * self.first_line / (self.lines - self.visible_lines)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(scheme().secondary))
        painter.drawRoundedRect(QRectF(self.width() - 4, top, 4, length), 2, 2)


def ink(fill: QColor) -> str:
    """Return the colour of text with the higher contrast on `fill`."""
    parts = np.array([fill.redF(), fill.greenF(), fill.blueF()])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return DARK_INK if float(linear @ np.array([0.2126, 0.7152, 0.0722])) > 0.179 else LIGHT_INK
