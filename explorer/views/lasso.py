"""A line drawn by hand around points, and what lies inside it."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPolygonF
from PySide6.QtWidgets import QGraphicsPolygonItem

from explorer.ui.theme import accent_pen
from explorer.views.drag import Drag

Array = NDArray[np.float64]


class Lasso(QGraphicsPolygonItem):
    """Is drawn while the pointer moves, and closed by a straight line."""

    def __init__(self) -> None:
        super().__init__()
        self._corners: list[QPointF] = []
        self.recolour()

    def recolour(self) -> None:
        """Take the accent of the scheme again."""
        self.setPen(accent_pen(1.5))

    def follow(self, drag: Drag, box: pg.ViewBox) -> Array | None:
        """Draw on to where a drag is; at its end take the line away and return its corners, (n, 2)."""
        if drag.begins:
            self._corners = [box.mapSceneToView(drag.start)]
        self._corners.append(box.mapSceneToView(drag.at))
        self.setPolygon(QPolygonF([] if drag.ends else self._corners))
        return np.array([corner.toTuple() for corner in self._corners]) if drag.ends else None


def inside(corners: Array, points: Array) -> NDArray[np.bool_]:
    """Return which points a closed polygon holds, by the even-odd rule.

    Parameters
    ----------
    corners : ndarray, shape (n, 2)
    points : ndarray, shape (N, 2)
        NaN lies outside.

    Returns
    -------
    ndarray of bool, shape (N,)
    """
    x, y = points[:, 0], points[:, 1]
    odd = np.zeros(len(points), bool)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, 0), strict=True):
        if y0 != y1:
            crosses = (y0 > y) != (y1 > y)
            odd ^= crosses & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return odd
