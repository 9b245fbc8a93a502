"""Each head beside the middle of its null, and the distribution of z over heads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QWidget

from explorer.maths.evidence_names import BY_KEY, NULL_BY_KEY
from explorer.ui.theme import accent_pen, clean_brush, pen, scheme
from explorer.views.evidence_base import NULL_NAMES, EvidencePicture, restore
from explorer.views.picture import Table
from explorer.views.plot import Plot, span, up_from_zero
from explorer.views.points import Points, nearest
from explorer.views.strip import Part, Strip
from explorer.views.words import figure

if TYPE_CHECKING:
    from explorer.evidence import Findings

Array = NDArray[np.float64]
OBSERVED = "#0072B2"
NEAR = 12.0
CHARACTER, LEAST_WIDTH = 7, 220
"""Pixels of a character of a tick's name, and of all of them at the smallest."""


class EvidenceHeads(EvidencePicture):
    """Left, every head's measure beside its draws; right, how z is spread over heads."""

    name = "evidence_heads"
    title = "Heads against the null"
    help = (
        "Left, one place a head, layer by layer: the measure as a point, and as a bar the middle 95 % of "
        "what the null gives for that head. Right, the z-scores of all heads as a histogram, and as a "
        "dashed curve what heads would show if the null were all there is, deviation 1. A histogram that "
        "is wider than the curve and centred on 0 means that heads differ from the null both ways, and no "
        "mean says that. Key heads that serve several query heads count once. Heads of one model are not "
        "independent. Sources: Teo and Nguyen, arXiv 2406.13762; Sarıtaş and Yıldız, arXiv 2505.07908."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._key = "overlap"
        self._strip = Strip()
        self.heads_plot, self.z_plot = Plot(zoom=True), Plot()
        self._bars = pg.PlotCurveItem(connect="pairs", antialias=True)
        self._points, self._ring = Points("o", 6), Points("o", 12)
        self._chance = pg.InfiniteLine(0, angle=0)
        for item in (self._chance, self._bars, self._points, self._ring):
            self.heads_plot.addItem(item, ignoreBounds=True)
        self._histogram = pg.BarGraphItem(x=[], height=[], width=1)
        self._bell = pg.PlotCurveItem(antialias=True)
        self._limits = [pg.InfiniteLine(z, angle=90) for z in (-3, 3)]
        self._here = pg.InfiniteLine(0, angle=90)
        for item in (self._histogram, self._bell, *self._limits, self._here):
            self.z_plot.addItem(item, ignoreBounds=True)
        self.plot_items = [self.heads_plot, self.z_plot]
        self.canvas.addItem(self._strip, 0, 0, 1, 2)
        self.canvas.addItem(self.heads_plot, 1, 0)
        self.canvas.addItem(self.z_plot, 1, 1)
        for column, share in enumerate((3, 2)):
            self.canvas.ci.layout.setColumnStretchFactor(column, share)
            self.canvas.ci.layout.setColumnPreferredWidth(column, share)
        self._null = self._chooser(NULL_NAMES, "Null", "What the measure is compared with")
        self.recolour()

    def header_controls(self) -> QWidget:
        """Return the chooser of the null."""
        return self._null

    @property
    def null(self) -> str:
        """The null's key."""
        return str(self._null.currentData())

    def options(self) -> dict[str, Any]:
        """Return the null."""
        return {"null": self.null}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose a null."""
        restore(self._null, options, "null")

    def show_measure(self, key: str) -> None:
        """Draw another measure."""
        self._key = key
        self.redraw()

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        self._bars.setPen(pen(scheme().missing, 3))
        self._points.style(pen(scheme().background, 0.5), clean_brush(OBSERVED))
        self._ring.style(accent_pen(), None)
        self._chance.setPen(pen(scheme().secondary, 1, Qt.PenStyle.DotLine))
        self._histogram.setOpts(brush=clean_brush(OBSERVED), pen=pen(scheme().background, 1))
        self._bell.setPen(pen(scheme().text, 1.25, Qt.PenStyle.DashLine))
        for line in self._limits:
            line.setPen(pen(scheme().hairline, 1))
        self._here.setPen(accent_pen(1.5))

    def draw(self, findings: Findings) -> None:
        """Put the numbers into the items."""
        alone = findings.distinct.ravel()
        values = findings.measure(self._key).ravel()
        low, high = (part.ravel() for part in findings.interval(self.null, self._key))
        z = findings.score(self.null, self._key, "z").ravel()
        here = self._index(findings)
        self._draw_heads(findings, values, low, high, here)
        self._draw_z(z[alone], float(z[here]) if here is not None else math.nan)
        self._say(findings)

    def _index(self, findings: Findings) -> int | None:
        layer, head = self.place
        if layer not in findings.layers or head not in findings.heads:
            return None
        return findings.layers.index(layer) * len(findings.heads) + findings.heads.index(head)

    def _draw_heads(
        self, findings: Findings, values: Array, low: Array, high: Array, here: int | None
    ) -> None:
        places = np.arange(len(values), dtype=float)
        drawn = np.isfinite(low) & np.isfinite(high)
        ends = np.stack([low[drawn], high[drawn]], 1).ravel()
        self._bars.setData(np.repeat(places[drawn], 2), ends)
        self._points.move(places, values)
        chosen = np.array([] if here is None else [here], int)
        self._ring.move(places[chosen], values[chosen])
        chance = self._chance_overlap(findings)
        self._chance.setVisible(math.isfinite(chance))
        if math.isfinite(chance):
            self._chance.setPos(chance)
        wide = len(findings.heads)
        self.heads_plot.name_axes("layer, head by head", BY_KEY[self._key].label)
        names = findings.layer_names or tuple(map(str, findings.layers))
        every = max(1, math.ceil(sum(map(len, names)) * CHARACTER / LEAST_WIDTH))
        ticks = [(i * wide + (wide - 1) / 2, name) for i, name in enumerate(names)]
        self.heads_plot.set_ticks("bottom", ticks[::every])
        also = (chance,) if math.isfinite(chance) else ()
        self.heads_plot.settle((-1.0, float(len(values))), span(values, low, high, include=also))

    def _chance_overlap(self, findings: Findings) -> float:
        record = findings.record(*next(iter(findings.whole.heads())))
        if record is None or not self._key.startswith("overlap"):
            return math.nan
        return float(record["health"]["chance_overlap"])

    def _draw_z(self, z: Array, here: float) -> None:
        z = z[np.isfinite(z)]
        low, high = min(-4.0, math.floor(z.min(initial=0))), max(4.0, math.ceil(z.max(initial=0)))
        wide = max(0.5, (high - low) / 32)
        edges = np.arange(low, high + wide, wide)
        counts, _ = np.histogram(z, edges)
        bell = np.linspace(-4, 4, 81)
        expected = np.exp(-(bell**2) / 2) / math.sqrt(2 * math.pi) * len(z) * wide
        self._histogram.setOpts(x=edges[:-1] + wide / 2, height=counts, width=wide * 0.94)
        self._bell.setData(bell, expected)
        self._here.setVisible(math.isfinite(here))
        if math.isfinite(here):
            self._here.setPos(here)
        self.z_plot.name_axes(f"z, {NULL_NAMES[self.null]}", "heads")
        self.z_plot.settle((float(edges[0]), float(edges[-1])), up_from_zero(counts, expected))

    def _say(self, findings: Findings) -> None:
        reason = findings.whole.missing().get(self.null)
        known = self.null in findings.whole.nulls()
        spread = findings.spread(self.null, self._key) if known else None
        said: list[Part | str] = [
            Part("V", symbol="o", brush=clean_brush(OBSERVED)),
            Part("middle 95 % of the null", line=pen(scheme().missing, 3)),
            Part("null alone", line=pen(scheme().text, 1.25, Qt.PenStyle.DashLine)),
        ]
        if math.isfinite(self._chance_overlap(findings)):
            dotted = pen(scheme().secondary, 1, Qt.PenStyle.DotLine)
            said.append(Part("chance, Dv/(N − 1)", line=dotted))
        if reason:
            said.append(f"not drawn: {reason}")
        if spread is not None and spread.heads:
            said += [
                f"mean z {figure(spread.mean_z, 2)}, spread {figure(spread.std_z, 2)}",
                f"false discovery rate 5 %: {spread.discoveries} closer, {spread.discoveries_below} farther",
                f"{spread.draws} draws",
            ]
        self._strip.say(*said)

    def reading_at(self, at: QPointF) -> str:
        """Return a head's measure and its draws, or how many heads a bar holds."""
        findings = self.result
        if findings is None or not self.heads_plot.vb.sceneBoundingRect().contains(at):
            return ""
        point = self.heads_plot.vb.mapSceneToView(at)
        values = findings.measure(self._key).ravel()
        x = np.arange(len(values), dtype=float)
        place, _ = nearest(self._points, (point.x(), point.y()), x, values, NEAR)
        if place < 0:
            return ""
        row, column = divmod(place, len(findings.heads))
        low, high = (float(part[row, column]) for part in findings.interval(self.null, self._key))
        return (
            f"layer {findings.layers[row]}, head {findings.heads[column]}: {figure(float(values[place]))}; "
            f"{NULL_BY_KEY[self.null].short} {figure(low)} to {figure(high)}"
        )

    def numbers(self, result: Findings) -> Table:
        """Return the measure and the null's figures, a head a row."""
        low, high = result.interval(self.null, self._key)
        names = ["layer", "head", BY_KEY[self._key].label, "null: 2.5 %", "null: 97.5 %", "z", "p"]
        columns: list[Any] = [
            np.repeat(result.layers, len(result.heads)), np.tile(result.heads, len(result.layers)),
            result.measure(self._key).ravel(), low.ravel(), high.ravel(),
            *(result.score(self.null, self._key, name).ravel() for name in ("z", "p")),
        ]  # fmt: skip
        return names, columns
