"""The eigenvalues of Σ as bars that can be dragged, and the singular values of W under them."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor

from explorer.lab.setting import IN_CONTEXT, Data
from explorer.lab.snapshot import Snapshot
from explorer.ui.theme import clean_brush, pen, scheme
from explorer.views.lab_drag import Drag
from explorer.views.lab_view import COLOURS, LabView, ticks
from explorer.views.picture import Table
from explorer.views.plot import Plot, up_from_zero
from explorer.views.points import Points
from explorer.views.strip import Part, Strip
from explorer.views.words import figure, subscript

FIXED = (*IN_CONTEXT, "rows", "covariance")
"""Families whose spectrum is not for the hand."""
ROUND = 0.15
"""Of the height, above and below the singular values: their rings are whole."""


class EigenvalueView(LabView):
    """Above, the spectrum of Σ; below, the singular values of W, which align with it while W is trained.

    Signals
    -------
    grabbed()
        A bar is taken hold of.
    drawn(tuple)
        The eigenvalues after a person dragged a bar.
    released()
        The bar was let go.
    """

    name = "lab-spectrum"
    title = "Spectrum of Σ, and of W"
    help = (
        "Above: the eigenvalues σ_j of the tokens' covariance Σ. Drag the top of a bar to set it; training "
        "goes on. Below: the singular values of W (heads added) times σ₁. One head has one, λσ₁; a free W "
        "starts small and, at L = ∞ with a shared Σ, tends to Σ⁻¹, the rings. Both are listed by size; "
        "which component is learned first, Alignment shows. Fresh prompts of finite L give another W. Of "
        "Wishart prompts and of tables the spectrum is over all prompts and cannot be dragged. Source: "
        "Maulen-Soto and Boyer, arXiv 2605.18315."
    )

    grabbed = Signal()
    drawn = Signal(tuple)
    released = Signal()

    def build(self) -> None:
        """Make the items, once."""
        self._values: NDArray[np.float64] = np.empty(0)
        self._strip = Strip()
        self.plot, self._below = Plot(), Plot()
        self._bars = pg.BarGraphItem(x=[0], height=[0], width=0.7)
        self._handles = Points("s", 7)
        self._singular, self._wanted = Points("o", 8), Points("o", 12)
        for item in (self._bars, self._handles):
            self.plot.addItem(item, ignoreBounds=True)
        for item in (self._wanted, self._singular):
            self._below.addItem(item, ignoreBounds=True)
        self.plot_items = [self.plot, self._below]
        for row, item in enumerate((self._strip, self.plot, self._below)):
            self.canvas.addItem(item, row, 0)
        self.canvas.ci.layout.setRowStretchFactor(1, 3)
        self.canvas.ci.layout.setRowStretchFactor(2, 2)
        self.plot.name_axes("", "σ<sub><i>j</i></sub>")
        self._below.name_axes("<i>j</i>", "of <i>W</i>, × σ<sub>1</sub>")
        self._drag = Drag(self.plot, Qt.CursorShape.SizeVerCursor)
        self._drag.grabbed.connect(self.grabbed)
        self._drag.moved.connect(self._on_drag)
        self._drag.released.connect(self._on_release)
        self.recolour()

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        fill = QColor(scheme().secondary)
        fill.setAlpha(90)
        self._bars.setOpts(brush=fill, pen=pen(scheme().secondary, 1))
        self._handles.style(None, clean_brush(scheme().accent))
        self._wanted.style(pen(scheme().secondary, 1.25), None)

    def draw(self, snapshot: Snapshot) -> None:
        """Put the numbers of `snapshot` into the items."""
        data = snapshot.setting.data
        values = np.asarray(in_order(data, snapshot.eigenvalues))
        places = np.arange(1.0, len(values) + 1)
        self._drag.setVisible(data.family not in FIXED)
        self._singular.style(None, clean_brush(COLOURS[snapshot.setting.kind]))
        found = snapshot.singular_values.astype(np.float64)
        wanted = wanted_singular_values(snapshot)
        self._singular.move(places, found)
        self._wanted.move(places[: len(wanted)], wanted)
        across = (0.3, len(values) + 0.7)
        if not self.held:
            self._raise(values, data.family not in FIXED)
            self.plot.settle(across, up_from_zero(values))
            high = up_from_zero(found, wanted[wanted < 50], np.array([1.0]), pad=ROUND)[1]
            self._below.settle(across, (-ROUND * high, high))
            self._say(snapshot, values, len(wanted) > 0)
        for plot in self.plot_items:
            plot.set_ticks("bottom", ticks(len(values)))

    def _raise(self, values: NDArray[np.float64], free_hand: bool) -> None:
        places = np.arange(1.0, len(values) + 1)
        if not np.array_equal(values, self._values):
            self._values = values
            self._bars.setOpts(x=places, height=values)
        shown = len(values) if free_hand else 0
        self._handles.move(places[:shown], values[:shown])

    def _say(self, snapshot: Snapshot, values: NDArray[np.float64], wanted: bool) -> None:
        free_hand = snapshot.setting.data.family not in FIXED
        ratio = values.min() / values.max()
        self._strip.say(
            Part("drag a bar", symbol="s", brush=clean_brush(scheme().accent)) if free_hand else "",
            f"ρ = σₘᵢₙ/σ₁ = {figure(float(ratio))}",
            Part("singular values of W", symbol="o", brush=clean_brush(COLOURS[snapshot.setting.kind])),
            Part(
                "of Σ⁻¹" if snapshot.coupling is None else "λσ₁",
                symbol="o",
                pen=pen(scheme().secondary, 1.25),
            )
            if wanted
            else "",
        )

    @property
    def held(self) -> bool:
        """Whether a bar is being dragged: nothing may move under the pointer then."""
        return self._drag.held

    def _on_release(self) -> None:
        """Let the axes follow, unless what was drawn last is still on its way through the training."""
        result = self.result
        if result is not None and np.array_equal(
            in_order(result.setting.data, result.eigenvalues), self._values
        ):
            self.redraw()
        self.released.emit()

    def _on_drag(self, start: QPointF, _: QPointF, now: QPointF) -> None:
        j = math.floor(start.x() + 0.5) - 1
        if self.result is None or not 0 <= j < len(self._values):
            return
        values = self._values.copy()
        values[j] = max(0.0, float(f"{now.y():.3g}"))
        if values.max() > 0:
            self._raise(values, free_hand=True)
            self.drawn.emit(tuple(values.tolist()))

    def reading_at(self, at: QPointF) -> str:
        """Return the eigenvalue or singular value under the pointer."""
        for plot, name in ((self.plot, "σ"), (self._below, "singular value ")):
            if self.result is not None and plot.vb.sceneBoundingRect().contains(at):
                j = math.floor(plot.vb.mapSceneToView(at).x() + 0.5) - 1
                if not 0 <= j < len(self._values):
                    return ""
                values = self._values if plot is self.plot else self.result.singular_values
                return f"{name}{subscript(j + 1)} = {figure(float(values[j]))}"
        return ""

    def numbers(self, result: Snapshot) -> Table:
        """Return both spectra."""
        return ["j", "eigenvalue of Σ", "singular value of W times σ_1"], [
            np.arange(1, len(result.eigenvalues) + 1).astype(np.float64),
            result.eigenvalues,
            result.singular_values.astype(np.float64),
        ]


def in_order(data: Data, eigenvalues: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the eigenvalues as they stand on the axis: as drawn, or descending."""
    return np.asarray(data.spectrum) if data.family == "drawn" else eigenvalues


def wanted_singular_values(snapshot: Snapshot) -> NDArray[np.float64]:
    """Return what W tends to at L = ∞, times σ₁, descending; empty where mathematics gives nothing."""
    values = snapshot.eigenvalues
    if snapshot.coupling is not None:
        count = snapshot.directions.shape[1]
        exact = snapshot.setting.structure in ("one", "frame")
        return np.full(count, snapshot.coupling) if exact else np.empty(0)
    if snapshot.setting.data.family in IN_CONTEXT or values[-1] <= 1e-9 * values[0]:
        return np.empty(0)
    return np.asarray(snapshot.scale / values[::-1])
