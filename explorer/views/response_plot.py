"""Errors over the level of contamination, with the present level, crossings and breakdown marked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsPathItem

from explorer.params import LEVEL_MAX, Params
from explorer.result import Curves, Errors, Result
from explorer.ui.theme import RPC, SOFTMAX, clean_brush, contaminated_brush, pen, rpc_pen, scheme, softmax_pen
from explorer.views.plot import Plot, Ticks, up_from_zero
from explorer.views.points import Points
from explorer.views.words import figure, percent

CURVES = {
    "softmax": "softmax",
    "rpc": "RPC",
    "rpc_to_softmax": "RPC against clean softmax",
    "uniform": "uniform",
    "clipped": "clipped keys",
}
BANDED = {"softmax": SOFTMAX, "rpc": RPC}
ERROR = "‖<i>h</i> − <i>h</i><sub>ref</sub>‖ / ‖<i>h</i><sub>ref</sub>‖"
LEVELS = {
    "sparse": "contaminated share of the key entries",
    "tokens": "contaminated share of the tokens",
    "gaussian": "deviation of the noise, in deviations of K",
    "replace": "replaced share of the key entries",
    "pixel noise": "deviation of the noise, in units of the pixels' range",
    "salt and pepper": "contaminated share of the pixels",
    "blur": "deviation of the blur, in pixels",
    "occlusion": "covered share of the area",
    "swap": "swapped share of the words",
    "mask": "masked share of the words",
    "delete": "deleted share of the words",
    "fgsm": "budget ε of the attack, in units of the pixels' range",
    "pgd": "budget ε of the attack, in units of the pixels' range",
}


NO_SHARES = {"gaussian": "deviations", "blur": "pixels"}
"""Levels that are no share of anything."""


def level_in_words(level: float, p: Params, digits: int = 2) -> str:
    """Return a level as a share; of noise on the keys in deviations of K, of a blur in pixels.

    Two digits suit a level that was found between others; one that was set has three.
    """
    unit = NO_SHARES.get(p.contamination)
    return f"{figure(level, digits)} {unit}" if unit else percent(level, digits=digits)


def level_ticks(p: Params) -> Ticks | None:
    """Return every tenth of a level that is a share; None of other levels."""
    return None if p.contamination in NO_SHARES else [(i / 10, f"{10 * i} %") for i in range(11)]


def curve_pen(name: str) -> QPen:
    """Return the line of a curve; each differs from the others in grey too."""
    style = Qt.PenStyle
    if name == "softmax":
        return softmax_pen()
    if name == "rpc":
        return rpc_pen()
    if name == "rpc_to_softmax":
        return pen(RPC, 1.25, style.DotLine)
    return pen(scheme().secondary, 1.25, style.DashDotLine if name == "clipped" else style.DashDotDotLine)


MARKER = 0.03
"""Of the height, below 0: half a marker, so that one at 0 is whole."""


class ResponsePlot(Plot):
    """The response curves with bands over seeds."""

    def __init__(self) -> None:
        super().__init__()
        self._drawn: tuple[Curves | None, tuple[str, ...]] = (None, ())
        self._bands = {name: QGraphicsPathItem() for name in BANDED}
        self._lines = {name: pg.PlotCurveItem(connect="finite", antialias=True) for name in CURVES}
        self._level = pg.InfiniteLine(0, angle=90)
        self._softmax_now, self._rpc_now = Points("o", 9), Points("s", 9)
        self._crossings, self._breakdown = Points("d", 9), Points("t", 11)
        for item in (
            *self._bands.values(), self._level, *self._lines.values(),
            self._crossings, self._breakdown, self._softmax_now, self._rpc_now,
        ):  # fmt: skip
            self.addItem(item, ignoreBounds=True)
        self.recolour()

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        for name, band in self._bands.items():
            colour = QColor(BANDED[name])
            colour.setAlpha(48)
            band.setBrush(colour)
            band.setPen(QPen(Qt.PenStyle.NoPen))
        for name, line in self._lines.items():
            line.setPen(curve_pen(name))
        self._level.setPen(pen(scheme().secondary, 1))
        self._softmax_now.style(pen(scheme().background, 1), clean_brush(SOFTMAX))
        self._rpc_now.style(pen(RPC, 2), contaminated_brush())
        self._crossings.style(pen(scheme().text, 1.25), None)
        self._breakdown.style(None, clean_brush(scheme().text))

    def draw(self, result: Result, shown: Sequence[str]) -> None:
        """Draw the curves named in `shown`, as far as they are known, and where this level stands."""
        curves, errors, p = result.curves, result.errors, result.params
        if (curves, tuple(shown)) != self._drawn:
            self._drawn = (curves, tuple(shown))
            self._draw_curves(curves, shown)
        self._level.setPos(p.level)
        self._draw_now(p.level, errors, shown)
        self._draw_marks(curves, {"softmax", "rpc"} <= set(shown))
        self.name_axes(LEVELS[p.contamination], ERROR)
        self.set_ticks("bottom", level_ticks(p))

    def _draw_curves(self, curves: Curves | None, shown: Sequence[str]) -> None:
        for name, line in self._lines.items():
            visible = curves is not None and name in shown
            line.setVisible(visible)
            if curves is not None and visible:
                line.setData(curves.levels, curves.mean[name])
        for name, band in self._bands.items():
            known = curves is not None and name in shown
            band.setPath(_band(curves, name) if curves is not None and known else QPainterPath())

    def heights(self, result: Result, shown: Sequence[str]) -> tuple[float, float]:
        """Return the range of errors that shows all of them."""
        parts = [np.zeros(1)]
        if result.errors is not None:
            parts += [np.array([getattr(result.errors, name)]) for name in shown]
        if result.curves is not None:
            parts += [result.curves.mean[name] for name in shown]
            parts += [result.curves.high[name] for name in shown if name in BANDED]
        low, high = up_from_zero(*parts)
        return low - MARKER * (high - low), high

    def widths(self, p: Params) -> tuple[float, float]:
        """Return the range of levels that the slider has."""
        most = LEVEL_MAX[p.contamination]
        return -0.02 * most, 1.02 * most

    def _draw_now(self, level: float, errors: Errors | None, shown: Sequence[str]) -> None:
        for name, points in (("softmax", self._softmax_now), ("rpc", self._rpc_now)):
            error = getattr(errors, name) if errors is not None and name in shown else np.nan
            points.move(np.array([level]), np.array([error]))

    def _draw_marks(self, curves: Curves | None, both: bool) -> None:
        levels = np.array(curves.crossings if curves is not None and both else ())
        broken = curves.breakdown if curves is not None and both else None
        at = np.array([] if broken is None else [broken])
        heights = [np.empty(0), np.empty(0)]
        if curves is not None:
            heights = [np.interp(x, curves.levels, curves.mean["softmax"]) for x in (levels, at)]
        self._crossings.move(levels, heights[0])
        low, high = self.home[1]
        self._breakdown.move(at, heights[1] + 0.06 * (high - low))


def _band(curves: Curves, name: str) -> QPainterPath:
    low, high = curves.low[name], curves.high[name]
    known = np.isfinite(low) & np.isfinite(high)
    path = QPainterPath()
    if known.any():
        x = curves.levels[known]
        corners = [*_points(x, high[known]), *_points(x[::-1], low[known][::-1])]
        path.addPolygon(QPolygonF(corners))
    return path


def _points(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[QPointF]:
    return [QPointF(*pair) for pair in zip(x.tolist(), y.tolist(), strict=True)]
