"""How sure the model stays as the level of contamination rises, by softmax and by the other attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsPathItem, QWidget

from explorer.answers import ATTENTIONS, AnswerCurve, Attention
from explorer.params import LEVEL_MAX, Params
from explorer.ui.theme import SOFTMAX, clean_brush, pen, scheme, softmax_pen
from explorer.views.asking import Asking
from explorer.views.picture import Picture, Provenance, Table
from explorer.views.plot import Plot
from explorer.views.points import Points
from explorer.views.predictions import attention_colour, attention_pen
from explorer.views.response_plot import LEVELS, level_in_words, level_ticks
from explorer.views.strip import Part, Strip
from explorer.views.words import figure

NOTHING = "Nothing is asked yet. Open a model or the sample: its answer over the level appears here."


class PredictionsCurveView(Picture):
    """Two curves with bands over the seeds, and where the level stands."""

    name = "predictions_curve"
    title = "The answer under contamination"
    help = (
        "One number of the model's answer over the level of contamination: the probability of the true "
        "answer; of what clean softmax says, where the truth is not known; or the cosine with clean "
        "softmax's embedding. Lines are means and bands the range over three seeds, where anything is "
        "drawn. It is one input's answer, not the model's accuracy: many inputs are needed for that. The "
        "chosen attention starts low where the checkpoint was not trained for it: compare how the curves "
        "fall, and where they start. "
        "Source of RPC: Teo and Nguyen, arXiv 2406.13762."
    )

    def __init__(self) -> None:
        super().__init__()
        self.asking = Asking()
        self._attention: Attention = "rpc"
        self._from = Provenance("", {}, "")
        self._params = Params()
        self.furnish(NOTHING)

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.plot = Plot()
        self._bands = [QGraphicsPathItem(), QGraphicsPathItem()]
        self._lines = [pg.PlotCurveItem(connect="finite", antialias=True) for _ in range(2)]
        self._level = pg.InfiniteLine(0, angle=90)
        self._marks = [Points("o", 6), Points("s", 6)]
        for item in (*self._bands, self._level, *self._lines, *self._marks):
            self.plot.addItem(item, ignoreBounds=True)
        self.canvas.addItem(self._strip, 0, 0)
        self.canvas.addItem(self.plot, 1, 0)
        self.plot_items = [self.plot]
        self.recolour()

    def header_controls(self) -> QWidget:
        """Return how far the curve is, with its button."""
        return self.asking

    def _look(self) -> tuple[tuple[str, QPen], tuple[str, QPen]]:
        return (
            (SOFTMAX, softmax_pen()),
            (attention_colour(self._attention), attention_pen(self._attention)),
        )

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        for (colour, line), band, curve, mark in zip(
            self._look(), self._bands, self._lines, self._marks, strict=True
        ):
            pale = QColor(colour)
            pale.setAlpha(48)
            band.setBrush(pale)
            band.setPen(QPen(Qt.PenStyle.NoPen))
            curve.setPen(line)
            mark.style(pen(scheme().background, 1), clean_brush(colour))
        self._level.setPen(pen(scheme().secondary, 1))

    def show_curve(self, curve: AnswerCurve, attention: Attention, p: Params, source: Provenance) -> None:
        """Draw what is known so far."""
        self.result, self._attention, self._params, self._from = curve, attention, p, source
        self.recolour()
        self.redraw()
        self.show_picture()

    def show_level(self, level: float) -> None:
        """Mark where the slider stands."""
        self._level.setPos(level)

    def redraw(self) -> None:
        """Draw the same curve again."""
        curve: AnswerCurve | None = self.result
        if curve is None:
            return
        cosine = curve.measure.startswith("cosine")
        for values, band, line, mark in zip(
            (curve.softmax, curve.exchanged), self._bands, self._lines, self._marks, strict=True
        ):
            low, mean, high = spread(values)
            line.setData(curve.levels, mean)
            mark.move(curve.levels, mean)
            band.setPath(_band(curve.levels, low, high))
        self.plot.name_axes(LEVELS[self._params.contamination], "cosine" if cosine else "probability")
        self.plot.set_ticks("bottom", level_ticks(self._params))
        most = LEVEL_MAX[self._params.contamination]
        lowest = float(np.nanmin([curve.softmax, curve.exchanged])) if curve.done else 0.0
        self.plot.settle((-0.02 * most, 1.02 * most), (math.floor(10 * min(lowest, 0.0)) / 10, 1.04))
        self._say(curve)

    def _say(self, curve: AnswerCurve) -> None:
        (_, softmax), (_, exchanged) = self._look()
        seeds = len(curve.softmax)
        count = "" if curve.done == curve.wanted else f"{curve.done} of {curve.wanted} answers"
        self._strip.say(
            curve.measure, Part("softmax", line=softmax), Part(ATTENTIONS[self._attention], line=exchanged),
            f"mean and range over {seeds} seeds" if seeds > 1 else "nothing is drawn: one seed", count,
        )  # fmt: skip

    def reading_at(self, at: QPointF) -> str:
        """Return both numbers at the nearest level."""
        curve: AnswerCurve = self.result
        if not self.plot.vb.sceneBoundingRect().contains(at):
            return ""
        i = int(np.abs(curve.levels - self.plot.vb.mapSceneToView(at).x()).argmin())
        parts = []
        for name, values in (("softmax", curve.softmax), (ATTENTIONS[self._attention], curve.exchanged)):
            low, mean, high = (figure(float(row[i])) for row in spread(values))
            parts.append(f"{name} {mean} ({low} to {high})")
        return f"at {level_in_words(float(curve.levels[i]), self._params, 3)}: " + "; ".join(parts)

    def provenance(self) -> Provenance:
        """Return the source and the parameters of the curve."""
        return self._from

    def numbers(self, curve: AnswerCurve) -> Table:
        """Return the curves' means and ranges, a level a row."""
        names, columns = ["level"], [curve.levels]
        for name, values in (("softmax", curve.softmax), (ATTENTIONS[self._attention], curve.exchanged)):
            low, mean, high = spread(values)
            names += [f"{name}, mean", f"{name}, low", f"{name}, high"]
            columns += [mean, low, high]
        table: list[Any] = columns
        return names, table


def spread(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Return lowest, mean and highest over the seeds known so far (seeds, m); NaN where none is."""
    known = np.isfinite(values).any(0)
    found = np.full((3, values.shape[1]), np.nan)
    there = values[:, known]
    found[:, known] = np.nanmin(there, 0), np.nanmean(there, 0), np.nanmax(there, 0)
    return found[0], found[1], found[2]


def _band(x: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> QPainterPath:
    path = QPainterPath()
    known = np.isfinite(low)
    if known.any():
        edge = [*zip(x[known], high[known], strict=True), *zip(x[known][::-1], low[known][::-1], strict=True)]
        path.addPolygon(QPolygonF([QPointF(*corner) for corner in edge]))
    return path
