"""Accuracy over the level of one kind of contamination, a line a row of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QBrush, QColor, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsPathItem

from explorer.study.table import Cell
from explorer.ui.theme import RPC, SOFTMAX, clean_brush, contaminated_brush, pen, secondary_pen
from explorer.views.plot import Plot
from explorer.views.points import Points

STYLES = Qt.PenStyle
KNOWN = {
    "softmax": (SOFTMAX, STYLES.SolidLine, "o"),
    "symmetric": ("#CC79A7", STYLES.DashDotLine, "t1"),
    "RPC": (RPC, STYLES.DashLine, "s"),
}
"""Colour, line and symbol of the rows that always look the same."""
OTHERS = (
    ("#E69F00", STYLES.DotLine, "d"),
    ("#56B4E9", STYLES.DashDotDotLine, "t"),
    ("#8A6FBF", STYLES.SolidLine, "+"),
    ("#7F7F7F", STYLES.DashLine, "x"),
)
BAND, WHISKER = 44, 1.25
NUDGE = 0.012
"""Between the rows' whiskers, as a share of the axis, so that they do not hide each other."""


@dataclass(frozen=True, slots=True)
class RowStyle:
    """How a row of models is drawn."""

    colour: str
    line: Qt.PenStyle
    symbol: str

    @property
    def pen(self) -> QPen:
        """The row's line."""
        return pen(self.colour, 1.75, self.line)

    @property
    def brush(self) -> QBrush:
        """The filling of its symbol: hollow for RPC, as everywhere."""
        return contaminated_brush() if self.colour == RPC else clean_brush(self.colour)


def styles(rows: Sequence[str]) -> dict[str, RowStyle]:
    """Return how each row is drawn: the three attentions as always, others in the order they come."""
    others = [row for row in rows if row not in KNOWN]
    drawn = {row: OTHERS[i % len(OTHERS)] for i, row in enumerate(others)}
    return {row: RowStyle(*KNOWN.get(row, drawn.get(row, OTHERS[0]))) for row in rows}


class _Row:
    """The items of one row: band over training seeds, line, whiskers over contamination seeds, symbols."""

    def __init__(self, style: RowStyle) -> None:
        self.style = style
        self.band = QGraphicsPathItem()
        self.line = pg.PlotCurveItem(antialias=True)
        self.whiskers = pg.ErrorBarItem(beam=0)
        self.points = Points(style.symbol, 6)

    @property
    def items(self) -> tuple[pg.GraphicsObject | QGraphicsPathItem, ...]:
        """From the back to the front."""
        return self.band, self.line, self.whiskers, self.points

    def recolour(self) -> None:
        colour = QColor(self.style.colour)
        colour.setAlpha(BAND)
        self.band.setBrush(colour)
        self.band.setPen(QPen(STYLES.NoPen))
        self.line.setPen(self.style.pen)
        self.whiskers.setOpts(pen=pen(self.style.colour, WHISKER))
        self.points.style(pen(self.style.colour, 1.25), self.style.brush)

    def draw(self, cells: Sequence[Cell], aside: float) -> None:
        x, mean, low, high, spread = (
            np.array([getattr(cell, name) for cell in cells], dtype=np.float64)
            for name in ("level", "mean", "low", "high", "contamination_sd")
        )
        self.line.setData(x, 100 * mean)
        self.points.move(x, 100 * mean)
        half = np.nan_to_num(100 * spread)
        self.whiskers.setData(x=x + aside, y=100 * mean, top=half, bottom=half)
        path = QPainterPath()
        if len(x) > 1:
            path.addPolygon(QPolygonF([*_corners(x, 100 * high), *_corners(x[::-1], 100 * low[::-1])]))
        self.band.setPath(path)


def _corners(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[QPointF]:
    return [QPointF(*pair) for pair in zip(x.tolist(), y.tolist(), strict=True)]


class AccuracyPlot(Plot):
    """Mean accuracy; band: range over training seeds; whiskers: deviation over contamination seeds."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, _Row] = {}
        self._chance = pg.InfiniteLine(angle=0)
        self.addItem(self._chance, ignoreBounds=True)
        self.cells: dict[str, list[Cell]] = {}

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        line = secondary_pen()
        line.setStyle(STYLES.DotLine)
        self._chance.setPen(line)
        for row in self._rows.values():
            row.recolour()

    def draw(self, by_row: dict[str, list[Cell]], levels: Sequence[float], chance: float, unit: str) -> None:
        """Draw cells by row and, within it, by ascending level.

        Parameters
        ----------
        levels : sequence of float
            All that there will be, from 0.
        chance : float
            Accuracy of always giving the commonest class.
        unit : str
            What the level is.
        """
        self.cells = by_row
        if list(by_row) != list(self._rows):
            self._replace(list(by_row))
        wide = max(levels, default=1.0) or 1.0
        for place, (name, row) in enumerate(self._rows.items()):
            row.draw(by_row[name], (place - (len(self._rows) - 1) / 2) * NUDGE * wide)
        self._chance.setPos(100 * chance)
        self.name_axes(unit, "accuracy (%)")
        self.settle((-0.04 * wide, 1.04 * wide), (0.0, 102.0))

    def _replace(self, rows: Sequence[str]) -> None:
        for row in self._rows.values():
            for item in row.items:
                self.removeItem(item)
        self._rows = {name: _Row(style) for name, style in styles(rows).items()}
        for row in self._rows.values():
            for item in row.items:
                self.addItem(item, ignoreBounds=True)
        self.recolour()

    def cells_at(self, x: float) -> dict[str, Cell]:
        """Return the cell of each row at the known level nearest to `x`."""
        return {
            row: min(cells, key=lambda cell: abs(cell.level - x))
            for row, cells in self.cells.items()
            if cells
        }
