"""One map of several that share a scale: features downwards, tokens to the right, a sentence above."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath
from PySide6.QtWidgets import QGraphicsPathItem

from explorer.ui.theme import accent_pen, diverging_map
from explorer.views.matrix_image import MatrixImage
from explorer.views.plot import Plot
from explorer.views.strip import Strip
from explorer.views.token_axis import TokenAxis

OUTLINED = 4.0
"""Tokens narrower than this, in pixels, are marked at the axis only: an outline would hide them."""
FEATURES = 34
"""Pixels for the figures and the name of the features."""


class Tile:
    """A signed map over tokens and features, with what it is above it.

    Attributes
    ----------
    strip : Strip
    plot : Plot
    values : ndarray, shape (N, D)
    """

    def __init__(self, first: bool, last: bool) -> None:
        self.strip = Strip()
        self.tokens = TokenAxis("bottom")
        self.plot = Plot(zoom=True, axes={"bottom": self.tokens})
        if first:
            self.plot.setLabel("left", "feature")
            self.plot.getAxis("left").setWidth(FEATURES)
            self.plot.getAxis("left").setTickDensity(0.4)
        else:
            self.plot.hideAxis("left")
        if not last:
            self.plot.hideAxis("bottom")
        self._map = MatrixImage(self.plot)
        self._outline = QGraphicsPathItem()
        self.plot.addItem(self._outline, ignoreBounds=True)
        self.values = np.empty((0, 0))
        self.recolour()

    def place(self, canvas: pg.GraphicsLayoutWidget, row: int, column: int) -> None:
        """Put sentence and map into a layout."""
        canvas.addItem(self.strip, row, column)
        canvas.addItem(self.plot, row + 1, column)

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        self._map.recolour()
        self._outline.setPen(accent_pen())

    def show(self, values: NDArray[np.float64], bound: float) -> None:
        """Draw `values` (N, D) over (−bound, bound)."""
        self.values = values
        self.plot.settle((0.0, float(values.shape[0])), (0.0, float(values.shape[1])))
        self._map.show(values.T, (-bound, bound), diverging_map(), signed=True)

    def name(self, labels: list[str], contaminated: NDArray[np.int64]) -> None:
        """Name the tokens and mark the contaminated ones."""
        self.tokens.set_tokens(labels)
        self.tokens.set_contaminated(contaminated)

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Mark the selected tokens at the axis, and in the map where they are wide enough."""
        self.tokens.set_selected(rows)
        path = QPainterPath()
        box, size = self.plot.vb.viewRect(), self.plot.vb.size()
        if box.width() and size.width() / box.width() >= OUTLINED:
            for row in rows.tolist():
                path.addRect(row, 0, 1, self.values.shape[1])
        self._outline.setPath(path)

    def entry_at(self, at: QPointF) -> tuple[int, int] | None:
        """Return token and feature at a point of the scene; None beside the map."""
        if not self.plot.vb.sceneBoundingRect().contains(at):
            return None
        point = self.plot.vb.mapSceneToView(at)
        token, feature = math.floor(point.x()), math.floor(point.y())
        within = 0 <= token < self.values.shape[0] and 0 <= feature < self.values.shape[1]
        return (token, feature) if within else None

    def token_at(self, at: QPointF) -> int | None:
        """Return the token at a point of the scene, in the map or at its label."""
        entry = self.entry_at(at)
        if entry is not None:
            return entry[0]
        if not self.tokens.isVisible() or not self.tokens.sceneBoundingRect().contains(at):
            return None
        token = math.floor(self.plot.vb.mapSceneToView(at).x())
        return token if 0 <= token < self.values.shape[0] else None
