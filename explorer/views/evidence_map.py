"""Layers × heads, coloured by a measure of V against V*, or by how far it is from a null."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtWidgets import QGraphicsRectItem, QWidget

from explorer.maths.evidence_names import BY_KEY, MEASURES, NULL_BY_KEY
from explorer.ui.theme import accent_pen, clean_brush, diverging_map, pen, scheme, sequential_map
from explorer.views.colorbar import ColorBar, as_high_as
from explorer.views.evidence_base import NULL_NAMES, EvidencePicture, restore, row_of
from explorer.views.matrix_image import MatrixImage
from explorer.views.picture import Table
from explorer.views.plot import Plot
from explorer.views.points import Points
from explorer.views.strip import Part, Strip
from explorer.views.words import figure

if TYPE_CHECKING:
    from explorer.evidence import Findings

VALUE = "value"
SHOWN = {VALUE: "as measured"} | {key: f"z: {name}" for key, name in NULL_NAMES.items()}
LARGEST_Z = 8.0
UNIT_RANGE = ("overlap", "linear_cka", "kernel_cka")


class EvidenceMap(EvidencePicture):
    """The measure or its z, head by head; a click chooses a head, a double click opens it.

    Signals
    -------
    head_chosen(int, int)
        Layer and head.
    head_opened(int, int)
    measure_changed(str)
    """

    name = "evidence_map"
    title = "V against V*"
    help = (
        "Each cell is one query head: a measure of agreement between its learned values V and the values V* "
        "that kernel PCA of its keys prescribes, or its z-score, the distance from the mean of a null in "
        "deviations of the null, positive where V is closer to V*. A dot marks heads that differ from the "
        "null at a false discovery rate of 5 % over heads. A measure as it stands means nothing without a "
        "null, and being above shuffled tokens is not being V*: any linear map of the same tokens is related "
        "to the keys too, so look at the random projection. Sources: Teo and Nguyen, arXiv 2406.13762; "
        "Sarıtaş and Yıldız, arXiv 2505.07908."
    )

    head_chosen = Signal(int, int)
    head_opened = Signal(int, int)
    measure_changed = Signal(str)

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.plot = Plot()
        self._map = MatrixImage(self.plot)
        self._found, self._found_halo = Points("o", 5), Points("o", 8)
        self._box_halo, self._box = QGraphicsRectItem(), QGraphicsRectItem()
        for item in (self._found_halo, self._found, self._box_halo, self._box):
            self.plot.addItem(item, ignoreBounds=True)
        self._bar = ColorBar()
        self.plot_items = [self.plot, self._bar]
        self.canvas.addItem(self._strip, 0, 0, 1, 2)
        self.canvas.addItem(self.plot, 1, 0)
        self.canvas.addItem(self._bar, 1, 1)
        as_high_as(self._bar, self.plot, self.canvas.ci.layout)
        self._measure = self._chooser(
            {measure.key: measure.label for measure in MEASURES}, "Measure", "Which measure of V against V*"
        )
        self._shown = self._chooser(SHOWN, "Shown", "The measure as it stands, or its z-score against a null")
        self._measure.currentIndexChanged.connect(lambda: self.measure_changed.emit(self.measure))
        self.recolour()

    def header_controls(self) -> QWidget:
        """Return the choosers of the measure and of what is shown of it."""
        return row_of(self._measure, self._shown)

    @property
    def measure(self) -> str:
        """The measure's key."""
        return str(self._measure.currentData())

    @property
    def shown(self) -> str:
        """Which number: "value", or the key of the null against which z is."""
        return str(self._shown.currentData())

    def options(self) -> dict[str, Any]:
        """Return the measure and what is shown of it."""
        return {"measure": self.measure, "shown": self.shown}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose a measure and what is shown of it."""
        restore(self._measure, options, "measure")
        restore(self._shown, options, "shown")

    def recolour(self) -> None:
        """Take pens and colours of the scheme again."""
        self._map.recolour()
        self._box_halo.setPen(pen(scheme().background, 5))
        self._box.setPen(accent_pen(2.5))
        self._found_halo.style(None, clean_brush("#FFFFFF"))
        self._found.style(None, clean_brush("#1A1C1F"))

    def values(self, findings: Findings) -> np.ndarray:
        """Return what the colours are of; (layers, heads), NaN where it is not known."""
        if self.shown == VALUE:
            return findings.measure(self.measure)
        return findings.score(self.shown, self.measure, "z")

    def draw(self, findings: Findings) -> None:
        """Put the numbers into the items."""
        values = self.values(findings)
        levels, colours = self._levels(values)
        rows, columns = values.shape
        self.plot.settle((0.0, float(columns)), (0.0, float(rows)))
        self.plot.name_axes("head", "layer")
        self._map.show(values, levels, colours, signed=self.shown != VALUE)
        self._bar.show_levels(levels, colours)
        self._name_cells(findings)
        self._mark(findings)
        self._say(findings, values)

    def _levels(self, values: np.ndarray) -> tuple[tuple[float, float], Any]:
        if self.shown != VALUE:
            return (-LARGEST_Z, LARGEST_Z), diverging_map()
        known = values[np.isfinite(values)]
        if self.measure.startswith(UNIT_RANGE) or not len(known):
            return (0.0, 1.0), sequential_map()
        if self.measure.startswith("cosine"):
            return (-1.0, 1.0), diverging_map()
        return (0.0, max(1.0, math.ceil(float(known.max())))), sequential_map()

    def _name_cells(self, findings: Findings) -> None:
        rows = findings.layer_names or tuple(map(str, findings.layers))
        columns = findings.head_names or tuple(map(str, findings.heads))
        every = max(1, math.ceil(len(columns) * (14 if not findings.head_names else 1) / 420))
        self.plot.set_ticks("left", [(i + 0.5, name) for i, name in enumerate(rows)][:: _sparse(len(rows))])
        self.plot.set_ticks("bottom", [(i + 0.5, name) for i, name in enumerate(columns)][::every])
        self.plot.getAxis("left").setWidth(72 if findings.layer_names else 40)

    def _mark(self, findings: Findings) -> None:
        layer, head = self.place
        inside = layer in findings.layers and head in findings.heads
        for box in (self._box_halo, self._box):
            box.setVisible(inside)
            if inside:
                box.setRect(QRectF(findings.heads.index(head), findings.layers.index(layer), 1, 1))
        found = np.zeros((0, 2), int)
        if self.shown != VALUE:
            found = np.argwhere(findings.survivors(self.shown, self.measure))
        for points in (self._found_halo, self._found):
            points.move(found[:, 1] + 0.5, found[:, 0] + 0.5)

    def _say(self, findings: Findings, values: np.ndarray) -> None:
        measure = BY_KEY[self.measure]
        known = int(np.isfinite(values).sum())
        inputs = findings.whole.samples
        self._strip.say(
            f"{known} of {values.size} heads" if known < values.size else f"{known} heads",
            f"mean over {inputs} inputs" if inputs > 1 else "",
            self._legend(findings) if self.shown != VALUE else _toward(measure.better),
            self._missing(findings),
        )

    def _legend(self, findings: Findings) -> Part | str:
        if self.shown not in findings.whole.nulls():
            return ""
        draws = findings.draws[self.shown].get(self.measure, 0)
        return Part(
            f"false discovery rate 5 %, {draws} draws", symbol="o", pen=pen(scheme().secondary, 1),
            brush=clean_brush("#1A1C1F"),
        )  # fmt: skip

    def _missing(self, findings: Findings) -> str:
        reason = findings.whole.missing().get(self.shown, "")
        return f"not drawn: {reason}" if reason else ""

    def cell_at(self, at: QPointF) -> tuple[int, int] | None:
        """Return layer and head at a point of the scene; None beside the map."""
        if self.result is None or not self.plot.vb.sceneBoundingRect().contains(at):
            return None
        point = self.plot.vb.mapSceneToView(at)
        row, column = math.floor(point.y()), math.floor(point.x())
        if 0 <= row < len(self.result.layers) and 0 <= column < len(self.result.heads):
            return self.result.layers[row], self.result.heads[column]
        return None

    def reading_at(self, at: QPointF) -> str:
        """Return a head's number with its null."""
        cell, findings = self.cell_at(at), self.result
        if cell is None or findings is None:
            return ""
        row, column = findings.layers.index(cell[0]), findings.heads.index(cell[1])
        layer = findings.layer_names[row] if findings.layer_names else str(cell[0])
        head = findings.head_names[column] if findings.head_names else str(cell[1])
        value = figure(float(findings.measure(self.measure)[row, column]))
        text = f"layer {layer}, head {head}: {BY_KEY[self.measure].label} {value}"
        if self.shown == VALUE:
            return text
        mean, std, z, p = (
            figure(float(findings.score(self.shown, self.measure, name)[row, column]), 2)
            for name in ("mean", "std", "z", "p")
        )
        return f"{text}, {NULL_BY_KEY[self.shown].short} {mean} ± {std}: z = {z}, p = {p}"

    def _click(self, event: Any) -> None:
        cell = self.cell_at(event.scenePos())
        if cell is None or event.button() != Qt.MouseButton.LeftButton:
            return
        (self.head_opened if event.double() else self.head_chosen).emit(*cell)

    def numbers(self, result: Findings) -> Table:
        """Return the measure, and its standing against every null, a head a row."""
        rows, columns = len(result.layers), len(result.heads)
        names = ["layer", "head", BY_KEY[self.measure].label]
        table: list[Any] = [np.repeat(result.layers, columns), np.tile(result.heads, rows)]
        table.append(result.measure(self.measure).ravel())
        for null in result.whole.nulls():
            for field in ("mean", "std", "z", "p", "p_below"):
                names.append(f"{field}, {NULL_BY_KEY[null].label}")
                table.append(result.score(null, self.measure, field).ravel())
        return names, table


def _toward(better: int) -> str:
    return "larger is closer to V*" if better > 0 else "smaller is closer to V*"


def _sparse(count: int) -> int:
    return max(1, math.ceil(count / 16))
