"""The γ test by component: whether columns recovered from the learned values behave as eigenvectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPen

from explorer.ui.theme import accent_pen, pen, scheme
from explorer.views.evidence_base import EvidencePicture
from explorer.views.picture import Table
from explorer.views.plot import Plot, up_from_zero
from explorer.views.strip import Part, Strip
from explorer.views.words import figure

if TYPE_CHECKING:
    from explorer.evidence import Findings

Array = NDArray[np.float64]
READINGS = {"learned": "columns from the learned V", "eigenvectors": "eigenvectors (check of the solver)"}
COLOURS = {"learned": "#0072B2", "eigenvectors": "#D55E00"}


class EvidenceGamma(EvidencePicture):
    """Relative spread of γ_i over tokens by component: medians over heads, a band, and the chosen head."""

    name = "evidence_gamma"
    title = "γ by component"
    help = (
        "γ_i = (K̃a)_i/a_i is one number for all tokens i where a is an eigenvector of the centred Gram "
        "matrix K̃. Drawn is the mean over pairs of tokens of |γ_i − γ_j| over the larger, by component: 0 "
        "for an eigenvector. Solid, the columns â = g V that the learned values would be eigenvectors as; "
        "dashed, the eigenvectors themselves, which only checks the solver and says nothing of the claim. "
        "The line is the median over heads, the band 10 to 90 %, the accent line the chosen head. γ sees "
        "every map of the values, so a spread does not rule out V* up to a rotation. Sources: Teo and "
        "Nguyen, arXiv 2406.13762; Sarıtaş and Yıldız, arXiv 2505.07908."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.plot = Plot(zoom=True)
        self.plot.name_axes("component <i>d</i>", "mean |γ<sub>i</sub> − γ<sub>j</sub>| / larger")
        self._edges = {name: (pg.PlotCurveItem(), pg.PlotCurveItem()) for name in READINGS}
        self._bands = {name: pg.FillBetweenItem(*edges) for name, edges in self._edges.items()}
        self._lines = {name: pg.PlotCurveItem(connect="finite", antialias=True) for name in READINGS}
        self._here = pg.PlotCurveItem(connect="finite", antialias=True)
        for item in (*self._bands.values(), *self._lines.values(), self._here):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot_items = [self.plot]
        self.canvas.addItem(self._strip, 0, 0)
        self.canvas.addItem(self.plot, 1, 0)
        self.recolour()

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        for name, line in self._lines.items():
            line.setPen(_pen(name))
            colour = QColor(COLOURS[name])
            colour.setAlpha(48)
            self._bands[name].setBrush(colour)
            for edge in self._edges[name]:
                edge.setPen(QPen(Qt.PenStyle.NoPen))
        self._here.setPen(accent_pen(1.5))

    def draw(self, findings: Findings) -> None:
        """Put the numbers into the items."""
        highest = [np.ones(1)]
        for name in READINGS:
            low, middle, high = quantiles(findings.gamma(name))
            x = np.arange(1, len(middle) + 1, dtype=float)
            known = np.isfinite(middle)
            for edge, values in zip(self._edges[name], (low, high), strict=True):
                edge.setData(x[known], values[known])
            self._lines[name].setData(x, middle)
            highest.append(high)
        here = findings.gamma_of(*self.place, "learned")
        self._here.setData(np.arange(1, len(here) + 1, dtype=float), here)
        count = max(len(line.getData()[0]) for line in self._lines.values())
        self.plot.settle((0.5, count + 0.5), up_from_zero(*highest, here))
        layer, head = self.place
        self._strip.say(
            *(Part(words, line=_pen(name)) for name, words in READINGS.items()),
            Part(f"layer {layer}, head {head}", line=accent_pen(1.5)) if len(here) else "",
        )

    def reading_at(self, at: QPointF) -> str:
        """Return the spreads at a component."""
        findings = self.result
        if findings is None or not self.plot.vb.sceneBoundingRect().contains(at):
            return ""
        d = round(self.plot.vb.mapSceneToView(at).x()) - 1
        rows = {name: quantiles(findings.gamma(name))[1] for name in READINGS}
        here = findings.gamma_of(*self.place, "learned")
        if not 0 <= d < max(map(len, rows.values())):
            return ""
        parts = [f"{READINGS[name]} {figure(float(row[d]), 2)}" for name, row in rows.items() if d < len(row)]
        own = f"; this head {figure(float(here[d]), 2)}" if d < len(here) else ""
        return f"component {d + 1}, medians: {', '.join(parts)}{own}"

    def numbers(self, result: Findings) -> Table:
        """Return quantiles over heads and the chosen head, a component a row."""
        names, columns = ["component"], []
        for name in READINGS:
            names += [f"{name}, {share}" for share in ("10 %", "median", "90 %")]
            columns += list(quantiles(result.gamma(name)))
        layer, head = self.place
        for key, words in (("relative_mean", "relative"), ("absolute_mean_log10", "log10 absolute")):
            names.append(f"layer {layer}, head {head}, {words}")
            columns.append(result.gamma_of(layer, head, "learned", key))
        table: list[Any] = [np.arange(1, max(map(len, columns)) + 1), *columns]
        return names, table


def quantiles(rows: Array) -> Array:
    """Return 10, 50 and 90 % over heads of each column; NaN where no head has one."""
    found = np.full((3, rows.shape[1]), np.nan)
    known = np.isfinite(rows).any(0)
    if known.any():
        found[:, known] = np.nanquantile(rows[:, known], [0.1, 0.5, 0.9], axis=0)
    return found


def _pen(name: str) -> QPen:
    style = Qt.PenStyle.SolidLine if name == "learned" else Qt.PenStyle.DashLine
    return pen(COLOURS[name] if name in COLOURS else scheme().text, 1.75, style)
