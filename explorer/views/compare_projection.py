"""Where the queries lie in feature space, pinned and present; on the same axes one behind the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF

from explorer.comparison import label_of, same_axes, why_not_one_plane
from explorer.result import Projection, Result
from explorer.ui.theme import SOFTMAX, accent_pen, clean_brush, pen, scheme
from explorer.views.base import Table
from explorer.views.compare_base import CompareView
from explorer.views.plot import Plot, span
from explorer.views.points import Points, nearest
from explorer.views.strip import Part, Strip
from explorer.views.words import figure, full_name, short_names, subscript

Places = NDArray[np.float64]
NOWHERE: Places = np.empty((0, 2))
NEAR = 10.0


class _Plane:
    """One of the two planes: a sentence, and symbols on two principal axes."""

    def __init__(self) -> None:
        self.strip, self.plot = Strip(), Plot(zoom=True)
        self.ghost, self.points, self.ring = Points("d", 7), Points("o", 6), Points("o", 14)
        for item in (self.ghost, self.points, self.ring):
            self.plot.addItem(item, ignoreBounds=True)
        self.at = NOWHERE

    def show(self, shown: Projection, at: Places, ghost: Places, reach: Places) -> None:
        """Draw symbols `at` these places, those of `ghost` behind, over a range that `reach` fills."""
        unit = f" (×10<sup>{shown.log10_unit:.0f}</sup>)" if shown.log10_unit else ""
        self.plot.name_axes(
            *(f"<i>u</i>{subscript(axis + 1)} · <i>φ</i>(<i>q</i>){unit}" for axis in shown.axes)
        )
        self.at = at
        self.points.move(*at.T)
        self.ghost.move(*ghost.T)
        self.plot.settle(span(reach[:, 0]), span(reach[:, 1]))

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Ring the symbols of these rows."""
        self.ring.move(*(self.at[rows] if len(self.at) else NOWHERE).T)

    def row_at(self, at: QPointF) -> int:
        """Return the row of the symbol at a point of the scene; −1 beside them."""
        if not self.plot.vb.sceneBoundingRect().contains(at):
            return -1
        point = self.plot.vb.mapSceneToView(at)
        return nearest(self.points, (point.x(), point.y()), self.at[:, 0], self.at[:, 1], NEAR)[0]


class CompareProjection(CompareView):
    """Two planes; where the clean keys are the same, one scale, and the pinned behind the present."""

    name = "compare-projection"
    wide = True
    title = "Projections beside each other"
    help = (
        "Left the pinned queries, right the present ones, each as attention over its keys returns them with "
        "the V* of its own clean keys. Only pictures of the same clean keys share their axes: then both "
        "planes have one scale, and the hollow symbols on the right are the pinned ones. Otherwise an axis "
        "of one picture has nothing to do with that of the other. "
        "Source: Teo and Nguyen, arXiv 2406.13762."
    )

    def build(self) -> None:
        """Make the items, once."""
        self.planes = [_Plane(), _Plane()]
        self.plot_items = [plane.plot for plane in self.planes]
        for i, plane in enumerate(self.planes):
            self.canvas.addItem(plane.strip, 0, i)
            self.canvas.addItem(plane.plot, 1, i)
            self.canvas.ci.layout.setColumnStretchFactor(i, 1)
        self.recolour()

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        self._styles = (pen(scheme().accent, 1.25), None), (pen(SOFTMAX, 1), clean_brush())
        for plane, (outline, filling) in zip(self.planes, self._styles, strict=True):
            plane.points.style(outline, filling)
            plane.ghost.style(self._styles[0][0], None)
            plane.ring.style(accent_pen(), None)
        self.planes[0].points.setSymbol("d")

    def why_not(self, result: Result) -> str:
        """Return why one of the two has no projection."""
        reason = super().why_not(result)
        if reason or (self.reference.result.projection is not None and result.projection is not None):
            return reason
        which = "present" if result.projection is None else "pinned"
        return (
            f"The {which} picture has no projection: its keys have fewer principal axes than the two chosen."
        )

    def draw(self, result: Result) -> None:
        """Put both pictures' queries into the items."""
        before, now = self._shown(result)
        reason = why_not_one_plane(self.reference.result, result)
        both = np.concatenate([before.moved_queries, now.moved_queries])
        left, right = self.planes
        for link in (right.plot.setXLink, right.plot.setYLink):
            link(None if reason else left.plot)
        left.show(before, before.moved_queries, NOWHERE, before.moved_queries if reason else both)
        right.show(
            now, now.moved_queries, NOWHERE if reason else before.moved_queries,
            now.moved_queries if reason else both,
        )  # fmt: skip
        (pinned, hollow), (present, full) = self._styles
        left.strip.say(Part(f"pinned: {self.reference.label}", symbol="d", pen=pinned, brush=hollow))
        right.strip.say(
            Part(f"present: {label_of(result)}", symbol="o", pen=present, brush=full),
            reason or Part("pinned", symbol="d", pen=pinned, brush=hollow),
        )

    def _shown(self, result: Result) -> tuple[Projection, Projection]:
        before, now = self.reference.result.projection, result.projection
        assert before is not None and now is not None
        if same_axes(self.reference.result, result):
            before = before.in_unit(round(now.log10_unit))
        return before, now

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Ring the selected tokens in both planes."""
        if self.result is None:
            return
        before = np.flatnonzero(np.isin(self.reference.result.positions, sorted(self.state.selection)))
        for plane, marked in zip(self.planes, (before, rows), strict=True):
            plane.mark(marked)

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return the present query under the pointer."""
        row = self.planes[1].row_at(at)
        return [row] if row >= 0 else []

    def reading_at(self, at: QPointF) -> str:
        """Return a query and its coordinates."""
        if self.result is None:
            return ""
        for plane, shown in zip(self.planes, (self.reference.result, self.result), strict=True):
            if (row := plane.row_at(at)) >= 0:
                assert shown.projection is not None
                x, y = (figure(value) for value in plane.at[row])
                return f"{full_name(shown, row)}: ({x}, {y}), {plane.strip.parts[0].text}"
        return ""

    def numbers(self, result: Result) -> Table:
        """Return the coordinates of both, a token a row; they end where one has fewer tokens."""
        before, now = self._shown(result)
        first = self.reference.result
        names = [
            f"{which} u{axis + 1} (x1e{shown.log10_unit:.0f})"
            for which, shown in (("pinned", before), ("present", now))
            for axis in shown.axes
        ]
        return ["pinned token", "present token", *names], [
            short_names(first), short_names(result), *before.moved_queries.T, *now.moved_queries.T,
        ]  # fmt: skip
