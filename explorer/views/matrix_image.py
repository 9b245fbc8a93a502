"""A matrix as an image: row 0 on top, hatched where there is no number, never losing what stands out."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF

from explorer.views.hatch import Hatch
from explorer.views.plot import Plot
from explorer.views.pooling import pooled


class MatrixImage:
    """Draws a matrix into `plot`, the entry (i, j) over [j, j + 1] × [i, i + 1].

    Where entries are smaller than pixels, a pixel shows the largest entry under it (the largest magnitude of
    a signed matrix), and zooming in brings out the entries.

    Attributes
    ----------
    image : ImageItem
    """

    def __init__(self, plot: Plot) -> None:
        self._plot = plot
        self._values: NDArray[np.float64] = np.empty((0, 0))
        self._signed = False
        self._drawn: tuple[int, ...] = ()
        self._hatch = Hatch()
        self._hatch.setZValue(-1)
        self.image = pg.ImageItem(autoDownsample=False)
        plot.vb.invertY(True)
        plot.addItem(self._hatch, ignoreBounds=True)
        plot.addItem(self.image)
        plot.vb.sigRangeChanged.connect(self._refresh)
        plot.vb.sigResized.connect(self._refresh)
        self.recolour()

    def recolour(self) -> None:
        """Take the hatch of the scheme again."""
        self._hatch.update()

    def show(
        self, values: NDArray[np.float64], levels: tuple[float, float], colours: pg.ColorMap, signed: bool
    ) -> None:
        """Draw `values` in `colours` over `levels`."""
        self._values, self._signed, self._drawn = values, signed, ()
        self.image.setLookupTable(colours.getLookupTable(nPts=256), update=False)
        self.image.setLevels(levels, update=False)
        hidden = bool(np.isnan(values.sum()))
        self._hatch.setVisible(hidden)
        if hidden:
            self._hatch.setRect(QRectF(0, 0, values.shape[1], values.shape[0]))
        self._refresh()

    def cell_pixels(self) -> float:
        """Return the smaller side of an entry on the screen, in pixels."""
        box = self._plot.vb.viewRect()
        size = self._plot.vb.size()
        if not box.width() or not box.height():
            return 0.0
        return min(size.width() / box.width(), size.height() / box.height())

    def _refresh(self, *_: object) -> None:
        if not self._values.size:
            return
        box = self._plot.vb.viewRect()
        top, bottom = _visible(box.top(), box.bottom(), self._values.shape[0])
        left, right = _visible(box.left(), box.right(), self._values.shape[1])
        share = _share(box, right - left, bottom - top)
        size, ratio = self._plot.vb.size(), self._ratio()
        rows = max(1, round(size.height() * share[1] * ratio))
        columns = max(1, round(size.width() * share[0] * ratio))
        seen = (top, bottom, left, right, min(rows, bottom - top), min(columns, right - left))
        if seen == self._drawn or bottom <= top or right <= left:
            return
        self._drawn = seen
        part = self._values[top:bottom, left:right]
        if seen[4] < bottom - top or seen[5] < right - left:
            part = pooled(part, rows, columns, self._signed)
        self.image.setImage(part.astype(np.float32), autoLevels=False)
        self.image.setRect(QRectF(left, top, right - left, bottom - top))

    def _ratio(self) -> float:
        widget = self._plot.getViewWidget()
        return 1.0 if widget is None else widget.devicePixelRatioF()


def _visible(low: float, high: float, length: int) -> tuple[int, int]:
    return max(0, math.floor(low)), min(length, math.ceil(high))


def _share(box: QRectF, columns: int, rows: int) -> tuple[float, float]:
    return min(1.0, columns / (box.width() or 1.0)), min(1.0, rows / (box.height() or 1.0))
