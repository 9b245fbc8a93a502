"""Beside the curves: the error of each token's output, and how the pursuit went."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray

from explorer.result import Result
from explorer.ui.theme import RPC, accent_pen, clean_brush, contaminated_brush, pen, rpc_pen, softmax_pen
from explorer.views.plot import ASIDE, Plot, up_from_zero
from explorer.views.points import Points
from explorer.views.token_axis import TokenAxis
from explorer.views.words import short_names

MARKED = 40
"""Up to so many tokens each has a symbol of its own."""


class TokenErrors(Plot):
    """The error of every token's output: softmax solid, RPC dashed."""

    def __init__(self) -> None:
        self.tokens = TokenAxis("bottom", middle=0.0)
        super().__init__(axes={"bottom": self.tokens})
        self._softmax, self._rpc = pg.PlotCurveItem(connect="finite"), pg.PlotCurveItem(connect="finite")
        self._marks = (Points("o", 4), Points("s", 5))
        self._ring = Points("o", 10)
        for item in (self._softmax, self._rpc, *self._marks, self._ring):
            self.addItem(item, ignoreBounds=True)
        self.setLabel("left", "error")
        self.getAxis("left").setWidth(ASIDE)
        self.getAxis("left").setTickDensity(0.4)
        self.values = (np.empty(0), np.empty(0))
        self.recolour()

    def recolour(self) -> None:
        """Take pens of the scheme again."""
        self._softmax.setPen(softmax_pen(1))
        self._rpc.setPen(rpc_pen(1))
        self._marks[0].style(softmax_pen(1), clean_brush())
        self._marks[1].style(pen(RPC, 1), contaminated_brush())
        self._ring.style(accent_pen(), None)

    def draw(self, result: Result) -> None:
        """Draw the errors of `result` over its tokens."""
        nothing = np.full(len(result.positions), np.nan)
        errors = result.errors
        self.values = (nothing, nothing) if errors is None else (errors.softmax_by_token, errors.rpc_by_token)
        places = np.arange(len(nothing), dtype=float)
        for line, marks, values in zip((self._softmax, self._rpc), self._marks, self.values, strict=True):
            line.setData(places, values)
            marks.move(places, values if len(values) <= MARKED else nothing)
        self.tokens.set_tokens(short_names(result))
        self.tokens.set_contaminated(np.flatnonzero(result.contaminated))

    def rest(self) -> None:
        """Let the range show everything."""
        self.settle((-0.8, len(self.values[0]) - 0.2), up_from_zero(*self.values))

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Ring the selected tokens."""
        self.tokens.set_selected(rows)
        self._ring.move(np.tile(rows.astype(float), 2), np.concatenate([v[rows] for v in self.values]))

    def row_at(self, x: float) -> int:
        """Return the token at a place of the plot; −1 where none is."""
        row = round(x)
        return row if 0 <= row < len(self.values[0]) else -1


class ResidualTrace(Plot):
    """‖K − L − S‖ / ‖K‖ after each iteration: clean filled, contaminated hollow."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = (pg.PlotCurveItem(connect="finite"), pg.PlotCurveItem(connect="finite"))
        self._marks = (Points("o", 6), Points("o", 6))
        for item in (*self._lines, *self._marks):
            self.addItem(item, ignoreBounds=True)
        self.name_axes("iteration", "residual")
        self.getAxis("left").setTickDensity(0.4)
        self.values = (np.empty(0), np.empty(0))
        self.recolour()

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        for line, mark, brush in zip(
            self._lines, self._marks, (clean_brush(RPC), contaminated_brush()), strict=True
        ):
            line.setPen(rpc_pen(1))
            mark.style(pen(RPC, 1.25), brush)

    def draw(self, result: Result) -> None:
        """Draw how the pursuit went in `result`."""
        went = result.pursuit
        self.values = (np.empty(0), np.empty(0))
        if went is not None:
            moved = went.residuals if result.is_moved else np.full_like(went.residuals, np.nan)
            self.values = (went.clean_residuals, moved)
        for line, mark, values in zip(self._lines, self._marks, self.values, strict=True):
            iterations = np.arange(1, len(values) + 1.0)
            line.setData(iterations, values)
            mark.move(iterations, values)

    def rest(self) -> None:
        """Let the range show everything."""
        count = max(2, len(self.values[0]))
        step = -(-count // 5)
        self.set_ticks("bottom", [(i, str(i)) for i in range(step, count + 1, step)])
        self.settle((0.7, count + 0.3), up_from_zero(*self.values, pad=0.15))
