"""The cells of an overview: a colour and a figure a head, or its small attention map."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter

from explorer.ui.theme import AXIS_PX, accent_pen, font, hairline_pen, pen, scheme, text_pen
from explorer.views.hatch import SPACING, diagonals
from explorer.views.overview_order import Cell
from explorer.views.token_text import LIGHT_INK, ink
from explorer.views.words import figure

ASIDE, ABOVE = 44.0, 34.0
"""Pixels for the layers' and the heads' numbers, with their names."""
GAP = 2.0
LINE = 14.0
FIGURES = 36.0
"""Cells at least this wide carry their number."""
VEIL = QColor(0, 0, 0, 160)
"""Under a name that stands on a map, so that it can be read on every colour."""
Numbers = NDArray[np.float32]


class Cells(pg.GraphicsWidget):
    """Draws cells in rows and columns; the present head has a ring, the keyboard's place a dashed one.

    Attributes
    ----------
    cells : list of Cell
    here, cursor : (int, int) or None
        Layer and head of the two rings.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[Cell] = []
        self.here: tuple[int, int] | None = None
        self.cursor: tuple[int, int] | None = None
        self._rows: Sequence[int] = ()
        self._columns: Sequence[int] = ()
        self._levels = (0.0, 1.0)
        self._colours: NDArray[np.uint8] = np.zeros((256, 3), np.uint8)
        self._thumbs: dict[tuple[int, int], QImage] = {}
        self._size = (1, 1)
        self.setMinimumSize(120, 80)

    def show_cells(
        self,
        cells: list[Cell],
        rows: Sequence[int],
        columns: Sequence[int],
        levels: tuple[float, float],
        colours: pg.ColorMap,
    ) -> None:
        """Draw these.

        Parameters
        ----------
        rows, columns : sequences of int
            True numbers at the axes; empty: each cell names itself.
        """
        self.cells, self._rows, self._columns, self._levels = cells, rows, columns, levels
        self._colours = colours.getLookupTable(nPts=256, alpha=False)
        down = len(rows) or 1 + max((cell.row for cell in cells), default=0)
        over = len(columns) or 1 + max((cell.column for cell in cells), default=0)
        self._size = (down, over)
        self.update()

    def show_maps(self, maps: dict[tuple[int, int], Numbers], colours: pg.ColorMap) -> None:
        """Draw these small maps, by layer and head, in place of colours; none: the colours again."""
        table = colours.getLookupTable(nPts=256, alpha=False)
        self._thumbs = {place: _image(values, table) for place, values in maps.items()}
        self.update()

    @property
    def room(self) -> QRectF:
        """Where the cells are, in pixels."""
        aside, above = (ASIDE, ABOVE) if self._rows else (0.0, 0.0)
        return QRectF(aside, above, max(1.0, self.width() - aside), max(1.0, self.height() - above))

    def box(self, cell: Cell) -> QRectF:
        """Return where a cell is; small maps stay square."""
        room, (down, over) = self.room, self._size
        width, height = room.width() / over, room.height() / down
        if self._thumbs:
            width = height = min(width, height)
        left, top = room.left() + cell.column * width, room.top() + cell.row * height
        return QRectF(left, top, max(1.0, width - GAP), max(1.0, height - GAP))

    def at(self, point: QPointF) -> Cell | None:
        """Return the cell at a point of the item; None beside them."""
        return next((cell for cell in self.cells if self.box(cell).contains(point)), None)

    def of(self, place: tuple[int, int] | None) -> Cell | None:
        """Return the cell of a layer and head."""
        return next((cell for cell in self.cells if (cell.layer, cell.head) == place), None)

    def beside(self, place: tuple[int, int] | None, right: int, down: int) -> Cell | None:
        """Return the cell so many steps from the one at `place`; the first one where it is not shown."""
        cell = self.of(place)
        if cell is None:
            return self.cells[0] if self.cells else None
        wanted = (cell.row + down, cell.column + right)
        return next((other for other in self.cells if (other.row, other.column) == wanted), cell)

    def boundingRect(self) -> QRectF:
        """Return the item's own rectangle."""
        return QRectF(0, 0, self.width(), self.height())

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw numbers at the axes, cells and rings."""
        painter.setFont(font(AXIS_PX))
        self._name(painter)
        for cell in self.cells:
            self._draw(painter, cell, self.box(cell))
        halo = pen(scheme().background, 5)
        for place, line in ((self.here, halo), (self.here, accent_pen()), (self.cursor, text_pen(1.5))):
            ringed = self.of(place)
            if ringed is not None:
                if place is self.cursor:
                    line.setStyle(Qt.PenStyle.DashLine)
                painter.setPen(line)
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(self.box(ringed).adjusted(0.5, 0.5, -0.5, -0.5))

    def _name(self, painter: QPainter) -> None:
        if not self._rows:
            return
        first = Cell(0, 0, 0.0, True, 0, 0)
        width, height = self.box(first).width() + GAP, self.box(first).height() + GAP
        painter.setPen(QColor(scheme().secondary))
        left, middle = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignCenter
        painter.drawText(QRectF(ASIDE, 0, 200, LINE), left, "head")
        painter.drawText(QRectF(0, ABOVE - LINE - 4, ASIDE - 6, LINE), Qt.AlignmentFlag.AlignRight, "layer")
        for i, number in _thinned(self._columns, 20.0 / width):
            painter.drawText(QRectF(ASIDE + i * width, LINE, width - GAP, LINE), middle, str(number))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for i, number in _thinned(self._rows, LINE / height):
            painter.drawText(QRectF(0, ABOVE + i * height, ASIDE - 6, height - GAP), right, str(number))

    def _draw(self, painter: QPainter, cell: Cell, box: QRectF) -> None:
        thumb = self._thumbs.get((cell.layer, cell.head))
        if not cell.known:
            painter.setPen(hairline_pen())
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
        elif thumb is not None:
            painter.drawImage(box, thumb)
            self._write(painter, cell, box, QColor(LIGHT_INK))
        elif math.isnan(cell.value):
            painter.setPen(pen(scheme().missing, 0.75))
            painter.drawLines(list(diagonals(box, SPACING)))
        else:
            colour = self._colour(cell.value)
            painter.fillRect(box, colour)
            self._write(painter, cell, box, QColor(ink(colour)))

    def _colour(self, value: float) -> QColor:
        low, high = self._levels
        share = (value - low) / (high - low) if high > low else 0.0
        return QColor(*self._colours[min(max(round(share * 255), 0), 255)][:3].tolist())

    def _write(self, painter: QPainter, cell: Cell, box: QRectF, colour: QColor) -> None:
        """Write a cell's number where it fits, above it its name where no axis has it."""
        lines = [] if self._rows else [f"{cell.layer}·{cell.head}"]
        if not self._thumbs and box.width() >= FIGURES:
            lines.append(figure(cell.value, 2, zeros=True))
        lines = lines[: int(box.height() // LINE)]
        widest = max((QFontMetricsF(font(AXIS_PX)).horizontalAdvance(line) for line in lines), default=0.0)
        if not lines or widest > box.width():
            return
        if self._thumbs:
            painter.fillRect(QRectF(box.left(), box.top(), widest + 6, LINE), VEIL)
        painter.setPen(colour)
        area = box if not self._thumbs else QRectF(box.left() + 3, box.top() + 1, box.width(), LINE)
        align = Qt.AlignmentFlag.AlignCenter if not self._thumbs else Qt.AlignmentFlag.AlignLeft
        painter.drawText(area, align, "\n".join(lines))


def _image(values: Numbers, table: NDArray[np.uint8]) -> QImage:
    """Return a small map, from 0 to its own largest weight; clear where the mask hides all."""
    largest = float(np.fmax.reduce(values, axis=None, initial=0.0)) or 1.0
    hidden = np.isnan(values)
    steps = np.clip(np.where(hidden, 0, values) / largest * 255, 0, 255).astype(np.uint8)
    pixels = np.empty((*values.shape, 4), np.uint8)
    pixels[..., :3] = table[steps][..., :3]
    pixels[..., 3] = np.where(hidden, 0, 255)
    height, width = values.shape
    return QImage(pixels.tobytes(), width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()


def _thinned(numbers: Sequence[int], step: float) -> list[tuple[int, int]]:
    """Return places and numbers, every n-th where they would run into each other."""
    every = max(1, math.ceil(step))
    return [(i, number) for i, number in enumerate(numbers) if i % every == 0]
