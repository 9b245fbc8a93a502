"""Figures of all heads along training, and over many inputs: means with error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF

from explorer.ui.theme import clean_brush, pen, scheme
from explorer.views.evidence_base import EvidencePicture
from explorer.views.picture import Table
from explorer.views.plot import Plot, span
from explorer.views.points import Points
from explorer.views.strip import Part, Strip
from explorer.views.words import figure

if TYPE_CHECKING:
    from explorer.evidence import Findings
    from explorer.report.series import Line

COLOUR = "#0072B2"
COLUMNS, MOST = 4, 8
FIGURES = 38
"""Pixels for the figures beside a plot."""
SOURCES = "Sources: Teo and Nguyen, arXiv 2406.13762; Sarıtaş and Yıldız, arXiv 2505.07908."


class Small(Plot):
    """One metric: its name above it, points, the line between them, and bars."""

    def __init__(self) -> None:
        super().__init__()
        self.strip = Strip()
        self._curve = pg.PlotCurveItem(connect="finite", antialias=True)
        self._bars = pg.PlotCurveItem(connect="pairs", antialias=True)
        self._points = Points("o", 6)
        for item in (self._bars, self._curve, self._points):
            self.addItem(item, ignoreBounds=True)
        self.line: Line | None = None
        self.recolour()

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        self._curve.setPen(pen(COLOUR, 1.5))
        self._bars.setPen(pen(COLOUR, 1.25))
        self._points.style(pen(scheme().background, 0.5), clean_brush(COLOUR))

    def draw(self, line: Line, below: str) -> None:
        """Draw one metric."""
        self.line = line
        error = np.nan_to_num(line.error)
        low, high = line.mean - error, line.mean + error
        self._curve.setData(line.x, line.mean)
        self._bars.setData(np.repeat(line.x, 2), np.stack([low, high], 1).ravel())
        self._points.move(line.x, line.mean)
        self.strip.say(line.label)
        self.name_axes(below, "")
        self.getAxis("left").setWidth(FIGURES)
        self.settle(span(line.x), span(low, high))


class EvidenceLines(EvidencePicture):
    """Small plots side by side, one a metric."""

    wide = True
    below = ""

    def lines(self, findings: Findings) -> list[Line]:
        """Return what is drawn."""
        raise NotImplementedError

    def words(self, findings: Findings) -> str:
        """Return what the bars are."""
        raise NotImplementedError

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.canvas.addItem(self._strip, 0, 0, 1, COLUMNS)
        self.plots = [Small() for _ in range(MOST)]
        layout = self.canvas.ci.layout
        for place, plot in enumerate(self.plots):
            row, column = 1 + 2 * (place // COLUMNS), place % COLUMNS
            self.canvas.addItem(plot.strip, row, column)
            self.canvas.addItem(plot, row + 1, column)
            layout.setColumnStretchFactor(column, 1)
            layout.setColumnPreferredWidth(column, 1)
        self.plot_items = list(self.plots)
        self.recolour()

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        for plot in self.plots:
            plot.recolour()

    def draw(self, findings: Findings) -> None:
        """Put the numbers into the items."""
        lines = self.lines(findings)
        for place, plot in enumerate(self.plots):
            for item in (plot.strip, plot):
                item.setVisible(place < len(lines))
            if place < len(lines):
                plot.draw(lines[place], self.below)
        self._strip.say(Part("mean", line=pen(COLOUR, 1.5)), self.words(findings))

    def reading_at(self, at: QPointF) -> str:
        """Return the mean and its bar at the nearest place."""
        plot = next((each for each in self.plots if each.vb.sceneBoundingRect().contains(at)), None)
        if plot is None or plot.line is None:
            return ""
        line, x = plot.line, plot.vb.mapSceneToView(at).x()
        i = int(np.abs(line.x - x).argmin())
        bar = f" ± {figure(float(line.error[i]), 2)}" if np.isfinite(line.error[i]) else ""
        mean = figure(float(line.mean[i]))
        return f"{self.below} {line.x[i]:g}: {line.label} {mean}{bar}, n = {line.count[i]}"

    def numbers(self, result: Findings) -> Table:
        """Return every mean with its bar and how many figures it is of."""
        lines = self.lines(result)
        names, columns = [self.below], [lines[0].x] if lines else []
        for line in lines:
            names += [line.label, f"± {line.label}", f"n, {line.label}"]
            columns += [line.mean, line.error, np.array(line.count)]
        table: list[Any] = list(columns)
        return names if lines else [], table


class EvidenceSeries(EvidenceLines):
    """Errors, norms, overlap and z against the step of the checkpoint."""

    name = "evidence_series"
    title = "Along training"
    below = "step"
    help = (
        "Each point is a checkpoint of one training, at the step that its folder, its name or its place "
        "says: the mean over heads, bars the deviation over heads. The error on the true axes is a property "
        "of queries and keys; the error with the learned output is a difference of norms that grow or shrink "
        "by themselves, so a falling error does not show that V becomes V*: overlap against the nulls would. "
    ) + SOURCES

    def lines(self, findings: Findings) -> list[Line]:
        """Return metrics against steps."""
        return findings.training

    def words(self, findings: Findings) -> str:
        """Return what the bars are."""
        whole = findings.whole
        done = len({record["checkpoint"] for record in whole.records})
        heads = len(whole.heads())
        return f"{done} of {len(whole.checkpoints)} checkpoints, bars: deviation over n = {heads} heads"

    def why_not(self, findings: Findings) -> str:
        """Return that there is no series."""
        if len(findings.whole.checkpoints) < 2:
            return (
                "One checkpoint is open. Drop several checkpoints of one training together, or a folder of "
                "them (checkpoint-100, checkpoint-200, …), and their numbers stand here against the step."
            )
        return super().why_not(findings)


class EvidenceInputs(EvidenceLines):
    """The same figures by layer, over many inputs."""

    name = "evidence_inputs"
    title = "Over inputs"
    below = "layer"
    help = (
        "Each point is a layer: the mean over inputs of the mean over the layer's heads, bars the standard "
        "error over inputs, their deviation over √n. A standard error says how well the mean is known, not "
        "how much inputs differ, and inputs that resemble each other make it too small. With one input "
        "there are no bars. "
    ) + SOURCES

    def lines(self, findings: Findings) -> list[Line]:
        """Return metrics by layer."""
        return findings.inputs

    def words(self, findings: Findings) -> str:
        """Return what the bars are."""
        n = findings.whole.samples
        return f"bars: standard error over n = {n} inputs" if n > 1 else "one input: no bars"
