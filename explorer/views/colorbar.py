"""A narrow bar that says which colour is which number."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtWidgets import QGraphicsGridLayout

from explorer.views.plot import Plot
from explorer.views.words import figure

WIDTH, FIGURES = 10, 56


class ColorBar(Plot):
    """The colours from the lowest level (below) to the highest, with figures at its right."""

    def __init__(self) -> None:
        super().__init__()
        self.hideAxis("left")
        self.hideAxis("bottom")
        self.showAxis("right")
        self._shown: tuple[object, object] = (None, None)
        self.image = pg.ImageItem(np.arange(256, dtype=np.uint8)[:, None], levels=(0, 255))
        self.addItem(self.image)
        self.make_room(True)
        self.getAxis("right").setWidth(FIGURES)
        self.getAxis("right").setStyle(hideOverlappingLabels=False)  # those at the ends stand out by half

    def make_room(self, room: bool) -> None:
        """Take the place of a bar with its figures, shown or not; or none."""
        self.setFixedWidth(WIDTH + FIGURES if room else 0)

    def show_levels(self, levels: tuple[float, float], colours: pg.ColorMap) -> None:
        """Show `colours` over `levels`, with figures at the ends and in the middle."""
        if (levels, colours) == self._shown:
            return
        self._shown = (levels, colours)
        low, high = levels
        self.image.setLookupTable(colours.getLookupTable(nPts=256))
        self.image.setRect(QRectF(0, low, 1, high - low))
        ticks = [(value, figure(value)) for value in (low, (low + high) / 2, high)]
        self.set_ticks("right", ticks)
        self.settle((0.0, 1.0), levels)


def as_high_as(bar: ColorBar, plot: Plot, layout: QGraphicsGridLayout) -> None:
    """Keep a colour bar as high as the plot that it explains."""
    plot.vb.sigResized.connect(lambda: bar.setMaximumHeight(max(40.0, plot.vb.height())))
    layout.setAlignment(bar, Qt.AlignmentFlag.AlignTop)
