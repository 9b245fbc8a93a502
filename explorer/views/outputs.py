"""What contamination does to the head's output: softmax and RPC, level by level, token by token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QWidget

from explorer.pace import LONG_S, duration
from explorer.params import LEVEL_MAX, Params
from explorer.result import Curves, Result
from explorer.ui.theme import RPC, clean_brush, contaminated_brush, pen
from explorer.views.asking import CANCEL, Asking
from explorer.views.base import Table, View
from explorer.views.check_menu import CheckMenu
from explorer.views.output_traces import ResidualTrace, TokenErrors
from explorer.views.response_plot import CURVES, ResponsePlot, curve_pen, level_in_words
from explorer.views.strip import Part, Strip
from explorer.views.words import figure, full_name, percent, short_names


class Outputs(View):
    """Response curves with the breakdown point; error per token; residual of the pursuit."""

    name = "outputs"
    title = "Outputs under contamination"
    reads_curves = True
    help = (
        "The error ‖h − h_ref‖/‖h_ref‖ of the head's output against the same attention's own clean output, "
        "over the level of contamination (mean and range over seeds). RPC's own error alone flatters: an "
        "output that ignores the data never moves. So RPC against softmax's clean output is drawn too, with "
        "two references, the mean of the values and softmax on clipped keys. The breakdown point is the "
        "first level from which RPC stays worse than softmax, each against its own clean output. The "
        "residual of principal attention pursuit need not fall: nothing guarantees that it converges. "
        "Source: Teo and Nguyen, arXiv 2406.13762."
    )

    def build(self) -> None:
        """Make the items, once."""
        self.setMinimumSize(320, 200)
        self._strip, self._pursuit_strip = Strip(), Strip()
        self.plot, self._tokens, self._residuals = ResponsePlot(), TokenErrors(), ResidualTrace()
        self.plot_items = [self.plot, self._tokens, self._residuals]
        self.canvas.addItem(self._strip, 0, 0, 1, 2)
        self.canvas.addItem(self.plot, 1, 0, 3, 1)
        self.canvas.addItem(self._tokens, 1, 1)
        self.canvas.addItem(self._pursuit_strip, 2, 1)
        self.canvas.addItem(self._residuals, 3, 1)
        layout = self.canvas.ci.layout
        for column, share in enumerate((3, 2)):
            layout.setColumnStretchFactor(column, share)
            layout.setColumnPreferredWidth(column, share)
        self._chooser = CheckMenu("curves", "Which response curves are drawn")
        self._chooser.offer(list(CURVES.values()))
        self._chooser.choose(range(len(CURVES)))
        self._chooser.changed.connect(self._choose)
        self.asking = Asking()
        self.recolour()

    def header_controls(self) -> QWidget:
        """Return how long the curves take, where it is long, and the chooser of curves."""
        return self.asking.beside(self._chooser)

    def _names(self) -> list[str]:
        return [list(CURVES)[i] for i in self._chooser.chosen()]

    def options(self) -> dict[str, list[str]]:
        """Return which curves are drawn."""
        return {"curves": self._names()}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose curves."""
        if "curves" in options:
            self._chooser.choose(i for i, name in enumerate(CURVES) if name in options["curves"])
            self.redraw()

    def _choose(self) -> None:
        self.redraw()
        self.option_changed.emit(self.options())

    def why_not(self, result: Result) -> str:
        """Return why there is nothing to compare."""
        if result.errors is not None or result.curves is not None:
            return ""
        return " ".join(result.notes) or "This head has no output to compare."

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        for plot in (self.plot, self._tokens, self._residuals):
            plot.recolour()

    def draw(self, result: Result) -> None:
        """Put the numbers of `result` into the items."""
        shown = self._names()
        settles = self.settles(result, result.params.contamination, tuple(shown))
        if settles:
            self.plot.settle(self.plot.widths(result.params), self.plot.heights(result, shown))
        self.plot.draw(result, shown)
        for plot in (self._tokens, self._residuals):
            plot.draw(result)
            if settles:
                plot.rest()
        self._strip.say(
            *verdict(result), *(Part(curve_name(name, result), line=curve_pen(name)) for name in shown)
        )
        self._pursuit_strip.say(*_pursuit(result))
        self._ask(result)

    def _ask(self, result: Result) -> None:
        """Offer to compute curves that take long, or to leave them off."""
        left = None if result.curves is None else result.curves.seconds
        if left is None or left <= LONG_S:
            self.asking.working(False)
        elif result.curves is not None and result.curves.waits:
            self.asking.offer("Compute", f"the whole curves take {duration(left)}")
        elif result.final:
            self.asking.offer("Go on", f"left off; the rest takes {duration(left)}")
        else:
            self.asking.offer(CANCEL, f"{duration(left)} left")

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Mark the selected tokens."""
        if self.result is not None:
            self._tokens.mark(rows)

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return the token under the pointer in the errors per token."""
        if self.result is None or not self._tokens.sceneBoundingRect().contains(at):
            return []
        row = self._tokens.row_at(self._tokens.vb.mapSceneToView(at).x())
        return [row] if row >= 0 else []

    def reading_at(self, at: QPointF) -> str:
        """Return the errors at a level or of a token, or a residual."""
        if self.result is None:
            return ""
        for row in self.tokens_at(at):
            softmax, rpc = (figure(values[row]) for values in self._tokens.values)
            return f"{full_name(self.result, row)}: softmax {softmax}, RPC {rpc}"
        if self.plot.vb.sceneBoundingRect().contains(at):
            return self._level_at(self.result, self.plot.vb.mapSceneToView(at).x())
        if self._residuals.vb.sceneBoundingRect().contains(at):
            return self._iteration_at(round(self._residuals.vb.mapSceneToView(at).x()))
        return ""

    def _level_at(self, result: Result, level: float) -> str:
        curves = result.curves
        if curves is None or not len(curves.levels):
            return ""
        i = int(np.abs(curves.levels - level).argmin())
        parts = []
        for name in self._names():
            low, high = figure(curves.low[name][i], 2), figure(curves.high[name][i], 2)
            parts.append(f"{CURVES[name]} {figure(curves.mean[name][i])} ({low} to {high})")
        return f"at {level_in_words(float(curves.levels[i]), result.params, 3)}: " + "; ".join(parts)

    def _iteration_at(self, iteration: int) -> str:
        clean, moved = self._residuals.values
        if not 1 <= iteration <= len(clean):
            return ""
        before, after = clean[iteration - 1], moved[iteration - 1]
        more = f", contaminated {figure(after)}" if np.isfinite(after) else ""
        return f"residual ‖K − L − S‖ / ‖K‖ after iteration {iteration}: clean {figure(before)}{more}"

    def numbers(self, result: Result) -> Table:
        """Return the curves, then the errors per token, then the residuals."""
        names: list[str] = []
        columns: list[Any] = []
        if result.curves is not None:
            names, columns = ["level"], [result.curves.levels]
            bands = (result.curves.mean, result.curves.low, result.curves.high)
            for name in CURVES:
                names += [f"{name}, mean", f"{name}, low", f"{name}, high"]
                columns += [band[name] for band in bands]
        names += ["position", "token", "contaminated"]
        columns += [result.positions, short_names(result), result.contaminated]
        if result.errors is not None:
            names += ["softmax, error of the token", "rpc, error of the token"]
            columns += [result.errors.softmax_by_token, result.errors.rpc_by_token]
        if result.pursuit is not None:
            names += ["iteration", "residual, clean", "residual, contaminated"]
            went = result.pursuit
            iterations = np.arange(1, len(went.residuals) + 1)
            columns += [iterations, went.clean_residuals, went.residuals]
        return names, columns


def verdict(result: Result) -> tuple[str, ...]:
    """Say when RPC becomes worse than softmax for good, and where that shows nothing."""
    if result.errors is not None and result.pursuit is None:
        return ("RPC is not defined for this head",)
    if result.curves is None:
        return ("computing the curves",)
    return _fate(result.curves, result.params), *_flattery(result.curves)


def _fate(curves: Curves, p: Params) -> str:
    """Say from where on RPC moves more than softmax, each from its own clean output."""
    if curves.outcome == "unknown":
        known = np.isfinite(curves.mean["softmax"]).all() and curves.seeds == curves.seeds_wanted
        return (
            "no breakdown can be named" if known else f"curves: seed {curves.seeds} of {curves.seeds_wanted}"
        )
    if curves.outcome == "never":
        if not curves.mean["softmax"].any() and not curves.mean["rpc"].any():
            return "nothing moves at any level: there is nothing to compare"
        if curves.crossings:
            return f"no breakdown: RPC is worse only below {level_in_words(curves.crossings[-1], p)}"
        return f"RPC never becomes worse up to {level_in_words(LEVEL_MAX[p.contamination], p)}"
    if curves.outcome == "at once" or curves.breakdown is None:
        return "RPC is worse at once"
    return f"▼ breakdown {level_in_words(curves.breakdown, p)}"


def _flattery(curves: Curves) -> list[str]:
    """Say where moving less shows nothing: RPC's output is no nearer to softmax's than what never moves."""
    ahead = curves.outcome in ("never", "at a level") and bool(curves.mean["softmax"].any())
    if not ahead or (curves.mean["rpc_to_softmax"] < curves.mean["uniform"]).any():
        return []
    return ["flatters: never nearer to clean softmax than the values' mean"]


def curve_name(name: str, result: Result) -> str:
    """Return a curve's name in the legend; RPC's with its convention and λ."""
    if name != "rpc" or result.pursuit is None:
        return CURVES[name]
    return f"RPC, {result.params.form}, λ = {figure(result.pursuit.lam)}"


def _pursuit(result: Result) -> list[Part | str]:
    """Say what the symbols of the trace mean, and how well S found the contaminated entries."""
    went = result.pursuit
    if went is None:
        return ["no pursuit: see the notes"]
    parts: list[Part | str] = [Part("clean", symbol="o", pen=pen(RPC, 1.25), brush=clean_brush(RPC))]
    if result.is_moved:
        parts.append(Part("contaminated", symbol="o", pen=pen(RPC, 1.25), brush=contaminated_brush()))
    if went.precision is not None and went.recall is not None:
        parts += [f"S: precision {percent(went.precision)}", f"recall {percent(went.recall)}"]
    return parts
