"""A plot whose range moves only when it is told to."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtWidgets import QGraphicsSceneResizeEvent

from explorer.ui.theme import style_plot

Range = tuple[float, float]
Ticks = list[tuple[float, str]]
APART = 16
"""Pixels from one figure beside a plot to the next, at least."""
BELOW, ASIDE = 34, 52
"""Pixels for an axis with figures and a name; fixed, so that nothing moves when figures get longer."""


class Aside(pg.AxisItem):
    """An axis whose figures keep apart, and whose name stays within it, however low the plot is."""

    def resizeEvent(self, ev: QGraphicsSceneResizeEvent | None = None) -> None:
        """Write the name smaller where it is longer than the axis."""
        super().resizeEvent(ev)
        length, room = self.label.boundingRect().width(), self.size().height()
        if not length or not room:
            return
        scale = min(1.0, room / length)
        if scale != self.label.scale():
            self.label.setScale(scale)
        self.label.setY((room + length * scale) / 2)

    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """Return where figures fall: of spacings that are 1, 2 or 5 times a power of ten, one with room."""
        levels: list[tuple[float, float]] = super().tickSpacing(minVal, maxVal, size)
        if not levels or size <= 0 or levels[0][0] * size >= APART * abs(maxVal - minVal):
            return levels
        return [(_round_up(APART * abs(maxVal - minVal) / size), 0.0)]


class Plot(pg.PlotItem):
    """A plot without menus and buttons, whose range is set by `settle` and, where allowed, by the mouse.

    Parameters
    ----------
    zoom : bool
        Whether wheel and drag change the range; a double click, `fit`, brings the settled one back.
    axes : dict of str to AxisItem
        Axes to use in place of plain ones.
    box : ViewBox or None
        What takes the mouse; None: a plain one.
    """

    def __init__(
        self, zoom: bool = False, axes: dict[str, pg.AxisItem] | None = None, box: pg.ViewBox | None = None
    ) -> None:
        super().__init__(axisItems={"left": Aside("left")} | (axes or {}), viewBox=box, enableMenu=False)
        self.hideButtons()
        self.getAxis("bottom").setStyle(hideOverlappingLabels=False)
        self.setMouseEnabled(zoom, zoom)
        self.disableAutoRange()
        self.home: tuple[Range, Range] = ((0.0, 1.0), (0.0, 1.0))
        self.held = False
        self._names = ("", "")
        self._ticks: dict[str, Ticks | None] = {}
        self.vb.sigRangeChangedManually.connect(self._hold)
        style_plot(self)

    def name_axes(self, below: str, aside: str) -> None:
        """Call the axes so (rich text)."""
        if self._names != (below, aside):
            self._names = (below, aside)
            self.setLabel("bottom", below)
            self.setLabel("left", aside)
            self.getAxis("bottom").setHeight(BELOW)
            self.getAxis("left").setWidth(ASIDE)

    def set_ticks(self, side: str, ticks: Ticks | None) -> None:
        """Put figures at these places of an axis; None: where they fall by themselves."""
        if self._ticks.get(side) != ticks:
            self._ticks[side] = ticks
            self.getAxis(side).setTicks(None if ticks is None else [ticks])

    def settle(self, x: Range, y: Range) -> None:
        """Make (`x`, `y`) the range, unless a person zoomed in by hand."""
        if (x, y) == self.home:
            return
        self.home = (x, y)
        if not self.held:
            self.fit()

    def fit(self) -> None:
        """Go back to the settled range."""
        self.held = False
        self.vb.setRange(xRange=self.home[0], yRange=self.home[1], padding=0)

    def _hold(self, *_: object) -> None:
        self.held = True


def span(*parts: NDArray[np.float64], pad: float = 0.06, include: tuple[float, ...] = ()) -> Range:
    """Return a range around all finite numbers of `parts` and `include`, widened by a share `pad`.

    It ends at round numbers, so that it stays while the data move a little.
    """
    numbers = np.concatenate([np.ravel(part) for part in (*parts, np.asarray(include, float))])
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return 0.0, 1.0
    low, high = float(numbers.min()), float(numbers.max())
    margin = pad * (high - low) or max(abs(high), 1e-12) * 0.5
    step = _step(high - low + 2 * margin)
    return math.floor((low - margin) / step) * step, math.ceil((high + margin) / step) * step


def ceiling(value: float) -> float:
    """Return the next round number from `value` up, at most a tenth above it; 1 for 0."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    step = _step(value)
    return math.ceil(value / step * (1 - 1e-12)) * step


def up_from_zero(*parts: NDArray[np.float64], pad: float = 0.08) -> Range:
    """Return a range from 0 to a round number above the largest finite number of `parts`."""
    numbers = np.concatenate([np.ravel(part) for part in parts])
    return 0.0, ceiling(float(numbers[np.isfinite(numbers)].max(initial=0.0)) * (1 + pad))


def _round_up(value: float) -> float:
    """Return the smallest of 1, 2 or 5 times a power of ten that is no less than `value`."""
    power = 10.0 ** math.floor(math.log10(value))
    return min(factor * power for factor in (1, 2, 5, 10) if factor * power >= value * (1 - 1e-12))


def _step(width: float) -> float:
    """Return the largest of 1, 2 or 5 times a power of ten that is at most a tenth of `width`."""
    power = 10.0 ** math.floor(math.log10(width / 10))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= width / 10 * (1 + 1e-12))
