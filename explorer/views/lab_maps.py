"""The learned map beside Σ, in one scale."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF

from explorer.lab.snapshot import Snapshot
from explorer.ui.theme import diverging_map, symmetric_levels
from explorer.views.colorbar import ColorBar, as_high_as
from explorer.views.lab_view import LabView, ticks
from explorer.views.matrix_image import MatrixImage
from explorer.views.picture import Table
from explorer.views.plot import Plot, ceiling
from explorer.views.strip import Strip
from explorer.views.words import figure

TWO_FIGURES = 20
"""From so many features on the names of most ticks need more room."""


class MapView(LabView):
    """Left Σ over its largest eigenvalue, right ΣWᵀ, what the heads do to a token of an infinite prompt."""

    name = "lab-map"
    title = "Σ and the learned map"
    help = (
        "Left: Σ/σ₁. Right: the learned map x ↦ ΣWᵀx (heads added), in one colour scale, both in the "
        "tokens' own coordinates. For one head at λ = 1/σ₁ that has found u₁, the map is u₁u₁ᵀ: the part of "
        "Σ/σ₁ along u₁ and nothing else. A free W that reproduces every token has the identity there. At "
        "finite L the heads do this only up to sampling. Source: Maulen-Soto and Boyer, arXiv 2605.18315."
    )
    NAMES: ClassVar[tuple[str, str]] = ("Σ / σ₁", "learned: Σ Wᵀ")

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self._level = 1.0
        self._plots = [Plot(), Plot()]
        self._images = [MatrixImage(plot) for plot in self._plots]
        self._bar = ColorBar()
        self.plot_items = [*self._plots, self._bar]
        self.canvas.addItem(self._strip, 0, 0, 1, 3)
        for column, (plot, name) in enumerate(zip(self._plots, self.NAMES, strict=True)):
            plot.name_axes(name, "")
            plot.getAxis("left").setWidth(24)
            self.canvas.addItem(plot, 1, column)
        self.canvas.addItem(self._bar, 1, 2)
        as_high_as(self._bar, self._plots[0], self.canvas.ci.layout)
        self.recolour()

    def recolour(self) -> None:
        """Take the hatch of the scheme again."""
        for image in self._images:
            image.recolour()

    def _matrices(self, snapshot: Snapshot) -> list[NDArray[np.float64]]:
        return [snapshot.covariance / snapshot.scale, np.asarray(snapshot.learned, dtype=np.float64)]

    def draw(self, snapshot: Snapshot) -> None:
        """Put the numbers of `snapshot` into the items."""
        matrices = self._matrices(snapshot)
        d = len(matrices[0])
        if self.settles(snapshot):
            largest = symmetric_levels(np.concatenate([matrix.ravel() for matrix in matrices]))[1]
            if not 0.8 * self._level < largest <= self._level:
                self._level = ceiling(largest * 1.05)
        levels = (-self._level, self._level)
        for plot, image, matrix in zip(self._plots, self._images, matrices, strict=True):
            plot.settle((0.0, float(d)), (0.0, float(d)))
            image.show(matrix, levels, diverging_map(), signed=True)
            places = [(x - 0.5, name) for x, name in ticks(d, 5 if d < TWO_FIGURES else 3)]
            plot.set_ticks("bottom", places)
            plot.set_ticks("left", places)
        self._bar.show_levels(levels, diverging_map())
        off = float(np.linalg.norm(matrices[0] - matrices[1]) / np.linalg.norm(matrices[0]))
        self._strip.say(f"‖learned − Σ/σ₁‖ / ‖Σ/σ₁‖ = {figure(off)}")

    def reading_at(self, at: QPointF) -> str:
        """Return the entry under the pointer."""
        if self.result is None:
            return ""
        for plot, name, matrix in zip(self._plots, self.NAMES, self._matrices(self.result), strict=True):
            if plot.vb.sceneBoundingRect().contains(at):
                point = plot.vb.mapSceneToView(at)
                i, j = int(np.floor(point.y())), int(np.floor(point.x()))
                if 0 <= i < len(matrix) and 0 <= j < len(matrix):
                    return f"{name}, row {i + 1}, column {j + 1}: {figure(float(matrix[i, j]))}"
        return ""

    def numbers(self, result: Snapshot) -> Table:
        """Return every entry, an entry a row."""
        sigma, learned = self._matrices(result)
        d = len(sigma)
        index = np.arange(1, d + 1).astype(np.float64)
        return ["row", "column", "Σ over σ_1", "learned map"], [
            np.repeat(index, d),
            np.tile(index, d),
            sigma.ravel(),
            learned.ravel(),
        ]
