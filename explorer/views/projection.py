"""Where queries lie in feature space, on two principal axes of the keys, clean and contaminated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QWidget

from explorer.params import Params
from explorer.result import Projection, Result
from explorer.ui.theme import SOFTMAX, accent_pen, clean_brush, contaminated_brush, pen, scheme, secondary_pen
from explorer.views.axes_chooser import AxesChooser
from explorer.views.base import Table, View
from explorer.views.plot import Plot, span
from explorer.views.points import Points, nearest
from explorer.views.strip import Part, Strip
from explorer.views.words import figure, full_name, short_names, subscript

NEAR = 10.0
"""How many pixels from a symbol still mean it."""


class ProjectionView(View):
    """Queries (and keys) on two chosen principal axes, clean and contaminated, joined by a line."""

    name = "projection"
    title = "Queries in feature space"
    help = (
        "A filled point is ⟨φ(q), u_d⟩: query q in the feature space of the kernel exp(τ x·y), on principal "
        "axis u_d of the clean keys. It equals softmax attention with the values V* that kernel PCA "
        "prescribes, exactly. The hollow point at the other end of the line is what attention over the "
        "contaminated keys returns with the same V*. Near points attend alike; distances count only along "
        "the two axes shown, and an axis whose eigenvalue nearly equals its neighbour's may turn freely. "
        "Source: Teo and Nguyen, arXiv 2406.13762."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.plot = Plot(zoom=True)
        self.plot_items = [self.plot]
        self._links = pg.PlotCurveItem(connect="pairs", antialias=True)
        self._key_links = pg.PlotCurveItem(connect="pairs", antialias=True)
        self._keys, self._moved_keys = Points("d", 8), Points("d", 8)
        self._queries, self._moved, self._hit = Points("o", 7), Points("o", 7), Points("t1", 8)
        self._sizes = {self._keys: 8, self._moved_keys: 8, self._queries: 7, self._moved: 7, self._hit: 8}
        self._ring = Points("o", 14)
        for item in (
            self._key_links, self._links, self._keys, self._moved_keys,
            self._queries, self._moved, self._hit, self._ring,
        ):  # fmt: skip
            self.plot.addItem(item)
        self.canvas.addItem(self._strip, 0, 0)
        self.canvas.addItem(self.plot, 1, 0)
        self._unit = 0
        self._chooser = AxesChooser(self.state)
        self._chooser.keys_changed.connect(self._choose_keys)
        self.recolour()

    def header_controls(self) -> QWidget:
        """Return the choosers of axes, keys and centring."""
        return self._chooser

    def follow(self, params: Params) -> None:
        """Let the choosers show `params`."""
        self._chooser.follow(params)

    def options(self) -> dict[str, bool]:
        """Return whether the keys are shown."""
        return {"keys": self._chooser.keys.isChecked()}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Show or hide the keys."""
        self._chooser.keys.setChecked(bool(options.get("keys", self._chooser.keys.isChecked())))
        self.redraw()

    def _choose_keys(self) -> None:
        self.redraw()
        self.option_changed.emit(self.options())

    def why_not(self, result: Result) -> str:
        """Return why there are no projections."""
        if result.projection is None:
            return " ".join(result.notes) or "This head has no projections: no eigenvalue is above rounding."
        if np.isfinite(result.projection.queries).any():
            return ""
        return "No projection of this head is a finite number. Look at the spectrum, and try another head."

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        outline, secondary = pen(SOFTMAX, 1.5), secondary_pen(1.25)
        self._links.setPen(pen(scheme().secondary, 0.75))
        self._key_links.setPen(pen(scheme().hairline, 0.75))
        self._queries.style(outline, clean_brush())
        self._moved.style(outline, contaminated_brush())
        self._keys.style(secondary, clean_brush(scheme().secondary))
        self._moved_keys.style(secondary, contaminated_brush())
        self._hit.style(outline, contaminated_brush())
        self._ring.style(accent_pen(), None)
        self._parts = {
            "clean": Part("query, clean", symbol="o", pen=outline, brush=clean_brush()),
            "moved": Part("over contaminated keys", symbol="o", pen=outline, brush=contaminated_brush()),
            "hit": Part("and itself contaminated", symbol="t1", pen=outline, brush=contaminated_brush()),
            "keys": Part("key", symbol="d", pen=secondary, brush=clean_brush(scheme().secondary)),
        }

    def draw(self, result: Result) -> None:
        """Put the numbers of `result` into the items."""
        assert result.projection is not None
        with_keys = self._chooser.keys.isChecked()
        settles = self.settles(result, result.projection.axes, result.params.centred, with_keys)
        if settles:
            self._unit = math.floor(result.projection.log10_unit)
        self._shown = shown = in_unit(result.projection, self._unit)
        contaminated = bool(result.contaminated.any())
        nothing = np.empty((0, 2))
        self._scale(len(shown.queries))
        _place(self._queries, shown.queries)
        _place(self._moved, shown.moved_queries[~result.contaminated] if contaminated else nothing)
        _place(self._keys, shown.keys if with_keys else nothing)
        _place(self._moved_keys, shown.moved_keys if with_keys and contaminated else nothing)
        _place(self._hit, shown.moved_queries[result.contaminated])
        _join(self._links, shown.queries, shown.moved_queries, contaminated)
        _join(self._key_links, shown.keys, shown.moved_keys, with_keys and contaminated)
        self._chooser.offer(max(result.clean.vectors.shape[1], *(axis + 1 for axis in shown.axes)))
        self._name_axes(result, shown)
        self._say(result, with_keys, contaminated)
        if settles:
            drawn = [points for points, _ in self._targets(result)]
            self.plot.settle(*(span(*(points[:, d] for points in drawn)) for d in (0, 1)))

    def _scale(self, n: int) -> None:
        """Make symbols smaller where there are many."""
        less = 0 if n <= 500 else 2 if n <= 5000 else 4
        for item, size in self._sizes.items():
            item.resize(size - less)

    def _say(self, result: Result, with_keys: bool, contaminated: bool) -> None:
        moved = (self._parts["moved"], self._parts["hit"]) if contaminated else ()
        keys = (self._parts["keys"],) if with_keys else ()
        seen = f"as query {result.query} sees it: exact for that query alone"
        seen = "" if result.query is None else seen
        self._strip.say(self._parts["clean"], *moved, *keys, seen)

    def _name_axes(self, result: Result, shown: Projection) -> None:
        point = "<i>φ</i>(<i>q</i>) − mean" if result.params.centred else "<i>φ</i>(<i>q</i>)"
        point = f"({point})" if result.params.centred else point
        unit = f" (×10<sup>{shown.log10_unit:.0f}</sup>)" if shown.log10_unit else ""
        self.plot.name_axes(*(f"<i>u</i>{subscript(axis + 1)} · {point}{unit}" for axis in shown.axes))

    def _targets(self, result: Result) -> list[tuple[NDArray[np.float64], str]]:
        """Return what is drawn, each with its name, in the order in which the pointer looks for it."""
        shown = self._shown
        targets = [(shown.queries, "query"), (shown.moved_queries, "query, contaminated keys")]
        if self._chooser.keys.isChecked():
            targets += [(shown.keys, "key"), (shown.moved_keys, "contaminated key")]
        return targets if result.contaminated.any() else targets[::2]

    def _found(self, at: QPointF) -> tuple[int, str, tuple[float, float]]:
        """Return the token nearest to a point of the scene, what of it is there, and its place."""
        assert self.result is not None
        best, what, place, least = -1, "", (0.0, 0.0), np.inf
        if not self.plot.vb.sceneBoundingRect().contains(at):
            return best, what, place
        point = self.plot.vb.mapSceneToView(at)
        for points, name in self._targets(self.result):
            row, distance = nearest(self._queries, (point.x(), point.y()), points[:, 0], points[:, 1], NEAR)
            if distance < least:
                best, what, place, least = row, name, (points[row, 0], points[row, 1]), distance
        return best, what, place

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return the token nearest to the pointer."""
        if self.result is None:
            return []
        row = self._found(at)[0]
        return [row] if row >= 0 else []

    def reading_at(self, at: QPointF) -> str:
        """Return the nearest token's name and place."""
        if self.result is None:
            return ""
        row, what, place = self._found(at)
        if row < 0:
            return ""
        return f"{what} {full_name(self.result, row)}: {figure(place[0])}, {figure(place[1])}"

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Ring the selected tokens."""
        if self.result is None:
            return
        chosen = [points[rows] for points, _ in self._targets(self.result)]
        _place(self._ring, np.concatenate(chosen))

    def numbers(self, result: Result) -> Table:
        """Return every position on the two axes, in the power of ten that their names carry."""
        assert result.projection is not None
        shown = in_unit(result.projection, math.floor(result.projection.log10_unit))
        names, columns = ["position", "token", "contaminated"], []
        for values, what in (
            (shown.queries, "query"),
            (shown.moved_queries, "query over contaminated keys"),
            (shown.keys, "key"),
            (shown.moved_keys, "contaminated key"),
        ):
            names += [f"{what} on u{axis + 1} (1e{shown.log10_unit:.0f})" for axis in shown.axes]
            columns += list(values.T)
        return names, [result.positions, short_names(result), result.contaminated, *columns]


def in_unit(projection: Projection, exponent: int) -> Projection:
    """Return the same positions in units of 10^`exponent`."""
    factor = 10.0 ** (projection.log10_unit - exponent)
    return replace(
        projection,
        queries=projection.queries * factor,
        keys=projection.keys * factor,
        moved_queries=projection.moved_queries * factor,
        moved_keys=projection.moved_keys * factor,
        log10_unit=float(exponent),
    )


def _place(item: Points, points: NDArray[np.float64]) -> None:
    item.move(points[:, 0], points[:, 1])


def _join(item: pg.PlotCurveItem, start: NDArray[np.float64], end: NDArray[np.float64], shown: bool) -> None:
    """Draw a line from each of `start` to its partner in `end`."""
    keep = np.isfinite(start).all(1) & np.isfinite(end).all(1) & shown
    pairs = np.stack([start[keep], end[keep]], 1).reshape(-1, 2)
    item.setData(pairs[:, 0], pairs[:, 1])
