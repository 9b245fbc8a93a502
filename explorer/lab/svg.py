"""A small drawing in SVG: one pair of axes, curves, bands, cells and words, as a figure on white paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

WIDTH, HEIGHT = 520, 360
LEFT, TOP, BOTTOM = 64, 36, 52
INK, GREY, HAIRLINE = "#1A1C1F", "#5F6670", "#E3E6EA"


class Figure:
    """Axes over `x` and `y`, either linear or logarithmic in x.

    Parameters
    ----------
    title, x_label, y_label : str
    x, y : (float, float)
        The ranges.
    log_x : bool
    right : int
        Margin at the right, in pixels.
    legend_on_top : bool
        Else the legend is at the bottom.
    """

    def __init__(
        self,
        title: str,
        x_label: str,
        y_label: str,
        x: tuple[float, float],
        y: tuple[float, float],
        log_x: bool = False,
        right: int = 20,
        legend_on_top: bool = False,
    ) -> None:
        self._x, self._y, self._log = x, y, log_x
        self._right, self._legend_on_top = WIDTH - right, legend_on_top
        self._parts: list[str] = []
        self._legend: list[tuple[str, str]] = []
        self._words = [
            _text(LEFT, 20, title, "start", INK, 13),
            _text((LEFT + self._right) / 2, HEIGHT - 14, x_label, "middle", INK, 12),
            f'<g transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2:.1f}) rotate(-90)">'
            f"{_text(0, 0, y_label, 'middle', INK, 12)}</g>",
        ]

    def _place(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
        low, high = (np.log(self._x) if self._log else np.array(self._x)).tolist()
        across = ((np.log(x) if self._log else np.asarray(x, float)) - low) / (high - low)
        up = (np.asarray(y, float) - self._y[0]) / (self._y[1] - self._y[0])
        inner = self._right - LEFT, HEIGHT - TOP - BOTTOM
        return np.stack([LEFT + across * inner[0], HEIGHT - BOTTOM - up * inner[1]], -1)

    def line(
        self, x: ArrayLike, y: ArrayLike, colour: str, name: str, dash: str = "", width: float = 2
    ) -> None:
        """Add a curve and its line in the legend."""
        style = f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dash}"'
        self._parts.append(f'<polyline points="{_points(self._place(x, y))}" {style}/>')
        if name:
            self._legend.append((name, style))

    def band(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: str) -> None:
        """Fill between two curves."""
        edge = np.concatenate([self._place(x, low), self._place(x, high)[::-1]])
        self._parts.append(f'<polygon points="{_points(edge)}" fill="{colour}" fill-opacity="0.18"/>')

    def cell(self, x: tuple[float, float], y: tuple[float, float], colour: str) -> None:
        """Fill a rectangle."""
        (left, bottom), (right, top) = self._place(np.array(x), np.array(y)).tolist()
        place = f'x="{left:.2f}" y="{top:.2f}" width="{right - left:.2f}" height="{bottom - top:.2f}"'
        self._parts.append(f'<rect {place} fill="{colour}" stroke="{colour}" stroke-width="0.3"/>')

    def ticks(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        """Add figures along both axes."""
        for value in xs:
            x, y = self._place(value, self._y[0]).tolist()
            self._words.append(f'<path d="M{x:.1f} {y:.1f}v4" stroke="{GREY}"/>')
            self._words.append(_text(x, y + 17, f"{value:g}", "middle", GREY, 11))
        for value in ys:
            x, y = self._place(self._x[0], value).tolist()
            self._words.append(f'<path d="M{x:.1f} {y:.1f}h-4" stroke="{GREY}"/>')
            self._words.append(_text(x - 8, y + 4, f"{value:g}", "end", GREY, 11))

    def scale(self, colours: Sequence[str], name: str) -> None:
        """Add a bar at the right that says which colour is which number, from 0 to 1."""
        x, bottom, step = self._right + 16, HEIGHT - BOTTOM, (HEIGHT - TOP - BOTTOM) / len(colours)
        for i, colour in enumerate(colours):
            y = bottom - (i + 1) * step
            self._words.append(
                f'<rect x="{x}" y="{y:.2f}" width="10" height="{step + 0.3:.2f}" fill="{colour}"/>'
            )
        for value in (0.0, 0.5, 1.0):
            y = bottom - value * (HEIGHT - TOP - BOTTOM) + 4
            self._words.append(_text(x + 15, y, f"{value:g}", "start", GREY, 11))
        self._words.append(_text(x + 10, TOP - 10, name, "middle", GREY, 11))

    def text(self) -> str:
        """Return the drawing."""
        clip = f'<rect x="{LEFT}" y="{TOP}" width="{self._right - LEFT}" height="{HEIGHT - TOP - BOTTOM}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="Inter, Helvetica, Arial, sans-serif">'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#FFFFFF"/>'
            f'<clipPath id="inside">{clip}/></clipPath>'
            f'<g clip-path="url(#inside)">{"".join(self._parts)}</g>{clip} fill="none" stroke="{HAIRLINE}"/>'
            f"{''.join(self._words)}{self._legend_text()}</svg>\n"
        )

    def _legend_text(self) -> str:
        """Draw the legend at the right, on a veil of white."""
        if not self._legend:
            return ""
        wide = max(len(name) for name, _ in self._legend) * 6 + 48
        x = self._right - 8 - wide
        y = TOP + 12 if self._legend_on_top else HEIGHT - BOTTOM - 8 - 17 * len(self._legend)
        veil = f'<rect x="{x}" y="{y - 4}" width="{wide}" height="{17 * len(self._legend) + 6}"'
        rows = [
            f'<path d="M{x + 6} {y + 17 * i + 8}h26" {style}/>'
            f"{_text(x + 40, y + 17 * i + 12, name, 'start', INK, 11)}"
            for i, (name, style) in enumerate(self._legend)
        ]
        return f'{veil} fill="#FFFFFF" fill-opacity="0.85"/>{"".join(rows)}'


def _points(places: NDArray[np.float64]) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in places.tolist() if np.isfinite(x) and np.isfinite(y))


def _text(x: float, y: float, words: str, anchor: str, colour: str, size: int) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">'
        f"{escape(words)}</text>"
    )
