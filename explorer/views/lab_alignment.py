"""How much of each eigenvector is learned over steps, beside PCA by other means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPen

from explorer.lab.snapshot import Curves, Snapshot
from explorer.ui.theme import PCP, RPC, pen, scheme
from explorer.views.lab_view import COLOURS, LabView, curve, nearest_step, steps_range
from explorer.views.picture import Table
from explorer.views.plot import Plot
from explorer.views.strip import Part, Strip
from explorer.views.words import figure, subscript

MOST_DRAWN = 24
"""Other components that get a line; the rest is in the exported numbers."""


class AlignmentView(LabView):
    """|m·u₁| in full colour, every other component thin behind it, references dashed."""

    name = "lab-alignment"
    title = "Alignment"
    help = (
        "Thick: how far the head has found the leading eigenvector u₁, |m·u₁| (of a frame the length of u₁ "
        "in its span; of several heads the largest). Thin: the other components. For a free W: the share of "
        "each component that the head of an infinite prompt reproduces, and thick the mean |cos| of the "
        "readout of held-out prompts. Sample PCA and Oja's rule see one prompt a step, the first of the "
        "batch; a head sees the whole batch. “One prompt” is the mean of sample PCA on single held-out "
        "prompts, and the Baik–Ben Arous–Péché (BBP) limit is what that tends to for a fixed I + θvvᵀ as d "
        "and L grow together; it says nothing about Wishart prompts. Neither is a bound for the head, which "
        "sees many prompts. Source: Maulen-Soto and Boyer, arXiv 2605.18315."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.plot = Plot(zoom=True)
        self._others = [curve() for _ in range(MOST_DRAWN)]
        self._pca, self._oja, self._main = curve(), curve(), curve()
        self._prompt, self._bbp = pg.InfiniteLine(0, angle=0), pg.InfiniteLine(0, angle=0)
        for item in (*self._others, self._prompt, self._bbp, self._pca, self._oja, self._main):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot_items = [self.plot]
        self.canvas.addItem(self._strip, 0, 0)
        self.canvas.addItem(self.plot, 1, 0)
        self.recolour()

    def recolour(self) -> None:
        """Take pens of the scheme again."""
        style = Qt.PenStyle
        faint = QColor(scheme().secondary)
        faint.setAlpha(110)
        for line in self._others:
            line.setPen(pg.mkPen(faint, width=1))
        self._pca.setPen(pen(PCP, 1.5, style.DotLine))
        self._oja.setPen(pen(RPC, 1.25, style.DashDotLine))
        self._prompt.setPen(pen(scheme().secondary, 1.25, style.DashLine))
        self._bbp.setPen(pen(scheme().text, 1.25, style.DashDotDotLine))

    def _main_pen(self, snapshot: Snapshot) -> QPen:
        return pen(COLOURS[snapshot.setting.kind], 2.25)

    def draw(self, snapshot: Snapshot) -> None:
        """Put the numbers of `snapshot` into the items."""
        curves, limits = snapshot.curves, snapshot.limits
        main = main_curve(curves)
        self._main.setPen(self._main_pen(snapshot))
        self._main.setData(curves.steps, main)
        self._pca.setData(curves.steps, curves.pca)
        self._oja.setData(curves.steps, curves.oja)
        others = np.abs(curves.components[:, 0 if reads_out(curves) else 1 :])
        for j, line in enumerate(self._others):
            line.setVisible(j < others.shape[1])
            if j < others.shape[1]:
                line.setData(curves.steps, others[:, j])
        self._prompt.setPos(limits.pca)
        self._bbp.setVisible(limits.bbp is not None)
        if limits.bbp is not None:
            self._bbp.setPos(limits.bbp)
        finite = others[np.isfinite(others)]
        top = (
            1.03
            if snapshot.setting.structure != "free"
            else max(1.03, min(2.0, float(finite.max(initial=0))))
        )
        self.plot.name_axes(
            "step", "|cos| with the direction" if reads_out(curves) else "|<i>m</i>·<i>u<sub>j</sub></i>|"
        )
        self.plot.settle(steps_range(curves.steps), (0.0, top))
        self._strip.say(*self._words(snapshot, float(main[-1])))

    def _words(self, snapshot: Snapshot, now: float) -> list[Part | str]:
        curves, limits = snapshot.curves, snapshot.limits
        free = reads_out(curves)
        parts: list[Part | str] = [
            Part(
                f"{'readout' if free else '|m·u₁|'} {_four(now)}",
                line=self._main_pen(snapshot),
            ),
            Part(_of_others(curves, free), line=self._others[0].opts["pen"]),
        ]
        if np.isfinite(curves.pca[-1]):
            parts.append(Part(f"sample PCA {_four(curves.pca[-1])}", line=self._pca.opts["pen"]))
            parts.append(Part(f"Oja {_four(curves.oja[-1])}", line=self._oja.opts["pen"]))
        parts.append(Part(f"PCA of one prompt {figure(limits.pca, zeros=True)}", line=self._prompt.pen))
        if limits.bbp is not None:
            parts.append(Part(f"its BBP limit {figure(limits.bbp, zeros=True)}", line=self._bbp.pen))
        return parts

    def reading_at(self, at: QPointF) -> str:
        """Return the step under the pointer and the largest components at it."""
        if self.result is None:
            return ""
        curves = self.result.curves
        i = nearest_step(self.plot, curves.steps, at)
        if i is None:
            return ""
        sizes = np.abs(curves.components[i])
        largest = np.argsort(-sizes)[:3].tolist()
        found = ", ".join(f"u{subscript(j + 1)} {figure(float(sizes[j]))}" for j in largest)
        return f"step {int(curves.steps[i])}: {found}"

    def numbers(self, result: Snapshot) -> Table:
        """Return every component and reference at each recorded step."""
        curves, limits = result.curves, result.limits
        width = curves.components.shape[1]
        columns: list[Any] = [curves.steps, *curves.components.T, curves.recovery, curves.pca, curves.oja]
        columns += [np.array([limits.pca]), np.array([np.nan if limits.bbp is None else limits.bbp])]
        names = ["step", *(f"component {j + 1}" for j in range(width)), "readout", "sample PCA", "Oja"]
        return [*names, "sample PCA of one prompt", "Baik–Ben Arous–Péché limit"], columns


def _four(cosine: float) -> str:
    """Return four digits, zeros too: these stand beside each other."""
    return figure(float(cosine), 4, zeros=True)


def _of_others(curves: Curves, free: bool) -> str:
    what, count = ("components", 0) if free else ("others", 1)
    there = curves.components.shape[1] - count
    return what if there <= MOST_DRAWN else f"the first {MOST_DRAWN} of {there} {what}"


def reads_out(curves: Curves) -> bool:
    """Whether the direction is read from the outputs."""
    return bool(np.isfinite(curves.recovery[-1]))


def main_curve(curves: Curves) -> NDArray[np.float64]:
    """Return what the alignment is: |m·u₁|, or the readout's mean cosine."""
    return curves.recovery if reads_out(curves) else np.abs(curves.components[:, 0])
