"""The phase diagram: for which λ and level of contamination which attention does better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QComboBox, QWidget

from explorer.detail import Array, PhaseMap
from explorer.params import LEVEL_MAX
from explorer.result import Result
from explorer.ui.theme import RPC, SOFTMAX, clean_brush, diverging_map, pen, scheme
from explorer.views.asking import Asking
from explorer.views.base import Table, View
from explorer.views.colorbar import ColorBar, as_high_as
from explorer.views.matrix_image import MatrixImage
from explorer.views.plot import Plot, ceiling
from explorer.views.points import Points
from explorer.views.response_plot import LEVELS, NO_SHARES, level_in_words
from explorer.views.strip import Part, Strip
from explorer.views.words import figure, percent

AGAINST = {"own": "RPC against its own clean output", "softmax": "RPC against softmax's clean output"}
MOST = 2.0
"""The colours end at a hundredfold: beyond, one attention has practically stopped moving."""
NOTHING_MOVED = "softmax's output moves at no level: there is nothing to compare"
EDGE = 0.03
"""Room around the map, as a share of it, so that the ring at an edge is whole."""
WORDS = 128
"""Pixels for the words at the colour bar."""


class PhaseView(View):
    """λ upwards, level to the right; orange where RPC moves less than softmax, blue where softmax does."""

    name = "phase"
    title = "Which attention does better"
    help = (
        "Each cell is one λ and one level of contamination, with the error of softmax over the error of RPC "
        "in it, as log₁₀, mean over the seeds: orange, RPC moves less; blue, softmax does; white, alike. "
        "The ring is where the sliders stand, and a click goes there. By default each is compared with its "
        "own clean output, and an output that ignores the data never moves: look at RPC against softmax's "
        "clean output too before calling it robust. This is one head's output, not what the model answers. "
        "Logarithms are averaged here, and errors in the curves: white lies near the breakdown point, not on "
        "it. Where the contamination enters at the input, the model reads it again at each level and seed, "
        "and fewer are computed. "
        "Source of RPC: Teo and Nguyen, arXiv 2406.13762."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._phase: PhaseMap | None = None
        self._bound = 1.0
        self._strip = Strip()
        self.plot = Plot()
        self._map = MatrixImage(self.plot)
        self._level, self._lam = pg.InfiniteLine(0, angle=90), pg.InfiniteLine(0, angle=0)
        self._halo, self._here = Points("o", 15), Points("o", 11)
        for item in (self._level, self._lam, self._halo, self._here):
            self.plot.addItem(item, ignoreBounds=True)
        self._bar = ColorBar()
        self._bar.setFixedWidth(10 + WORDS)
        self._bar.getAxis("right").setWidth(WORDS)
        self.plot_items = [self.plot, self._bar]
        self.canvas.addItem(self._strip, 0, 0, 1, 2)
        self.canvas.addItem(self.plot, 1, 0)
        self.canvas.addItem(self._bar, 1, 1)
        as_high_as(self._bar, self.plot, self.canvas.ci.layout)
        self.asking = Asking()
        self._chooser = QComboBox()
        for key, words in AGAINST.items():
            self._chooser.addItem(words, key)
        self._chooser.setAccessibleName("Compared with")
        self._chooser.setToolTip("Which clean output contaminated RPC is compared with; softmax: its own")
        self._chooser.currentIndexChanged.connect(self._choose)
        self.recolour()

    def header_controls(self) -> QWidget:
        """Return how long the diagram takes, where it is long, and the chooser of the reference."""
        return self.asking.beside(self._chooser)

    @property
    def against(self) -> str:
        """What contaminated RPC is compared with: "own" or "softmax"."""
        return str(self._chooser.currentData())

    def options(self) -> dict[str, Any]:
        """Return what RPC is compared with."""
        return {"against": self.against}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose what RPC is compared with."""
        if options.get("against") in AGAINST:
            self._chooser.setCurrentIndex(list(AGAINST).index(options["against"]))

    def _choose(self) -> None:
        self.redraw()
        self.option_changed.emit(self.options())

    def show_phase(self, phase: PhaseMap | None) -> None:
        """Draw what is known of the diagram; None: nothing is, for this head and these parameters."""
        self._phase = phase
        self.redraw()

    def why_not(self, result: Result) -> str:
        """Return why RPC cannot be compared."""
        if result.pursuit is not None:
            return ""
        return " ".join(result.notes) or "RPC is not defined for this head."

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        self._map.recolour()
        for line in (self._level, self._lam):
            line.setPen(pen(scheme().secondary, 1, Qt.PenStyle.DotLine))
        self._halo.style(pen("#FFFFFF", 4), None)
        self._here.style(pen("#1A1C1F", 2), None)

    def _values(self, phase: PhaseMap) -> Array:
        return phase.own if self.against == "own" else phase.to_softmax

    def draw(self, result: Result) -> None:
        """Put the numbers of `result` into the items."""
        phase, p = self._phase, result.params
        for item in (self._map.image, self._level, self._lam, self._halo, self._here):
            item.setVisible(phase is not None)
        self.plot.name_axes(LEVELS[p.contamination], "λ")
        if phase is None:
            self._strip.say("computing the diagram")
            return
        values = self._values(phase)
        if self.settles(result, self.against, p.contamination, p.form):
            self._bound = min(MOST, ceiling(_largest(values)))
        rows, columns = values.shape
        self.plot.settle(*((-EDGE * count, (1 + EDGE) * count) for count in (columns, rows)))
        drawn = filled(values) if phase.done < values.size else values
        self._map.show(drawn[::-1], (-self._bound, self._bound), diverging_map(), signed=True)
        self._show_axes(phase, result)
        self._show_bar()
        x, y = self._place(phase, result)
        self._level.setPos(x)
        self._lam.setPos(y)
        for points in (self._halo, self._here):
            points.move(np.array([x]), np.array([y]))
        self._strip.say(*self._words(phase, result))

    def _show_axes(self, phase: PhaseMap, result: Result) -> None:
        rows, columns = phase.own.shape
        kind = result.params.contamination
        top = LEVEL_MAX[kind]
        shares = [(i / 5 * columns, i / 5 * top) for i in range(6)]
        plain = kind in NO_SHARES
        self.plot.set_ticks("bottom", [(x, figure(f, 2) if plain else f"{100 * f:.0f} %") for x, f in shares])
        named = range(2 if rows % 4 else rows // 2 % 4, rows, 4)
        self.plot.set_ticks("left", [(rows - i - 0.5, figure(phase.lams[i], 2)) for i in named])

    def _show_bar(self) -> None:
        bound = self._bound
        self._bar.show_levels((-bound, bound), diverging_map())
        many = "≥ " if bound == MOST else ""
        self._bar.set_ticks(
            "right",
            [
                (bound, f"RPC, {many}{figure(10**bound, 2)} × less"),
                (0.0, "both alike"),
                (-bound, f"softmax, {many}{figure(10**bound, 2)} × less"),
            ],
        )

    def _place(self, phase: PhaseMap, result: Result) -> tuple[float, float]:
        """Return where the present point lies, at an edge where it lies beyond it."""
        assert result.pursuit is not None
        rows, columns = phase.own.shape
        x = result.params.level / LEVEL_MAX[result.params.contamination] * columns
        lam, step = result.pursuit.lam, math.log(phase.lams[-1] / phase.lams[0]) / max(rows - 1, 1)
        row = math.log(lam / phase.lams[0]) / step if lam > 0 else -1.0
        return min(max(x, 0.0), float(columns)), min(max(rows - 0.5 - row, 0.0), float(rows))

    def _words(self, phase: PhaseMap, result: Result) -> list[Part | str]:
        values = self._values(phase)
        known = values[np.isfinite(values)]
        better = NOTHING_MOVED if phase.done == phase.wanted else ""
        if len(known):
            better = f"RPC is better at {percent(float((known > 0).mean()))} of the points"
        seed = min(phase.done // values.size + 1, phase.seeds)
        progress = (
            ""
            if phase.done == phase.wanted
            else f"seed {seed} of {phase.seeds}: {known.size} of {values.size} points"
        )
        return [
            Part("RPC moves less", symbol="s", brush=clean_brush(RPC)),
            Part("softmax moves less", symbol="s", brush=clean_brush(SOFTMAX)),
            better,
            progress,
            self._beyond(phase, result),
        ]

    def _beyond(self, phase: PhaseMap, result: Result) -> str:
        assert result.pursuit is not None
        lam = result.pursuit.lam
        if phase.lams[0] * 0.9 <= lam <= phase.lams[-1] * 1.1:
            return ""
        return f"λ = {figure(lam)} lies beyond the diagram"

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Mark nothing: no token is shown."""

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return nothing: no token is shown."""
        return []

    def cell_at(self, at: QPointF) -> tuple[int, int] | None:
        """Return the indices of λ and level at a point of the scene; None beside the diagram."""
        phase = self._phase
        if phase is None or not self.plot.vb.sceneBoundingRect().contains(at):
            return None
        point = self.plot.vb.mapSceneToView(at)
        rows, columns = phase.own.shape
        i, j = rows - 1 - math.floor(point.y()), math.floor(point.x())
        return (i, j) if 0 <= i < rows and 0 <= j < columns else None

    def reading_at(self, at: QPointF) -> str:
        """Return λ, level and who is better by how much."""
        cell, phase = self.cell_at(at), self._phase
        if cell is None or phase is None or self.result is None:
            return ""
        where = f"λ = {figure(phase.lams[cell[0]])}, "
        where += level_in_words(float(phase.levels[cell[1]]), self.result.params, 3)
        return f"{where}: {_verdict(float(self._values(phase)[cell]))}"

    def _click(self, event: Any) -> None:
        cell, phase = self.cell_at(event.scenePos()), self._phase
        if cell is None or phase is None or event.button() != Qt.MouseButton.LeftButton:
            return
        self.state.update(lam=float(phase.lams[cell[0]]), level=float(phase.levels[cell[1]]))

    def numbers(self, result: Result) -> Table:
        """Return every point, a point a row."""
        phase = self._phase
        if phase is None:
            return [], []
        rows, columns = phase.own.shape
        return ["λ", "level", "log10(e_softmax / e_rpc)", "log10(e_softmax / e_rpc to clean softmax)"], [
            np.repeat(phase.lams, columns),
            np.tile(phase.levels, rows),
            phase.own.ravel(),
            phase.to_softmax.ravel(),
        ]


def filled(values: Array) -> Array:
    """Return the map with every point not yet computed in place of the coarser one above and left of it."""
    out = values.copy()
    step = 1
    while np.isnan(out).any() and step < max(values.shape):
        step *= 2
        coarse = values[::step, ::step].repeat(step, 0).repeat(step, 1)[: values.shape[0], : values.shape[1]]
        out = np.where(np.isnan(out), coarse, out)
    return out


def _largest(values: Array) -> float:
    return float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))


def _verdict(margin: float) -> str:
    if not math.isfinite(margin):
        return "not computed yet"
    who, other = ("RPC", "softmax") if margin > 0 else ("softmax", "RPC")
    return f"{who} moves {figure(10 ** abs(margin), 2)} × less than {other}"
