"""An image as the model sees it, with a number for each patch as colour over it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem

from explorer.ui.theme import accent_pen, pen, scheme
from explorer.views.drag import DragBox
from explorer.views.plot import Plot

Pixels = NDArray[np.uint8]
Cell = tuple[int, int] | None
GAP = 0.06
"""Between two images, as a share of one's width."""


class PatchImage(Plot):
    """Patch (r, c) lies over [c, c + 1] × [r, r + 1]; left of a contaminated image is the clean one.

    Attributes
    ----------
    cells : sequence of (int, int) or None
        For each token the patch that it is.
    box : DragBox
    """

    def __init__(self) -> None:
        self.box = DragBox()
        super().__init__(box=self.box)
        self.box.takes = lambda modifiers: True
        self.hideAxis("left")
        self.vb.setAspectLocked(True)
        self.vb.invertY(True)
        self.cells: Sequence[Cell] = ()
        self.grid = (1, 1)
        self._offsets: tuple[float, ...] = (0.0,)
        self._pictures = (pg.ImageItem(), pg.ImageItem())
        self._missing, self._touched = QGraphicsPathItem(), QGraphicsPathItem()
        self._halo, self._ring, self._current = QGraphicsPathItem(), QGraphicsPathItem(), QGraphicsPathItem()
        paths = (self._missing, self._touched, self._halo, self._ring, self._current)
        for item in (*self._pictures, *paths):
            self.addItem(item, ignoreBounds=True)
        self.recolour()

    def recolour(self) -> None:
        """Take the pens of the scheme again."""
        self._missing.setPen(pen(scheme().missing, 1))
        self._touched.setPen(pen(scheme().text, 1))
        self._touched.setBrush(pg.mkBrush(scheme().background))
        self._halo.setPen(pen(scheme().background, 4))
        self._ring.setPen(accent_pen())
        self._current.setPen(pen(scheme().text, 1.5, Qt.PenStyle.DotLine))
        axis = self.getAxis("bottom")
        axis.setStyle(tickLength=0)
        axis.setPen(QPen(Qt.PenStyle.NoPen))
        axis.setTickPen(QPen(Qt.PenStyle.NoPen))

    def show_image(
        self, image: Pixels | None, clean: Pixels | None, grid: tuple[int, int], cells: Sequence[Cell]
    ) -> None:
        """Show an image; where `clean` is another, this one stands before it.

        Parameters
        ----------
        image, clean : ndarray of uint8, shape (H, W, 3), or None
            None: the numbers alone.
        grid : (int, int)
            Rows and columns of patches.
        """
        rows, columns = self.grid = grid
        self.cells = cells
        self._image = np.full((rows, columns, 3), 128, np.uint8) if image is None else image
        self._offsets = (0.0,) if clean is None else (columns * (1 + GAP), 0.0)
        self._pictures[1].setVisible(clean is not None)
        if clean is not None:
            self._pictures[1].setImage(clean, levels=(0, 255))
            self._pictures[1].setRect(QRectF(0, 0, columns, rows))
        names = ("contaminated", "clean") if clean is not None else ("",)
        self.set_ticks("bottom", [(x + columns / 2, n) for x, n in zip(self._offsets, names, strict=True)])
        self.showAxis("bottom", clean is not None)
        self.settle((0.0, self._offsets[0] + columns), (0.0, float(rows)))

    def show_heat(self, colours: NDArray[np.uint8] | None, blend: float) -> None:
        """Lay a colour over each patch of the image that was read.

        Parameters
        ----------
        colours : ndarray of uint8, shape (N, 4), or None
            RGB for each token, and 0 where it has no number; None: the image alone, in its own colours.
        blend : float
            From 0, the image in grey, to 1, the colours as in the colour bar.
        """
        rows, columns = self.grid
        picture, missing = self._image, QPainterPath()
        if colours is not None:
            patches = np.zeros((rows, columns, 4), np.uint8)
            for colour, cell in zip(colours, self.cells, strict=True):
                if cell is not None:
                    patches[cell] = colour
                    if not colour[3]:
                        _cross(missing, QRectF(self._offsets[0] + cell[1], cell[0], 1, 1))
            picture = blended(self._image, patches, blend)
        self._missing.setPath(missing)
        self._pictures[0].setImage(picture, levels=(0, 255))
        self._pictures[0].setRect(QRectF(self._offsets[0], 0, columns, rows))

    def mark(self, selected: NDArray[np.int64], touched: NDArray[np.bool_], current: int) -> None:
        """Outline the selected patches and the current one, and mark the contaminated ones."""
        ring, triangles, dotted = QPainterPath(), QPainterPath(), QPainterPath()
        ring.setFillRule(Qt.FillRule.WindingFill)
        for row in selected.tolist():
            for rect in self._rects(row):
                ring.addRect(rect)
        for row in np.flatnonzero(touched).tolist():
            for rect in self._rects(row)[:1]:
                triangles.moveTo(rect.left() + 0.06, rect.top() + 0.3)
                triangles.lineTo(rect.left() + 0.3, rect.top() + 0.3)
                triangles.lineTo(rect.left() + 0.18, rect.top() + 0.06)
                triangles.closeSubpath()
        for rect in self._rects(current):
            dotted.addRect(rect.adjusted(0.08, 0.08, -0.08, -0.08))
        self._ring.setPath(ring.simplified())
        self._halo.setPath(ring.simplified())
        self._touched.setPath(triangles)
        self._current.setPath(dotted)

    @property
    def offset(self) -> float:
        """Where the image that was read begins, from the left."""
        return self._offsets[0]

    def _rects(self, row: int) -> list[QRectF]:
        cell = self.cells[row] if 0 <= row < len(self.cells) else None
        return [] if cell is None else [QRectF(x + cell[1], cell[0], 1, 1) for x in self._offsets]

    def cell_at(self, x: float, y: float) -> Cell:
        """Return the patch at a place of the plot, in either image; None beside them."""
        rows, columns = self.grid
        for offset in self._offsets:
            if 0 <= x - offset < columns and 0 <= y < rows:
                return int(y), int(x - offset)
        return None

    def rows_between(self, start: tuple[float, float], end: tuple[float, float]) -> list[int]:
        """Return the tokens whose patches a rectangle from one place to another touches.

        It lies in the image in which it starts, and is cut at its edge.
        """
        rows, columns = self.grid
        offset = next((o for o in self._offsets if 0 <= start[0] - o < columns), self._offsets[0])
        (left, right), (top, bottom) = sorted((start[0], end[0])), sorted((start[1], end[1]))
        across = range(max(0, int(left - offset)), min(columns, int(np.floor(right - offset)) + 1))
        down = range(max(0, int(top)), min(rows, int(np.floor(bottom)) + 1))
        wanted = {(r, c) for r in down for c in across}
        return [row for row, cell in enumerate(self.cells) if cell in wanted]


def blended(image: Pixels, patches: Pixels, blend: float) -> Pixels:
    """Return a grey image under the colours of its patches, (rows, columns, 4); bare where alpha is 0."""
    height, width = image.shape[:2]
    rows, columns = patches.shape[:2]
    scale = max(1, -(-rows // height), -(-columns // width))
    image = image.repeat(scale, 0).repeat(scale, 1)
    height, width = image.shape[:2]
    over = patches[np.arange(height) * rows // height][:, np.arange(width) * columns // width]
    grey = np.repeat((image @ np.array([0.299, 0.587, 0.114]))[..., None], 3, 2)
    share = blend * (over[..., 3:] > 0)
    return np.rint(grey * (1 - share) + over[..., :3] * share).astype(np.uint8)


def _cross(path: QPainterPath, rect: QRectF) -> None:
    path.moveTo(rect.bottomLeft())
    path.lineTo(rect.topRight())
    path.moveTo(rect.left(), rect.center().y())
    path.lineTo(rect.center().x(), rect.top())
    path.moveTo(rect.center().x(), rect.bottom())
    path.lineTo(rect.right(), rect.center().y())
