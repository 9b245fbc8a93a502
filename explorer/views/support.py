"""How far S finds what was added, over λ, and how much the pursuit leaves unexplained, by iteration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPen

from explorer.detail import Sweep
from explorer.result import Pursuit, Result
from explorer.ui.theme import RPC, clean_brush, contaminated_brush, pen, scheme
from explorer.views.base import Table, View
from explorer.views.output_traces import ResidualTrace
from explorer.views.plot import Plot
from explorer.views.points import Points
from explorer.views.strip import Part, Strip
from explorer.views.words import figure, percent

CURVES = {"precision": "precision", "recall": "recall", "cut": "share of K in S"}
TOP = 1.04
UNKNOWN = "The input was contaminated: which entries of K′ are wrong, nobody knows."
EVERY = "Every entry is contaminated: precision would be 100 % whatever S is."
NONE = "Nothing is contaminated: nothing to find."
TICKS = [(value / 4, f"{25 * value} %") for value in range(5)]


def curve_pen(name: str) -> QPen:
    """Return the line of a curve; each differs from the others in grey too."""
    if name == "cut":
        return pen(scheme().secondary, 1.25, Qt.PenStyle.DotLine)
    return pen(RPC, 1.75, Qt.PenStyle.DashLine if name == "recall" else Qt.PenStyle.SolidLine)


class SupportView(View):
    """Precision and recall of S against λ; the residual against the iteration; μ and t in words."""

    name = "support"
    title = "What S finds"
    help = (
        "Precision is the share of S's entries that really are contaminated, recall the share of the "
        "contaminated entries that are in S, after the last iteration, for every λ at the present "
        "contamination. Precision at the contaminated share itself is chance. The threshold t is what an "
        "entry must exceed to enter S, in the keys' own units. The residual ‖K − L − S‖/‖K‖ by iteration "
        "need not fall: nothing guarantees that the pursuit converges, and a small residual does not say "
        "that S is right. Sources: Teo and Nguyen, arXiv 2406.13762; Candès, Li, Ma and Wright, 2011."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._sweep: Sweep | None = None
        self._iteration = 0
        self._strip, self._facts = Strip(), Strip()
        self.plot = Plot()
        self.plot.name_axes("λ", "share")
        self.plot.set_ticks("left", TICKS)
        self._lines = {name: pg.PlotCurveItem(connect="finite", antialias=True) for name in CURVES}
        self._lam, self._at = pg.InfiniteLine(0, angle=90), pg.InfiniteLine(1, angle=90)
        self._precision_now, self._recall_now = Points("o", 8), Points("s", 8)
        for item in (self._lam, *self._lines.values(), self._precision_now, self._recall_now):
            self.plot.addItem(item, ignoreBounds=True)
        self._residuals = ResidualTrace()
        self._residuals.addItem(self._at, ignoreBounds=True)
        self.plot_items = [self.plot, self._residuals]
        self.canvas.addItem(self._strip, 0, 0, 1, 2)
        self.canvas.addItem(self._facts, 1, 0, 1, 2)
        self.canvas.addItem(self.plot, 2, 0)
        self.canvas.addItem(self._residuals, 2, 1)
        layout = self.canvas.ci.layout
        for column, share in enumerate((3, 2)):
            layout.setColumnStretchFactor(column, share)
            layout.setColumnPreferredWidth(column, share)
        self.recolour()

    def show_sweep(self, sweep: Sweep | None) -> None:
        """Draw what is known over λ; None: nothing is, for these keys."""
        self._sweep = sweep
        self.redraw()

    def show_iteration(self, iteration: int) -> None:
        """Mark the iteration whose L and S are shown."""
        self._iteration = iteration
        self._at.setPos(iteration)

    def why_not(self, result: Result) -> str:
        """Return why there is no pursuit."""
        if result.pursuit is not None:
            return ""
        return " ".join(result.notes) or "RPC is not defined for this head."

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        for name, line in self._lines.items():
            line.setPen(curve_pen(name))
        for line in (self._lam, self._at):
            line.setPen(pen(scheme().secondary, 1))
        self._precision_now.style(pen(RPC, 1.5), clean_brush(RPC))
        self._recall_now.style(pen(RPC, 1.5), contaminated_brush())
        self._residuals.recolour()

    def draw(self, result: Result) -> None:
        """Put the numbers of `result` into the items."""
        went, sweep = result.pursuit, self._sweep
        assert went is not None
        told = _curves(result)
        for name, line in self._lines.items():
            line.setVisible(sweep is not None and name in told)
            if sweep is not None:
                line.setData(np.log10(sweep.lams), getattr(sweep, name))
        x = math.log10(went.lam) if went.lam > 0 else math.nan
        self._lam.setVisible(math.isfinite(x))
        if math.isfinite(x):
            self._lam.setPos(x)
        for points, value in ((self._precision_now, went.precision), (self._recall_now, went.recall)):
            points.move(np.array([x]), np.array([math.nan if value is None else value]))
        self._residuals.draw(result)
        if self.settles(result, result.params.form, sweep is None):
            self._settle(sweep, x)
            self._residuals.rest()
        self._say(result, went)

    def _settle(self, sweep: Sweep | None, x: float) -> None:
        if sweep is not None:
            low, high = np.log10(sweep.lams[[0, -1]]).tolist()
        else:
            low, high = (x - 1.2, x + 1.2) if math.isfinite(x) else (-1.0, 1.0)
        self.plot.settle((low, high), (0.0, TOP))
        powers = range(math.ceil(low / math.log10(4)), math.floor(high / math.log10(4)) + 1)
        self.plot.set_ticks("bottom", [(i * math.log10(4), figure(4.0**i, 2)) for i in powers])

    def _say(self, result: Result, went: Pursuit) -> None:
        shown = _curves(result).items()
        parts: list[Part | str] = [Part(words, line=curve_pen(name)) for name, words in shown]
        self._strip.say(*parts, _why_no_scores(result))
        rule = "λμ" if result.params.form == "published" else "λ/μ"
        unit = "" if result.decomposition is None else _in_deviations(went.threshold, result)
        self._facts.say(
            f"λ = {figure(went.lam)}",
            f"μ = {figure(went.mu)}",
            f"t = {rule} = {figure(went.threshold)} in K's units{unit}",
            f"S holds {percent(went.cut)} of the entries",
        )

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Mark nothing: no token is shown."""

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return nothing: no token is shown."""
        return []

    def reading_at(self, at: QPointF) -> str:
        """Return the scores at a λ, or a residual."""
        if self.result is None or self.result.pursuit is None:
            return ""
        if self.plot.vb.sceneBoundingRect().contains(at):
            return self._lam_at(self.plot.vb.mapSceneToView(at).x())
        if self._residuals.vb.sceneBoundingRect().contains(at):
            iteration = round(self._residuals.vb.mapSceneToView(at).x())
            residuals = self.result.pursuit.residuals
            if 1 <= iteration <= len(residuals):
                return f"‖K − L − S‖ / ‖K‖ after iteration {iteration}: {figure(residuals[iteration - 1])}"
        return ""

    def _lam_at(self, x: float) -> str:
        sweep = self._sweep
        if sweep is None or self.result is None:
            return ""
        i = int(np.abs(np.log10(sweep.lams) - x).argmin())
        parts = [
            f"{words} {percent(getattr(sweep, name)[i])}" for name, words in _curves(self.result).items()
        ]
        return f"λ = {figure(sweep.lams[i])}: {', '.join(parts)}"

    def numbers(self, result: Result) -> Table:
        """Return the scores over λ, then the residuals, then λ, μ and t."""
        names: list[str] = []
        columns: list[Any] = []
        if self._sweep is not None:
            names = ["λ", *CURVES.values()]
            columns = [self._sweep.lams, *(getattr(self._sweep, name) for name in CURVES)]
        went = result.pursuit
        if went is not None:
            names += ["iteration", "residual, clean", "residual, contaminated", "λ in use", "μ", "t"]
            iterations = np.arange(1, len(went.residuals) + 1)
            columns += [iterations, went.clean_residuals, went.residuals]
            columns += [np.array([value]) for value in (went.lam, went.mu, went.threshold)]
        return names, columns


def _curves(result: Result) -> dict[str, str]:
    """Return the curves that mean something."""
    return {"cut": CURVES["cut"]} if _why_no_scores(result) else CURVES


def _why_no_scores(result: Result) -> str:
    """Return why precision and recall mean nothing; empty where they do."""
    parts = result.decomposition
    if not result.contaminated.any() and (parts is None or not parts.added.any()):
        return NONE
    if result.params.key_kind is None:
        return UNKNOWN
    return EVERY if parts is not None and parts.hit.all() else ""


def _in_deviations(threshold: float, result: Result) -> str:
    assert result.decomposition is not None
    deviation = float(result.decomposition.keys.std())
    return f" ({figure(threshold / deviation, 2)} of their deviations)" if deviation > 0 else ""
