"""The spectra of the pinned and of the present picture in one plot."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt

from explorer.comparison import label_of
from explorer.result import Result
from explorer.ui.theme import clean_brush, pen, scheme
from explorer.views.base import Table
from explorer.views.compare_base import CompareView
from explorer.views.plot import Plot, span
from explorer.views.points import Points
from explorer.views.strip import Part, Strip
from explorer.views.words import figure, subscript

Values = NDArray[np.float64]


class CompareSpectrum(CompareView):
    """log₁₀ γ_d of the keys as they are shown, contaminated where the level says so."""

    name = "compare-spectrum"
    title = "Spectra in one plot"
    help = (
        "The eigenvalues of the centred Gram matrix of the keys, pinned (hollow, dashed) and present (full). "
        "Each is of its own keys, contaminated where its level says so, and ends at its own tolerance. Equal "
        "spectra do not say that the axes are the same. Source: Teo and Nguyen, arXiv 2406.13762."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.plot = Plot()
        self.plot.name_axes("component <i>d</i>", "<i>γ<sub>d</sub></i> (log<sub>10</sub>)")
        self._lines = [pg.PlotCurveItem(antialias=True) for _ in range(2)]
        self._points = [Points("d", 7), Points("o", 5)]
        for item in (*self._lines, *self._points):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot_items = [self.plot]
        self.canvas.addItem(self._strip, 0, 0)
        self.canvas.addItem(self.plot, 1, 0)
        self.recolour()

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        self._pens = [
            pen(scheme().accent, 1.5, Qt.PenStyle.DashLine), pen(scheme().text, 1.5),
        ]  # fmt: skip
        self._brushes = [None, clean_brush(scheme().text)]
        for line, points, drawn, brush in zip(
            self._lines, self._points, self._pens, self._brushes, strict=True
        ):
            line.setPen(drawn)
            points.style(pen(drawn.color().name(), 1.25), brush)

    def draw(self, result: Result) -> None:
        """Put both spectra into the items."""
        both = self._spectra(result)
        for values, line, points in zip(both, self._lines, self._points, strict=True):
            d = np.arange(1.0, len(values) + 1)
            line.setData(d, values)
            points.move(d, values)
        if self.settles(result):
            self.plot.settle((0.4, max(4, *map(len, both)) + 0.6), span(*both, pad=0.12))
        labels = (f"pinned: {self.reference.label}", f"present: {label_of(result)}")
        symbols = ("d", "o")
        self._strip.say(
            *(
                Part(label, line=drawn, symbol=symbol, pen=pen(drawn.color().name(), 1.25), brush=brush)
                for label, drawn, symbol, brush in zip(
                    labels, self._pens, symbols, self._brushes, strict=True
                )
            )
        )

    def _spectra(self, result: Result) -> tuple[Values, Values]:
        return self.reference.result.moved.log10_values, result.moved.log10_values

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Mark nothing: no token is shown."""

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return nothing: no token is shown."""
        return []

    def reading_at(self, at: QPointF) -> str:
        """Return both eigenvalues at the component under the pointer."""
        if self.result is None or not self.plot.vb.sceneBoundingRect().contains(at):
            return ""
        d = round(self.plot.vb.mapSceneToView(at).x()) - 1
        said = [
            f"{word} {figure(values[d])}"
            for word, values in zip(("pinned", "present"), self._spectra(self.result), strict=True)
            if 0 <= d < len(values)
        ]
        return f"log₁₀ γ{subscript(d + 1)}: {', '.join(said)}" if said else ""

    def numbers(self, result: Result) -> Table:
        """Return both spectra, a component a row."""
        before, now = self._spectra(result)
        return ["component", "log10 gamma pinned", "log10 gamma present"], [
            np.arange(1, max(len(before), len(now)) + 1), before, now,
        ]  # fmt: skip
