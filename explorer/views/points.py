"""A scatter that moves: positions are written into the item, symbols are rendered once."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtGui import QBrush, QPen


class Points(pg.ScatterPlotItem):
    """Symbols of one kind at moving positions.

    Parameters
    ----------
    symbol : str
        A pyqtgraph symbol.
    size : float
        In pixels.
    """

    def __init__(self, symbol: str = "o", size: float = 7) -> None:
        super().__init__(symbol=symbol, size=size, antialias=True)
        self._symbol = symbol
        self._style_now: tuple[QPen | None, QBrush | None] | None = None
        self._kept: NDArray[np.bool_] = np.empty(0, bool)
        self._tint: tuple[list[QBrush], list[str]] = ([], [])

    def style(self, pen: QPen | None, brush: QBrush | None) -> None:
        """Change outline and filling; equal ones cost nothing."""
        if self._style_now == (pen, brush):
            return
        self._style_now = pen, brush
        self.fragmentAtlas.clear()  # every pen and brush there ever was would stay in it
        self.setPen(pen)
        self.setBrush(brush)
        self.tint(*self._tint)

    def resize(self, size: float) -> None:
        """Change the size, in pixels."""
        if size != self.opts["size"]:
            self.setSize(size)

    def move(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        """Put the symbols at (`x`, `y`), leaving out what is not finite.

        As many as before are moved in place, which at 10⁴ points takes a fifth of `setData` and gives the
        same pixels.
        """
        keep = np.isfinite(x) & np.isfinite(y)
        same = np.array_equal(keep, self._kept)
        self._kept = keep
        x, y = x[keep], y[keep]
        self.setVisible(bool(len(x)))
        if not len(x) and not len(self.data):
            return
        if len(x) != len(self.data):
            self.setData(x=x, y=y)
            self.tint(*self._tint)
            return
        if not same:
            self.tint(*self._tint)
        self.data["x"], self.data["y"] = x, y
        self.bounds = [None, None]
        self.prepareGeometryChange()
        self.informViewBoundsChanged()
        self.invalidate()

    def tint(self, brushes: list[QBrush], symbols: list[str]) -> None:
        """Give each point of `move`, the not finite ones too, a filling and a symbol of its own.

        Parameters
        ----------
        brushes, symbols : list
            Empty: those of the item.
        """
        before, self._tint = self._tint, (brushes, symbols)
        if not len(self.data) or not any((*before, *self._tint)):
            return
        for name, own in (("brush", brushes), ("symbol", symbols)):
            self.data[name] = None
            if len(own) == len(self._kept):
                self.data[name] = [value for value, keep in zip(own, self._kept, strict=True) if keep]
        self.data["sourceRect"] = 0
        self.updateSpots(self.data)


def nearest(
    item: pg.GraphicsItem,
    at: tuple[float, float],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    within: float,
) -> tuple[int, float]:
    """Return the index and distance of the point nearest to `at` on the screen; −1 where none is near.

    Parameters
    ----------
    item : GraphicsItem
        In whose coordinates `at`, `x` and `y` are.
    within : float
        The largest distance, in pixels.
    """
    size = item.pixelSize()
    if not len(x) or not all(size):
        return -1, np.inf
    distance = np.hypot((x - at[0]) / size[0], (y - at[1]) / size[1])
    distance = np.where(np.isfinite(distance), distance, np.inf)
    best = int(distance.argmin())
    return (best, float(distance[best])) if distance[best] <= within else (-1, np.inf)


def join(item: pg.PlotCurveItem, start: NDArray[np.float64], end: NDArray[np.float64], shown: bool) -> None:
    """Draw a line from each of `start` to its partner in `end`."""
    keep = np.isfinite(start).all(1) & np.isfinite(end).all(1) & shown
    pairs = np.stack([start[keep], end[keep]], 1).reshape(-1, 2)
    item.setData(pairs[:, 0], pairs[:, 1])
