"""The eigenvalues of the key Gram matrix, clean and contaminated, above their tolerances."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import Qt

from explorer.result import Result
from explorer.ui.theme import clean_brush, pen, scheme
from explorer.views.plot import Plot, span
from explorer.views.points import Points, nearest
from explorer.views.strip import Part
from explorer.views.words import percent, subscript, superscript

MANY = 60
"""From so many components on the symbols are smaller."""
NEAR = 10.0
PAD = 0.12


class EigenvaluePlot(Plot):
    """log₁₀ γ_d over d: clean filled, contaminated as rings, crossed where a vector is not identifiable."""

    def __init__(self) -> None:
        super().__init__()
        self.name_axes("component <i>d</i>", "<i>γ<sub>d</sub></i> (log<sub>10</sub>)")
        self.tolerance, self.moved_tolerance = (pg.InfiniteLine(0, angle=0) for _ in range(2))
        self.clean, self.moved, self.unsure = Points("o", 5), Points("o", 9), Points("x", 9)
        for item in (self.tolerance, self.moved_tolerance, self.clean, self.moved, self.unsure):
            self.addItem(item, ignoreBounds=True)
        self.recolour()

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        outline, full = pen(scheme().text, 1.25), clean_brush(scheme().text)
        cross = pen(scheme().error, 1.5)
        dashes = pen(scheme().secondary, 1, Qt.PenStyle.DashLine)
        dots = pen(scheme().secondary, 1, Qt.PenStyle.DotLine)
        self.clean.style(outline, full)
        self.moved.style(outline, None)
        self.unsure.style(cross, None)
        self.tolerance.setPen(dashes)
        self.moved_tolerance.setPen(dots)
        self._legend = (
            (self.clean, Part("clean", symbol="o", pen=outline, brush=full)),
            (self.moved, Part("contaminated", symbol="o", pen=outline)),
            (self.unsure, Part("vector not identifiable", symbol="x", pen=cross)),
            (self.tolerance, Part("tolerance", line=dashes)),
            (self.moved_tolerance, Part("tolerance, contaminated", line=dots)),
        )

    def draw(self, result: Result) -> None:
        """Put the eigenvalues of `result` into the items."""
        clean, moved = _values(result)
        many = max(len(clean), len(moved)) > MANY
        self.clean.resize(3 if many else 5)
        self.moved.resize(6 if many else 9)
        self.clean.move(_numbered(clean), clean)
        self.moved.move(_numbered(moved), moved)
        unsure = np.flatnonzero(~result.clean.identifiable[: len(clean)])
        self.unsure.move(_numbered(clean)[unsure], clean[unsure])
        low, high = span(clean, moved, pad=PAD)
        tolerances = (result.clean.log10_tolerance, result.moved.log10_tolerance if len(moved) else np.nan)
        for line, value in zip((self.tolerance, self.moved_tolerance), tolerances, strict=True):
            leaves_half = bool(np.isfinite(value)) and value > low - (high - low)
            line.setVisible(leaves_half)
            if leaves_half:
                line.setPos(value)

    def rest(self, result: Result) -> None:
        """Let the range show everything."""
        clean, moved = _values(result)
        lines = (self.tolerance, self.moved_tolerance)
        floor = tuple(line.value() for line in lines if line.isVisible())
        count = max(len(clean), len(moved), 4)
        self.settle((0.4, count + 0.6), span(clean, moved, pad=PAD, include=floor))

    def parts(self, result: Result) -> list[Part]:
        """Return what the symbols in the plot mean, and the tolerance where it is far below it."""
        parts = [part for item, part in self._legend if item.isVisible()]
        tolerance = result.clean.log10_tolerance
        if not self.tolerance.isVisible() and np.isfinite(tolerance):
            parts.append(Part(f"tolerance 10{superscript(round(tolerance))}, far below"))
        return parts

    def reading(self, result: Result, x: float, y: float) -> str:
        """Return the eigenvalue at a place of the plot, and its share of the variance."""
        clean, moved = _values(result)
        d, _ = nearest(self.clean, (x, y), _numbered(clean), clean, NEAR)
        if d < 0:
            return ""
        share, total = result.clean.share[d], result.clean.share[: d + 1].sum()
        more = f", contaminated {moved[d]:.2f}" if d < len(moved) else ""
        return (
            f"log₁₀ γ{subscript(d + 1)} = {clean[d]:.2f}{more}; {percent(share)} of the variance, "
            f"{percent(total)} with those before it"
        )


def _values(result: Result) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log₁₀ γ_d, clean and contaminated (none where nothing is)."""
    moved = result.moved.log10_values if result.is_moved else np.empty(0)
    return result.clean.log10_values, moved


def _numbered(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1, 2, … for the components."""
    return np.arange(1, len(values) + 1, dtype=np.float64)
