"""The entries of chosen eigenvectors: over the tokens as stems, or over the patches of an image."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem

from explorer.result import Result, Spectrum
from explorer.ui.theme import accent_pen, clean_brush, contaminated_brush, diverging_map, pen, scheme
from explorer.views.plot import ASIDE, Plot, ceiling
from explorer.views.points import Points
from explorer.views.token_axis import TokenAxis
from explorer.views.words import figure, short_names, subscript


class Stems(Plot):
    """One eigenvector over the tokens: clean solid and filled, contaminated dashed and hollow."""

    def __init__(self) -> None:
        self.tokens = TokenAxis("bottom", middle=0.0)
        super().__init__(axes={"bottom": self.tokens})
        self._d = -1
        self._clean, self._moved = _stems(), _stems()
        self._zero = pg.InfiniteLine(0, angle=0)
        self._heads, self._moved_heads, self._ring = Points("o", 5), Points("o", 5), Points("o", 12)
        for item in (self._zero, self._clean, self._moved, self._heads, self._moved_heads, self._ring):
            self.addItem(item, ignoreBounds=True)
        self.getAxis("left").setTickDensity(0.4)
        self.getAxis("left").setWidth(ASIDE)
        self.recolour()

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        self._zero.setPen(pen(scheme().hairline, 1))
        self._clean.setPen(pen(scheme().secondary, 1))
        self._moved.setPen(pen(scheme().secondary, 1, Qt.PenStyle.DotLine))
        outline = pen(scheme().text, 1)
        self._heads.style(outline, clean_brush(scheme().text))
        self._moved_heads.style(outline, contaminated_brush())
        self._ring.style(accent_pen(), None)

    def draw(self, result: Result, d: int, last: bool) -> None:
        """Draw eigenvector `d` of `result`; only the `last` of several names the tokens."""
        clean, moved = column(result.clean, d), column(result.moved, d)
        self.values = (clean, moved if result.is_moved else np.full_like(moved, np.nan))
        aside = 0.18 if result.is_moved else 0.0
        middles = np.arange(len(clean), dtype=np.float64)
        self.places = (middles - aside, middles + aside)
        items = ((self._clean, self._heads), (self._moved, self._moved_heads))
        for (stems, heads), x, values in zip(items, self.places, self.values, strict=True):
            pairs = np.isfinite(values)
            zero = np.zeros(int(pairs.sum()))
            ends = np.stack([zero, values[pairs]], 1).ravel()
            stems.setData(np.repeat(x[pairs], 2), ends)
            heads.move(x, values if len(clean) <= 300 else np.full_like(values, np.nan))
        self.tokens.set_tokens(short_names(result))
        self.tokens.set_contaminated(np.flatnonzero(result.contaminated))
        if self.tokens.isVisible() != last:
            self.showAxis("bottom", last)
        if d != self._d:
            self._d = d
            self.setLabel("left", f"<i>a</i>{subscript(d + 1)}")
        bound = _bound(clean, moved)
        self.settle((-0.8, len(clean) - 0.2), (-bound * 1.2, bound * 1.2))

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Ring the selected tokens."""
        self.tokens.set_selected(rows)
        x = np.concatenate([places[rows] for places in self.places])
        self._ring.move(x, np.concatenate([values[rows] for values in self.values]))

    def row_at(self, x: float, y: float) -> int:
        """Return the token at a place of the plot; −1 where none is."""
        row = round(x)
        return row if 0 <= row < len(self.values[0]) else -1


class Patches(Plot):
    """One eigenvector over the grid of image patches: clean on the left, contaminated on the right."""

    def __init__(self) -> None:
        super().__init__()
        self.hideAxis("left")
        self.vb.setAspectLocked(True)
        self.vb.invertY(True)
        self._pictures = (pg.ImageItem(), pg.ImageItem())
        self._halo, self._ring = QGraphicsPathItem(), QGraphicsPathItem()
        for item in (*self._pictures, self._halo, self._ring):
            self.addItem(item, ignoreBounds=True)
        self.cells: list[tuple[int, int] | None] = []
        self._copies, self._step = 1, 1
        self.recolour()

    def recolour(self) -> None:
        """Take pens and colours of the scheme again."""
        self._halo.setPen(pen(scheme().background, 4))
        self._ring.setPen(accent_pen())
        for picture in self._pictures:
            picture.setLookupTable(diverging_map().getLookupTable(nPts=256))
        self.getAxis("bottom").setStyle(tickLength=0, textFillLimits=[(0, 9)])
        self.getAxis("bottom").setPen(QPen(Qt.PenStyle.NoPen))
        self.getAxis("bottom").setTickPen(QPen(Qt.PenStyle.NoPen))

    def draw(self, result: Result, d: int, last: bool) -> None:
        """Draw eigenvector `d` of `result` over its grid; other tokens than patches are left out."""
        assert result.grid is not None
        height, width = result.grid
        self.cells = [token.patch for token in result.tokens]
        entries = [column(result.clean, d), column(result.moved, d)]
        self._copies, self._step = 1 + result.is_moved, width + 1 + width // 4
        bound = _bound(*entries[: self._copies])
        for copy, (picture, values) in enumerate(zip(self._pictures, entries, strict=True)):
            picture.setVisible(copy < self._copies)
            picture.setImage(self._over_grid(values, height, width), levels=(-bound, bound))
            picture.setRect(QRectF(copy * self._step, 0, width, height))
        titles = (f"a{subscript(d + 1)} (±{figure(bound, 2)})", "contaminated")
        middles = [copy * self._step + width / 2 for copy in range(self._copies)]
        self.set_ticks("bottom", list(zip(middles, titles, strict=False)))
        self.settle((0.0, float((self._copies - 1) * self._step + width)), (0.0, float(height)))

    def _over_grid(self, values: NDArray[np.float64], height: int, width: int) -> NDArray[np.float32]:
        image = np.full((height, width), np.nan, np.float32)
        for value, cell in zip(values, self.cells, strict=True):
            if cell is not None:
                image[cell] = value
        return image

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Outline the selected patches."""
        path = QPainterPath()
        for cell in (self.cells[row] for row in rows.tolist()):
            for copy in range(self._copies if cell is not None else 0):
                path.addRect(QRectF(cell[1] + copy * self._step, cell[0], 1, 1))
        self._halo.setPath(path)
        self._ring.setPath(path)

    def row_at(self, x: float, y: float) -> int:
        """Return the token whose patch lies at a place of the plot; −1 where none does."""
        cell = (int(np.floor(y)), int(np.floor(x)) % self._step)
        inside = 0 <= x < self._copies * self._step  # between the pictures there is no such cell
        return self.cells.index(cell) if inside and cell in self.cells else -1


def column(spectrum: Spectrum, d: int) -> NDArray[np.float64]:
    """Return eigenvector `d`, NaN where there is none."""
    vectors = spectrum.vectors
    return vectors[:, d] if d < vectors.shape[1] else np.full(len(vectors), np.nan)


def _stems() -> pg.PlotCurveItem:
    return pg.PlotCurveItem(connect="pairs", antialias=False)


def _bound(*values: NDArray[np.float64]) -> float:
    """Return a round number from the largest finite magnitude up; 1 where there is none."""
    return ceiling(max(float(np.abs(part[np.isfinite(part)]).max(initial=0.0)) for part in values))
