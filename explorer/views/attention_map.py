"""Who attends to whom: the attention map of one head, and what differs from it."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainterPath
from PySide6.QtWidgets import QComboBox, QGraphicsPathItem, QWidget

from explorer.params import Params
from explorer.result import Result
from explorer.ui.theme import accent_pen, diverging_map, secondary_pen, sequential_map
from explorer.views.base import Table, View
from explorer.views.colorbar import ColorBar
from explorer.views.matrix_image import MatrixImage
from explorer.views.plot import Plot, ceiling
from explorer.views.strip import Part, Strip
from explorer.views.token_axis import TokenAxis
from explorer.views.words import figure, full_name, powers, short_names

VARIANTS = {
    "softmax": "softmax",
    "rpc": "RPC",
    "difference": "RPC − softmax",
    "change": "change by contamination",
    "gram": "Gram matrix K̃",
    "model": "the model's own",
}
SIGNED = ("difference", "change", "gram")
OUTLINED = 6.0
"""Cells smaller than this, in pixels, are marked at the axes only: an outline would hide them."""


class AttentionMap(View):
    """The map that `Params.variant` names, query i in row i, key j in column j."""

    name = "attention"
    title = "Attention"
    help = (
        "Row i says how query i spreads its attention over the keys: softmax attention is exp(τ q·k) divided "
        "by the sum of its row, so a row adds up to 1. RPC is the same map on keys cleaned by principal "
        "attention pursuit; differences are signed, and K̃ is the centred Gram matrix of the keys, whose "
        "eigenvectors are the principal axes. Hatched cells are hidden by the mask. A large weight says "
        "where the head reads from, not that the token matters for what the model answers. "
        "Source: Teo and Nguyen, arXiv 2406.13762."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._levels = (0.0, 1.0)
        self._strip = Strip()
        self._rows, self._columns = TokenAxis("left", name="query"), TokenAxis("bottom", name="key")
        self.plot = Plot(zoom=True, axes={"left": self._rows, "bottom": self._columns})
        self._bar = ColorBar()
        self._map = MatrixImage(self.plot)
        self._outline = QGraphicsPathItem()
        self.plot.addItem(self._outline, ignoreBounds=True)
        for changed in (self.plot.vb.sigRangeChanged, self.plot.vb.sigResized):
            changed.connect(lambda: self.set_selection(self.state.selection))
        self.plot_items = [self.plot, self._bar]
        self.canvas.addItem(self._strip, 0, 0, 1, 3)
        self.canvas.addItem(self.plot, 1, 0)
        self.canvas.addItem(self._bar, 1, 1)
        rest = pg.GraphicsWidget()
        rest.setPreferredSize(0, 0)
        self.canvas.addItem(rest, 2, 2)
        layout = self.canvas.ci.layout
        layout.setColumnStretchFactor(2, 1)
        layout.setRowStretchFactor(2, 1)
        layout.setAlignment(self._bar, Qt.AlignmentFlag.AlignTop)
        self.canvas.ci.geometryChanged.connect(self._square)
        self._chooser = self._make_chooser()
        self.recolour()

    def _make_chooser(self) -> QComboBox:
        chooser = QComboBox()
        for variant, words in VARIANTS.items():
            chooser.addItem(words, variant)
        chooser.setToolTip("Which map is shown: weights, their differences, or the Gram matrix of the keys")
        chooser.setAccessibleName("Map")
        chooser.activated.connect(lambda index: self.state.update(variant=chooser.itemData(index)))
        return chooser

    def header_controls(self) -> QWidget:
        """Return the chooser of the map."""
        return self._chooser

    def follow(self, params: Params) -> None:
        """Let the chooser show the map in `params`."""
        self._chooser.setCurrentIndex(list(VARIANTS).index(params.variant))

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        self._map.recolour()
        self._outline.setPen(accent_pen())

    def draw(self, result: Result) -> None:
        """Put the numbers of `result` into the items."""
        variant = result.params.variant
        signed = variant in SIGNED
        n = len(result.map)
        if self.settles(result, variant):
            self._levels = _levels(result.map, signed)
        colours = diverging_map() if signed else sequential_map()
        labels = short_names(result)
        for axis in (self._rows, self._columns):
            axis.set_tokens(labels)
            axis.set_contaminated(np.flatnonzero(result.contaminated))
        self._rows.set_name("key" if variant == "gram" else "query")
        self._say(result)
        self._square()
        self.plot.settle((0.0, float(n)), (0.0, float(n)))
        self._map.show(result.map, self._levels, colours, signed)
        self._bar.show_levels(self._levels, colours)

    def _say(self, result: Result) -> None:
        marked = Part("contaminated", symbol="t1", pen=secondary_pen()) if result.contaminated.any() else ""
        title = f"{result.map_title}: {result.map_formula}" if result.map_formula else result.map_title
        self._strip.say(powers(title), marked)

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Mark the selected tokens at the axes, and their rows and columns where cells are large enough."""
        if self.result is None:
            return
        self._rows.set_selected(rows)
        self._columns.set_selected(rows)
        n = len(self.result.map)
        path = QPainterPath()
        if self._map.cell_pixels() >= OUTLINED:
            for row in rows.tolist():
                path.addRect(0, row, n, 1)
                path.addRect(row, 0, 1, n)
        self._outline.setPath(path)

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return query and key of a cell, or the token of a label."""
        if self.result is None:
            return []
        n = len(self.result.map)
        point = self.plot.vb.mapSceneToView(at)
        row, column = math.floor(point.y()), math.floor(point.x())
        within = (0 <= row < n, 0 <= column < n)
        if self._over(self.plot.vb, at):
            return list(dict.fromkeys((row, column))) if all(within) else []
        if self._over(self._rows, at) and within[0]:
            return [row]
        return [column] if self._over(self._columns, at) and within[1] else []

    @staticmethod
    def _over(item: pg.GraphicsWidget, at: QPointF) -> bool:
        return bool(item.rect().contains(item.mapFromScene(at)))

    def reading_at(self, at: QPointF) -> str:
        """Return query, key and the number of a cell, or the name of a label's token."""
        if self.result is None:
            return ""
        tokens = self.tokens_at(at)
        if not tokens:
            return ""
        if not self._over(self.plot.vb, at):
            return full_name(self.result, tokens[0])
        row, column = tokens[0], tokens[-1]
        value = self.result.map[row, column]
        number = figure(value) if np.isfinite(value) else "hidden by the mask"
        first = "key" if self.result.params.variant == "gram" else "query"
        names = full_name(self.result, row), full_name(self.result, column)
        return f"{first} {names[0]} → key {names[1]}: {number}"

    def numbers(self, result: Result) -> Table:
        """Return the map, a row a query, a column a key."""
        labels = short_names(result)
        keys = [f"key {place} {label}" for place, label in zip(result.positions, labels, strict=True)]
        return ["query", "token", "contaminated", *keys], [
            result.positions,
            labels,
            result.contaminated,
            *result.map.T,
        ]

    def _square(self) -> None:
        room, layout = self.canvas.ci.size(), self.canvas.ci.layout
        gap, margins = layout.horizontalSpacing(), layout.getContentsMargins()
        aside, below = self._rows.minimumWidth(), self._columns.minimumHeight()
        across = room.width() - margins[0] - margins[2] - aside - 2 * gap - self._bar.minimumWidth()
        down = room.height() - margins[1] - margins[3] - self._strip.minimumHeight() - 2 * gap - below
        side = max(40.0, math.floor(min(across, down)))
        for fit in (self.plot.setPreferredSize, self.plot.setMaximumSize):
            fit(side + aside, side + below)
        self._bar.setPreferredHeight(side)
        self._bar.setMaximumHeight(side)


def _levels(values: NDArray[np.float64], signed: bool) -> tuple[float, float]:
    """Return round levels: from 0 to the largest weight, or to the largest magnitude both ways."""
    largest = float(np.fmax.reduce(values, axis=None, initial=0.0))
    if not signed:
        return 0.0, ceiling(largest)
    bound = ceiling(max(largest, -float(np.fmin.reduce(values, axis=None, initial=0.0))))
    return -bound, bound
