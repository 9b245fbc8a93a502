"""Just enough of SVG to draw axes, marks and heat maps; colours come from the page's style by class."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

LABEL, LETTER = 28.0, 6.2
"""Pixels that a turned label takes beside the ticks' numbers, and each letter of those."""
DIVERGING = ("#003A5D", "#0072B2", "#7DB8DC", "#F7F7F7", "#F0A878", "#C25400", "#602400")
"""Blue below 0, white at it, orange above: the window's colours of signed values."""


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return a few round numbers between two."""
    if not high > low:
        return [low]
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    return [
        round(i * step, 12) for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]


def diverging(value: float, limit: float) -> str:
    """Return the colour of a signed value on a scale from −limit to limit."""
    place = (min(max(value / limit, -1.0), 1.0) + 1) / 2 * (len(DIVERGING) - 1)
    i = min(int(place), len(DIVERGING) - 2)
    start, end = (tuple(int(DIVERGING[j][k : k + 2], 16) for k in (1, 3, 5)) for j in (i, i + 1))
    mixed = (round(a + (b - a) * (place - i)) for a, b in zip(start, end, strict=True))
    return "#" + "".join(f"{part:02X}" for part in mixed)


def number(value: float) -> str:
    """Write a tick's number, short and with a true minus sign."""
    return f"{value:g}".replace("-", "−").replace("e+0", "e").replace("e−0", "e−")


def span(*values: Iterable[float], margin: float = 0.05) -> tuple[float, float]:
    """Return a range that holds all finite values with a margin, (0, 1) if there are none."""
    found = np.concatenate([np.asarray(list(part), float) for part in values])
    found = found[np.isfinite(found)]
    if not found.size:
        return 0.0, 1.0
    low, high = float(found.min()), float(found.max())
    pad = (high - low) * margin or abs(low) * margin or 1.0
    return low - pad, high + pad


def text(kind: str, x: float, y: float, words: str, anchor: str = "start", turned: bool = False) -> str:
    """Write words of a kind ("title", "label", "tick", "inside"), turned to run upwards if asked."""
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{escape(words)}</text>'


class Axes:
    """A picture with two axes; data are given in their own units.

    Parameters
    ----------
    x, y : (float, float)
        Ranges.
    x_label, y_label : str
    width, height : float
        Of the whole, in pixels.
    title : str
        Above the axes.
    """

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        x_label: str = "",
        y_label: str = "",
        width: float = 440,
        height: float = 260,
        title: str = "",
        left: float = 52,
    ) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height
        left = max(left, LABEL + LETTER * max((len(number(value)) for value in ticks(*y, 4)), default=0))
        self.left, self.right = left, width - 12.0
        self.top, self.bottom = 26.0 if title else 12.0, height - 40.0
        self.parts = [
            text("title", left, 14, title),
            text("label", (left + self.right) / 2, height - 6, x_label, "middle"),
            text("label", 12, (self.top + self.bottom) / 2, y_label, "middle", turned=True),
        ]

    def px(self, x: float) -> float:
        """Return the pixel of a data coordinate."""
        low, high = self.x
        return self.left + (x - low) / (high - low) * (self.right - self.left)

    def py(self, y: float) -> float:
        """Return the pixel of a data coordinate."""
        low, high = self.y
        return self.bottom - (y - low) / (high - low) * (self.bottom - self.top)

    def grid(self, x: Sequence[float] | None = None, y: Sequence[float] | None = None) -> Axes:
        """Draw ticks, round ones unless given, with hairlines across for y."""
        for value in ticks(*self.y, 4) if y is None else y:
            at = self.py(value)
            self.parts.append(f'<path class="hair" d="M{self.left:g} {at:.1f}H{self.right:g}"/>')
            self.parts.append(text("tick", self.left - 6, at + 4, number(value), "end"))
        for value in ticks(*self.x) if x is None else x:
            self.parts.append(text("tick", self.px(value), self.bottom + 15, number(value), "middle"))
        self.parts.append(f'<path class="axis" d="M{self.left:g} {self.bottom:g}H{self.right:g}"/>')
        return self

    def line(self, xs: Iterable[float], ys: Iterable[float], kind: str) -> None:
        """Draw a line through points, broken where one is not finite."""
        path, pen = [], "M"
        for x, y in zip(xs, ys, strict=True):
            if math.isfinite(x) and math.isfinite(y):
                path.append(f"{pen}{self.px(x):.1f} {self.py(y):.1f}")
                pen = "L"
            else:
                pen = "M"
        self.parts.append(f'<path class="line {kind}" d="{"".join(path)}"/>')

    def band(self, xs: Iterable[float], low: Iterable[float], high: Iterable[float], kind: str) -> None:
        """Fill between two lines."""
        points = [each for each in zip(xs, low, high, strict=True) if all(map(math.isfinite, each))]
        there = [f"{self.px(x):.1f} {self.py(top):.1f}" for x, _, top in points]
        back = [f"{self.px(x):.1f} {self.py(bottom):.1f}" for x, bottom, _ in reversed(points)]
        if points:
            self.parts.append(f'<path class="band {kind}" d="M{"L".join(there + back)}Z"/>')

    def upright(self, x: float, low: float, high: float, kind: str, shift: float = 0.0) -> None:
        """Draw an interval of y at x, moved sideways by pixels."""
        if math.isfinite(low) and math.isfinite(high):
            at = self.px(x) + shift
            ends = f"{self.py(low):.1f}V{self.py(high):.1f}"
            self.parts.append(f'<path class="bar {kind}" d="M{at:.1f} {ends}"/>')

    def dot(
        self, x: float, y: float, kind: str, tip: str = "", radius: float = 2.5, shift: float = 0.0
    ) -> None:
        """Draw a point; `tip` is shown when the pointer rests on it."""
        if math.isfinite(x) and math.isfinite(y):
            centre = f'cx="{self.px(x) + shift:.1f}" cy="{self.py(y):.1f}"'
            self.parts.append(
                f'<circle class="dot {kind}" {centre} r="{radius:g}"><title>{escape(tip)}</title></circle>'
            )

    def column(self, start: float, end: float, height: float, kind: str) -> None:
        """Draw a column of a histogram from 0 up."""
        top = self.py(height)
        self.parts.append(
            f'<rect class="column {kind}" x="{self.px(start) + 0.5:.1f}" y="{top:.1f}" '
            f'width="{max(self.px(end) - self.px(start) - 1, 0.5):.1f}" height="{self.py(0) - top:.1f}"/>'
        )

    def render(self) -> str:
        """Return the picture."""
        return picture(self.width, self.height, self.parts)


def picture(width: float, height: float, parts: Iterable[str]) -> str:
    """Wrap parts as a picture of that size."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )
