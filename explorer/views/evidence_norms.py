"""Norms in feature space against norms of the learned output: of all heads, or of one head's tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QWidget

from explorer.ui.theme import accent_pen, clean_brush, contaminated_brush, pen, scheme
from explorer.views.evidence_base import EvidencePicture, restore
from explorer.views.picture import Table
from explorer.views.plot import Plot, span
from explorer.views.points import Points, nearest
from explorer.views.strip import Part, Strip
from explorer.views.words import figure

if TYPE_CHECKING:
    from explorer.evidence import Findings

Array = NDArray[np.float64]
OF = {"heads": "means of heads", "tokens": "tokens of this head"}
LEARNED, TRUE = "#0072B2", "#D55E00"
NEAR = 12.0


class EvidenceNorms(EvidencePicture):
    """log₁₀ ‖φ(q)‖² to the right, log₁₀ ‖h‖² up: equal on the diagonal."""

    name = "evidence_norms"
    title = "Norms, log₁₀"
    help = (
        "Each head is placed by log₁₀ of the mean of ‖φ(q)‖² (to the right) and of ‖h‖² (up): filled, h is "
        "the head's learned output; hollow, h is the projection on the true principal axes, which cannot "
        "lie above the diagonal. The paper's projection error is the difference of the two norms: far from "
        "the diagonal it is the larger norm and nothing else, and above it, negative. A small error on the "
        "true axes says that the axes hold the queries, not that V is V*. Sources: Teo and Nguyen, arXiv "
        "2406.13762; Sarıtaş and Yıldız, arXiv 2505.07908."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.plot = Plot(zoom=True)
        self._equal = pg.PlotCurveItem(antialias=True)
        self._true, self._learned, self._ring = Points("o", 7), Points("o", 7), Points("o", 13)
        for item in (self._equal, self._true, self._learned, self._ring):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot_items = [self.plot]
        self.canvas.addItem(self._strip, 0, 0)
        self.canvas.addItem(self.plot, 1, 0)
        self._of = self._chooser(OF, "Norms of", "Means of all heads, or every token of the chosen head")
        self.recolour()

    def header_controls(self) -> QWidget:
        """Return the chooser of heads or tokens."""
        return self._of

    def options(self) -> dict[str, Any]:
        """Return whether heads or tokens are drawn."""
        return {"of": str(self._of.currentData())}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose heads or tokens."""
        restore(self._of, options, "of")

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        self._equal.setPen(pen(scheme().secondary, 1, Qt.PenStyle.DashLine))
        self._learned.style(pen(scheme().background, 0.5), clean_brush(LEARNED))
        self._true.style(pen(TRUE, 1.25), contaminated_brush())
        self._ring.style(accent_pen(), None)

    def _places(self, findings: Findings) -> tuple[Array, Array, Array]:
        """Return ‖φ‖², learned ‖h‖² and projected ‖h‖², log₁₀, of heads or tokens."""
        if self._of.currentData() == "tokens":
            phi, output = findings.norms_of(*self.place)
            return phi, output, np.full(len(phi), np.nan)
        phi, output, true = (
            findings.projection(f"log10_{name}").ravel() for name in ("phi", "output", "projection")
        )
        return phi, output, true

    def draw(self, findings: Findings) -> None:
        """Put the numbers into the items."""
        phi, output, true = self._places(findings)
        tokens = self._of.currentData() == "tokens"
        self._learned.move(phi, output)
        self._true.move(phi, true)
        x, y = span(phi), span(output, true)
        both = max(x[0], y[0]), min(x[1], y[1])
        self._equal.setVisible(both[0] < both[1])
        self._equal.setData(np.array(both), np.array(both))
        self.plot.name_axes("‖φ(<i>q</i>)‖² (log₁₀)", "‖<i>h</i>‖² (log₁₀)")
        self.plot.settle(x, y)
        here = np.empty(0, int) if tokens else self._chosen(findings)
        self._ring.move(phi[here], output[here])
        layer, head = self.place
        self._strip.say(
            Part("learned output", symbol="o", brush=clean_brush(LEARNED)),
            "" if tokens else Part("on the true axes", symbol="o", pen=pen(TRUE, 1.25)),
            Part("equal", line=pen(scheme().secondary, 1, Qt.PenStyle.DashLine)),
            f"layer {layer}, head {head}: {len(phi)} tokens" if tokens else self._error(findings),
        )

    def _chosen(self, findings: Findings) -> NDArray[np.int64]:
        layer, head = self.place
        if layer not in findings.layers or head not in findings.heads:
            return np.empty(0, np.int64)
        return np.array([findings.layers.index(layer) * len(findings.heads) + findings.heads.index(head)])

    def _error(self, findings: Findings) -> str:
        """Say both forms of the chosen head's projection error."""
        record = findings.record(*self.place)
        if record is None:
            return ""
        found = record["projections"]
        sign = ", negative" if found["sign_error_learned"] < 0 else ""
        return (
            f"error (log₁₀): true axes {figure(found['log10_error_axes'], 2)}, "
            f"learned {figure(found['log10_error_learned'], 2)}{sign}"
        )

    def reading_at(self, at: QPointF) -> str:
        """Return a head's or a token's norms."""
        findings = self.result
        if findings is None or not self.plot.vb.sceneBoundingRect().contains(at):
            return ""
        point = self.plot.vb.mapSceneToView(at)
        phi, output, true = self._places(findings)
        place, _ = nearest(self._learned, (point.x(), point.y()), phi, output, NEAR)
        if place < 0:
            return ""
        if self._of.currentData() == "tokens":
            where = f"token {place}"
        else:
            row, column = divmod(place, len(findings.heads))
            where = f"layer {findings.layers[row]}, head {findings.heads[column]}"
        both = f"‖φ‖² {figure(float(phi[place]))}, learned ‖h‖² {figure(float(output[place]))}"
        on_axes = f", on the true axes {figure(float(true[place]))}" if np.isfinite(true[place]) else ""
        return f"{where}, log₁₀: {both}{on_axes}"

    def numbers(self, result: Findings) -> Table:
        """Return norms and both errors, a head a row; then the chosen head's tokens."""
        keys = ("phi", "output", "projection", "error_axes", "error_learned")
        names = ["layer", "head", *(f"log10 {key}" for key in keys), "sign of error_learned"]
        columns: list[Any] = [
            np.repeat(result.layers, len(result.heads)), np.tile(result.heads, len(result.layers)),
            *(result.projection(f"log10_{key}").ravel() for key in keys),
            result.projection("sign_error_learned").ravel(),
        ]  # fmt: skip
        layer, head = self.place
        names += [f"log10 ‖{what}‖² of tokens, layer {layer}, head {head}" for what in ("φ", "h")]
        return names, [*columns, *result.norms_of(layer, head)]
