"""What a sweep has found so far: alignment over one parameter, or the phase diagram over (c, θ)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsPathItem, QWidget

from explorer.lab.experiments import Cell, Phase, Point, Sweep
from explorer.lab.figures import LOGARITHMIC, SYMBOLS, described
from explorer.lab.tables import Band, grid, head_bands, limit_curve, pca_band
from explorer.ui.theme import clean_brush, pen, scheme, sequential_map
from explorer.views.colorbar import ColorBar
from explorer.views.lab_view import COLOURS, curve, provenance
from explorer.views.matrix_image import MatrixImage
from explorer.views.picture import Picture, Provenance, Table
from explorer.views.plot import Plot
from explorer.views.points import Points
from explorer.views.strip import Part, Strip
from explorer.views.words import figure

NOTHING_YET = "Choose what to vary and press Sweep: heads are trained from scratch, seed by seed."
DASHES = {"softmax": Qt.PenStyle.SolidLine, "linear": Qt.PenStyle.DashLine}


@dataclass(frozen=True)
class Found:
    """What is known so far of one experiment.

    Attributes
    ----------
    plan : Sweep or Phase
    rows : tuple of Point or Cell
    """

    plan: Sweep | Phase
    rows: tuple[Point, ...] | tuple[Cell, ...]


class SweepView(Picture):
    """Mean and range over seeds, or cos² as colour with the theoretical boundary.

    Parameters
    ----------
    controls : QWidget
        What starts a sweep, for the header.

    Attributes
    ----------
    result : Found or None
    """

    name = "lab-sweep"
    title = "Sweep"
    help = (
        "Each dot: heads trained from scratch, the mean over seeds; the band is their range. Dashed grey: "
        "sample PCA of one held-out prompt; dotted: its limit (Baik–Ben Arous–Péché), where Σ = I + θvvᵀ is "
        "fixed. The phase diagram trains each head on the same n = d/c tokens at every step, so that it can "
        "be held against the limit of sample PCA on n tokens: colour is cos² between m and the spike v, the "
        "line is θ = √c, under which the limit is 0. At finite d the boundary is blurred. A sweep does not "
        "disturb the training beside it; it trains at λ as set, also where that is past the transition. "
        "Sources: Maulen-Soto and Boyer, arXiv 2605.18315; Baik, Ben Arous and Péché, 2005; Paul, 2007."
    )

    def __init__(self, controls: QWidget) -> None:
        super().__init__()
        self.result: Found | None = None
        self._controls = controls
        self.furnish(NOTHING_YET)
        self.canvas.setAccessibleName(self.title)

    def header_controls(self) -> QWidget:
        """Return what starts a sweep."""
        return self._controls

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.plot, self._map = Plot(), Plot()
        self._bands = {kind: QGraphicsPathItem() for kind in COLOURS}
        self._lines = {kind: curve() for kind in COLOURS}
        self._dots = {kind: Points("o", 7) for kind in COLOURS}
        self._pca, self._limit = curve(), curve()
        for item in (
            *self._bands.values(),
            self._pca,
            self._limit,
            *self._lines.values(),
            *self._dots.values(),
        ):
            self.plot.addItem(item, ignoreBounds=True)
        self._image = MatrixImage(self._map)
        self._veil, self._boundary = curve(), curve()
        for line in (self._veil, self._boundary):
            self._map.addItem(line, ignoreBounds=True)
        self._bar = ColorBar()
        self._bar.show_levels((0.0, 1.0), sequential_map())
        self.canvas.addItem(self._strip, 0, 0, 1, 2)
        self.plot_items = [self.plot, self._map, self._bar]
        self._place(False)
        self.recolour()

    def _place(self, diagram: bool) -> None:
        """Put the curves or the diagram into the layout."""
        layout = self.canvas.ci
        for item in (self.plot, self._map, self._bar):
            if item in layout.items:
                layout.removeItem(item)
        if diagram:
            layout.addItem(self._map, 1, 0)
            layout.addItem(self._bar, 1, 1)
        else:
            layout.addItem(self.plot, 1, 0, 1, 2)
        self._diagram = diagram

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        for kind, colour in COLOURS.items():
            fill = QColor(colour)
            fill.setAlpha(48)
            self._bands[kind].setBrush(fill)
            self._bands[kind].setPen(QPen(Qt.PenStyle.NoPen))
            self._lines[kind].setPen(pen(colour, 1.75, DASHES[kind]))
            self._dots[kind].style(pen(scheme().background, 1), clean_brush(colour))
        self._pca.setPen(pen(scheme().secondary, 1.5, Qt.PenStyle.DashLine))
        self._limit.setPen(pen(scheme().text, 1.5, Qt.PenStyle.DotLine))
        self._veil.setPen(pen("#FFFFFF", 4))
        self._boundary.setPen(pen("#1A1C1F", 2, Qt.PenStyle.DashLine))
        self._image.recolour()

    def show_found(self, found: Found) -> None:
        """Draw what is known so far."""
        if not found.rows:
            self.show_nothing("The first heads are being trained.")
            return
        self.result = found
        diagram = isinstance(found.plan, Phase)
        if diagram != self._diagram:
            self._place(diagram)
        if isinstance(found.plan, Phase):
            self._draw_phase(found.plan, found.rows)  # type: ignore[arg-type]
        else:
            self._draw_sweep(found.plan, found.rows)  # type: ignore[arg-type]
        self.show_picture()

    def redraw(self) -> None:
        """Draw the same again."""
        if self.result is not None:
            self.show_found(self.result)

    def _draw_sweep(self, sweep: Sweep, points: Sequence[Point]) -> None:
        log = sweep.over in LOGARITHMIC
        bands = head_bands(points)
        for kind, line in self._lines.items():
            band = bands.get(kind)
            x = np.empty(0) if band is None else _across(band.values, log)
            y = np.empty(0) if band is None else band.mean
            line.setData(x, y)
            self._dots[kind].move(x, y)
            self._bands[kind].setPath(QPainterPath() if band is None else _band(band, log))
        pca, limit = pca_band(points), limit_curve(points)
        self._pca.setData(_across(pca.values, log), pca.mean)
        self._limit.setData(_across(limit.values, log), limit.mean)
        values = np.array(sorted(sweep.values))
        places = _across(values, log)
        margin = 0.04 * float(places[-1] - places[0]) or 0.5
        self.plot.settle((float(places[0]) - margin, float(places[-1]) + margin), (0.0, 1.03))
        step = 1 + (len(values) - 1) // 8
        named = [(float(x), f"{v:g}") for x, v in zip(places, values, strict=True)][::step]
        self.plot.set_ticks("bottom", named)
        self.plot.name_axes(SYMBOLS[sweep.over], "|cos| with the direction")
        parts: list[Part | str] = [Part(kind, line=self._lines[kind].opts["pen"]) for kind in bands]
        parts.append(Part("sample PCA of one prompt", line=self._pca.opts["pen"]))
        if len(limit.values):
            parts.append(Part("its limit (Baik–Ben Arous–Péché)", line=self._limit.opts["pen"]))
        self._strip.say(*parts, described(sweep.setting, sweep.over), f"{len(points)} of {sweep.runs} runs")

    def _draw_phase(self, phase: Phase, cells: Sequence[Cell]) -> None:
        cs, thetas = np.array(sorted(phase.cs)), np.array(sorted(phase.thetas))
        values = grid(cells, phase.cs, phase.thetas)[::-1]
        rows, columns = values.shape
        self._map.settle((0.0, float(columns)), (0.0, float(rows)))
        self._image.show(values, (0.0, 1.0), sequential_map(), signed=False)
        self._map.name_axes("c = d/n", "θ, strength of the spike")
        every = 1 + (columns - 1) // 8
        self._map.set_ticks("bottom", [(j + 0.5, f"{c:g}") for j, c in enumerate(cs)][::every])
        every = 1 + (rows - 1) // 8
        self._map.set_ticks("left", [(rows - i - 0.5, f"{t:g}") for i, t in enumerate(thetas)][::every])
        line = np.geomspace(cs[0] / 2, cs[-1] * 2, 200)
        x = np.interp(np.log(line), np.log(cs), np.arange(columns) + 0.5, left=np.nan, right=np.nan)
        y = rows - np.interp(np.sqrt(line), thetas, np.arange(rows) + 0.5, left=np.nan, right=np.nan)
        for curve_item in (self._veil, self._boundary):
            curve_item.setData(x, y)
        self._strip.say(
            f"cos² of m and v, {phase.kind} head, n = d/c tokens of I + θvvᵀ, d = {phase.d}",
            Part("θ = √c: below, sample PCA sees nothing", line=self._boundary.opts["pen"]),
            f"{len(cells)} of {phase.runs} cells, {phase.seeds} seeds",
        )

    def reading_at(self, at: QPointF) -> str:
        """Return the value under the pointer."""
        if self.result is None:
            return ""
        plan = self.result.plan
        plot = self._map if isinstance(plan, Phase) else self.plot
        if not plot.vb.sceneBoundingRect().contains(at):
            return ""
        point = plot.vb.mapSceneToView(at)
        if isinstance(plan, Phase):
            return self._cell_at(plan, point)
        rows: list[Point] = list(self.result.rows)  # type: ignore[arg-type]
        log = plan.over in LOGARITHMIC
        value = min(plan.values, key=lambda v: abs(float(_across(np.array([v]), log)[0]) - point.x()))
        found = [row for row in rows if row.value == value]
        means = {kind: [row.alignment for row in found if row.kind == kind] for kind in plan.kinds}
        told = [f"{kind} {figure(float(np.mean(own)))}" for kind, own in means.items() if own]
        return f"{value:g}: {', '.join(told)}" if told else ""

    def _cell_at(self, phase: Phase, point: QPointF) -> str:
        assert self.result is not None
        cs, thetas = sorted(phase.cs), sorted(phase.thetas)
        j, i = math.floor(point.x()), len(thetas) - 1 - math.floor(point.y())
        if not (0 <= i < len(thetas) and 0 <= j < len(cs)):
            return ""
        for cell in self.result.rows:
            if isinstance(cell, Cell) and (cell.c, cell.theta) == (cs[j], thetas[i]):
                return (
                    f"c = {cell.c:g}, θ = {cell.theta:g}: cos² {figure(cell.alignment)}, sample PCA "
                    f"{figure(cell.pca)}, limit {figure(cell.limit)}"
                )
        return "not trained yet"

    def numbers(self, result: Found) -> Table:
        """Return every run or cell, one a row."""
        names = list(asdict(result.rows[0]))
        columns = [_column([getattr(row, name) for row in result.rows]) for name in names]
        return names, columns

    def provenance(self) -> Provenance:
        """Return the experiment."""
        assert self.result is not None
        plan = self.result.plan
        if isinstance(plan, Phase):
            return Provenance("laboratory: phase diagram", asdict(plan), "float32 on CPU")
        return provenance(plan.setting, f"sweep over {plan.over}, {plan.steps} steps, float32 on CPU")


def _across(values: np.ndarray, log: bool) -> np.ndarray:
    return np.log10(values) if log else np.asarray(values, float)


def _band(band: Band, log: bool) -> QPainterPath:
    x = _across(band.values, log)
    corners = [*zip(x, band.high, strict=True), *zip(x[::-1], band.low[::-1], strict=True)]
    path = QPainterPath()
    path.addPolygon(QPolygonF([QPointF(float(a), float(b)) for a, b in corners]))
    return path


def _column(values: list[object]) -> list[str] | np.ndarray:
    if isinstance(values[0], str):
        return [str(value) for value in values]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
