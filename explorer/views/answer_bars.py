"""One column of answers: a bar, a name and a figure for each."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem

from explorer.ui.theme import AXIS_PX, font, scheme
from explorer.views.plot import Plot
from explorer.views.words import figure, percent

NAMES, NAME_STEP = 92, 23
"""Pixels for the names beside the bars, at most, and the step in which they are given: names change often."""
FIGURE = 48
"""Pixels for the figure behind the longest bar."""
THICK = 0.68
FEWEST = 5
"""One bar alone is as thin as one of so many."""
MARK = "› "
"""Before the true answer's name."""


@dataclass(frozen=True)
class Bars:
    """What a column shows.

    Attributes
    ----------
    names : tuple of str
    values : ndarray
        Between 0 and 1, or cosines.
    true : str or None
        The name to mark.
    shares : bool
        Whether the values are probabilities, to be written as percentages.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    true: str | None = None
    shares: bool = True

    def figure(self, row: int) -> str:
        """Return a value as it is written."""
        value = float(self.values[row])
        return percent(value, zeros=True) if self.shares else figure(value, zeros=True)


class AnswerBars(Plot):
    """Bars from the left, the first answer on top.

    Attributes
    ----------
    shown : Bars or None
    """

    def __init__(self) -> None:
        super().__init__()
        self.shown: Bars | None = None
        self._rows, self._lowest = FEWEST, 0.0
        self._path = QGraphicsPathItem()
        self._zero = pg.InfiniteLine(0, angle=90)
        self._figures: list[pg.TextItem] = []
        for item in (self._path, self._zero):
            self.addItem(item, ignoreBounds=True)
        self.invertY(True)
        self.getAxis("left").setWidth(NAMES)
        self.getAxis("bottom").setHeight(22)
        self.vb.sigResized.connect(self._make_room)

    def style(self, pen: QPen, brush: QBrush, zero: QPen) -> None:
        """Take outline and filling of the bars, and the pen of the line at 0."""
        self._path.setPen(pen)
        self._path.setBrush(brush)
        self._zero.setPen(zero)
        self.getAxis("left").setStyle(tickLength=0)

    def show_bars(self, bars: Bars | None, rows: int, lowest: float) -> None:
        """Draw; None: nothing is known yet.

        Parameters
        ----------
        rows : int
            For how many there is room.
        lowest : float
            The least value that can be: 0, or −1 where cosines are negative.
        """
        self.shown = bars
        path = QPainterPath()
        ticks: list[tuple[float, str]] = []
        if bars is not None:
            for row, value in enumerate(np.nan_to_num(bars.values).tolist()):
                path.addRect(
                    QRectF(QPointF(0, row - THICK / 2), QPointF(value, row + THICK / 2)).normalized()
                )
            ticks = [(float(row), self._label(bars, row)) for row in range(len(bars.names))]
        self._path.setPath(path)
        self.set_ticks("left", ticks)
        self.getAxis("left").setWidth(_room([label for _, label in ticks]))
        self._rows, self._lowest = max(rows, FEWEST), lowest
        self._make_room()
        self._write(bars)

    def _make_room(self) -> None:
        """Let the range end where the figure behind a bar of 1 still has room."""
        width = max(self.vb.width(), 2 * FIGURE)
        right = self._lowest + (1 - self._lowest) * width / (width - FIGURE)
        self.settle((self._lowest, right), (-0.6, self._rows - 0.4))
        ticks = _scale(self._lowest, self.shown is None or self.shown.shares)
        unit = width / (right - self._lowest)
        self.set_ticks(
            "bottom", ticks if (ticks[1][0] - ticks[0][0]) * unit >= FIGURE else ticks[:: len(ticks) - 1]
        )

    def _write(self, bars: Bars | None) -> None:
        """Put each figure behind its bar."""
        count = 0 if bars is None else len(bars.names)
        while len(self._figures) < count:
            text = pg.TextItem(anchor=(0, 0.5))
            text.setFont(font(AXIS_PX))
            self.addItem(text, ignoreBounds=True)
            self._figures.append(text)
        for row, text in enumerate(self._figures):
            text.setVisible(row < count)
            if bars is not None and row < count:
                text.setText(bars.figure(row), scheme().text)
                text.setPos(max(float(np.nan_to_num(bars.values[row])), 0.0), row)

    def _label(self, bars: Bars, row: int) -> str:
        name = bars.names[row]
        text = f"{MARK}{name}" if name == bars.true else name
        metrics = QFontMetricsF(font(AXIS_PX))
        return metrics.elidedText(text, Qt.TextElideMode.ElideRight, NAMES - 12)

    def row_at(self, at: QPointF) -> int:
        """Return the bar at a point of the scene; −1 where none is."""
        if self.shown is None or not self.sceneBoundingRect().contains(at):
            return -1
        row = round(self.vb.mapSceneToView(at).y())
        return row if 0 <= row < len(self.shown.names) else -1


def _scale(lowest: float, shares: bool) -> list[tuple[float, str]]:
    if not shares:
        return [(x, figure(x)) for x in (-1.0, 0.0, 1.0) if x >= lowest]
    return [(0.0, "0"), (0.5, "50 %"), (1.0, "100 %")]


def _room(labels: list[str]) -> int:
    """Return the width of an axis with these labels."""
    metrics = QFontMetricsF(font(AXIS_PX))
    widest = max(map(metrics.horizontalAdvance, labels), default=0.0) + 12
    return min(NAMES, math.ceil(widest / NAME_STEP) * NAME_STEP)
