"""Where queries lie in feature space, on principal axes of the keys, clean and contaminated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from explorer.params import Params
from explorer.result import Result
from explorer.ui.theme import (
    GRID,
    SOFTMAX,
    accent_pen,
    clean_brush,
    contaminated_brush,
    pen,
    scheme,
    secondary_pen,
)
from explorer.views import colouring
from explorer.views.axes_chooser import AxesChooser
from explorer.views.base import Table, View
from explorer.views.colorbar import ColorBar
from explorer.views.colouring import Colouring
from explorer.views.drag import Drag, DragBox
from explorer.views.lasso import Lasso, inside
from explorer.views.plot import Plot, span
from explorer.views.point_colours import FILLS, SYMBOLS, fill, kinds, shades
from explorer.views.points import Points, join, nearest
from explorer.views.rotation import PER_PIXEL, STEP, Rotation, ball
from explorer.views.strip import Part, Strip
from explorer.views.triad import Triad
from explorer.views.words import figure, full_name, percent, short_names, subscript, superscript

Array = NDArray[np.float64]
TURNS = {
    Qt.Key.Key_Left: (-STEP, 0.0), Qt.Key.Key_Right: (STEP, 0.0),
    Qt.Key.Key_Up: (0.0, -STEP), Qt.Key.Key_Down: (0.0, STEP),
}  # fmt: skip
MANY = 2000
"""Points from which lines between them are drawn without smoothing."""

NEAR = 10.0
"""How many pixels from a symbol still mean it."""


class ProjectionView(View):
    """Queries (and keys) on two or three principal axes, clean and contaminated, joined by a line."""

    name = "projection"
    title = "Queries in feature space"
    help = (
        "A filled point is ⟨φ(q), u_d⟩: query q in the feature space of the kernel exp(τ x·y), on principal "
        "axis u_d of the clean keys. It equals softmax attention with the values V* that kernel PCA "
        "prescribes, exactly. The hollow point at the other end of the line is what attention over the "
        "contaminated keys returns with the same V*. Near points attend alike; distances count only along "
        "the axes shown, and an axis whose eigenvalue nearly equals its neighbour's may turn freely. "
        "3-D is the same scatter seen from a side, without perspective and without OpenGL: all three axes "
        "have one scale, and what lies behind is not smaller. "
        "Source: Teo and Nguyen, arXiv 2406.13762."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self._box = DragBox()
        self.plot, self._bar = Plot(zoom=True, box=self._box), ColorBar()
        self._bar.layout.setContentsMargins(0, GRID, 0, GRID)
        self.plot_items = [self.plot]
        self._box.takes = self._takes
        self._box.dragged.connect(self._drag)
        self.canvas.installEventFilter(self)
        self._links = pg.PlotCurveItem(connect="pairs", antialias=True)
        self._key_links = pg.PlotCurveItem(connect="pairs", antialias=True)
        self._keys, self._moved_keys = Points("d", 8), Points("d", 8)
        self._queries, self._moved, self._hit = Points("o", 7), Points("o", 7), Points("t1", 8)
        self._sizes = {self._keys: 8, self._moved_keys: 8, self._queries: 7, self._moved: 7, self._hit: 8}
        self._ring = Points("o", 14)
        self._triad, self._lasso = Triad(self.plot), Lasso()
        self._rotation, self._middle, self._radius = Rotation(), np.zeros(3), 1.0
        for item in (
            self._key_links, self._links, self._keys, self._moved_keys,
            self._queries, self._moved, self._hit, self._ring,
        ):  # fmt: skip
            self.plot.addItem(item)
        self.plot.addItem(self._lasso, ignoreBounds=True)
        self.canvas.addItem(self._strip, 0, 0, 1, 2)
        self.canvas.addItem(self.plot, 1, 0)
        self.canvas.addItem(self._bar, 1, 1)
        self._bar.setVisible(False)
        self._unit = 0
        self._colours: Colouring | None = None
        self._chooser = AxesChooser(self.state)
        self._chooser.chosen.connect(self._choose)
        self.add_tools(self._chooser.tools)
        self.recolour()

    def header_controls(self) -> QWidget:
        """Return the choosers of axes."""
        return self._chooser

    def follow(self, params: Params) -> None:
        """Let the choosers show `params`."""
        self._chooser.follow(params)

    def options(self) -> dict[str, Any]:
        """Return whether keys and a third axis are shown, which, and what colours the points."""
        return self._chooser.options()

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose what `options` gave."""
        self._chooser.set_options(options)
        self.redraw()

    def _choose(self) -> None:
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
        self._triad.recolour()
        self._lasso.recolour()
        self._parts = {
            "clean": Part("query, clean", symbol="o", pen=outline, brush=clean_brush()),
            "moved": Part("over contaminated keys", symbol="o", pen=outline, brush=contaminated_brush()),
            "hit": Part("and itself contaminated", symbol="t1", pen=outline, brush=contaminated_brush()),
            "keys": Part("key", symbol="d", pen=secondary, brush=clean_brush(scheme().secondary)),
        }

    def draw(self, result: Result) -> None:
        """Put the numbers of `result` into the items."""
        assert result.projection is not None
        known = result.projection.leading
        self._chooser.offer(
            max(result.clean.vectors.shape[1] if known is None else known.shape[2],
                *(axis + 1 for axis in result.projection.axes))
        )  # fmt: skip
        with_keys, third = self._chooser.keys.isChecked(), self._third(result)
        settles = self.settles(result, result.projection.axes, result.params.centred, with_keys, third)
        if settles:
            self._unit = math.floor(result.projection.log10_unit)
        self._shown = result.projection.in_unit(self._unit)
        self._axes = self._shown.axes if third is None else (*self._shown.axes, third)
        self._scale(len(self._shown.queries))
        self._name_axes(result)
        if settles and third is not None:
            self._middle, self._radius = ball(np.stack([points for points, _ in self._targets(result)]))
        self._place(result)
        if settles:
            self._settle(result)

    def _third(self, result: Result) -> int | None:
        """Return the third axis; None for a picture in the plane."""
        assert result.projection is not None
        known, third = result.projection.leading, self._chooser.third.currentIndex()
        solid = self._chooser.solid and known is not None and 0 <= third < known.shape[2]
        return third if solid else None

    def _settle(self, result: Result) -> None:
        solid = len(self._axes) == 3
        self.plot.vb.setAspectLocked(solid)
        for side in ("left", "bottom"):
            self.plot.showAxis(side, not solid)
        if solid:
            reach = (-1.05 * self._radius, 1.05 * self._radius)
            self.plot.settle(reach, reach)
            return
        drawn = [points for points, _ in self._targets(result)]
        self.plot.settle(*(span(*(points[:, d] for points in drawn)) for d in (0, 1)))

    def _place(self, result: Result) -> None:
        """Put every symbol where it is seen."""
        queries, moved, keys, moved_keys = (self._seen(points) for points in self._clouds())
        with_keys, contaminated = self._chooser.keys.isChecked(), result.is_moved
        nothing = np.empty((0, 2))
        _place(self._queries, queries)
        _place(self._moved, moved[~result.contaminated] if contaminated else nothing)
        _place(self._keys, keys if with_keys else nothing)
        _place(self._moved_keys, moved_keys if with_keys and contaminated else nothing)
        _place(self._hit, moved[result.contaminated])
        join(self._links, queries, moved, contaminated)
        join(self._key_links, keys, moved_keys, with_keys and contaminated)
        self._triad.show(self._rotation.matrix, self._radius, self._names(result))

    def _names(self, result: Result) -> list[str]:
        """Return the three axes with their shares of the variance; none in the plane."""
        shares = result.clean.share
        known = [f" {percent(float(shares[d]))}" if d < len(shares) else "" for d in self._axes]
        names = [f"u{subscript(d + 1)}{share}" for d, share in zip(self._axes, known, strict=True)]
        return names if len(names) == 3 else []

    def _clouds(self) -> list[Array]:
        """Return clean queries, moved queries, keys and moved keys on the axes shown, (N, 2) or (N, 3)."""
        shown = self._shown
        if len(self._axes) == 2:
            return [shown.queries, shown.moved_queries, shown.keys, shown.moved_keys]
        assert shown.leading is not None
        queries, keys, moved, moved_keys = shown.leading[..., list(self._axes)]
        return [queries, moved, keys, moved_keys]

    def _seen(self, points: Array) -> Array:
        """Return where points lie in the picture."""
        return points if points.shape[1] == 2 else self._rotation.flat(points - self._middle)

    def _scale(self, n: int) -> None:
        """Make symbols smaller where there are many."""
        less = 0 if n <= 500 else 2 if n <= 5000 else 4
        for item, size in self._sizes.items():
            item.resize(size - less)
        for links in (self._links, self._key_links):
            links.opts["antialias"] = n <= MANY

    def _say(self, result: Result, named: list[Part | str]) -> None:
        moved = (self._parts["moved"], self._parts["hit"]) if result.is_moved else ()
        keys = (self._parts["keys"],) if self._chooser.keys.isChecked() else ()
        seen = f"as query {result.query} sees it: exact for that query alone"
        seen = "" if result.query is None else seen
        self._strip.say(self._parts["clean"], *moved, *keys, *named, seen)

    def _name_axes(self, result: Result) -> None:
        shown = self._shown
        point = "<i>φ</i>(<i>q</i>) − mean" if result.params.centred else "<i>φ</i>(<i>q</i>)"
        point = f"({point})" if result.params.centred else point
        unit = f" (×10<sup>{shown.log10_unit:.0f}</sup>)" if shown.log10_unit else ""
        self.plot.name_axes(*(f"<i>u</i>{subscript(axis + 1)} · {point}{unit}" for axis in shown.axes))

    def _tint(self, result: Result, rows: NDArray[np.int64]) -> list[Part | str]:
        """Fill queries and keys as chosen, and return what the strip has to say of it."""
        what = str(self._chooser.colour.currentData())
        self._colours = colouring.named(result, what, rows)
        self._bar.make_room(what not in ("plain", "kind"))
        self._bar.setVisible(self._colours is not None)
        if self._colours is not None:
            self._bar.show_levels(self._colours.levels, self._colours.colours)
            brushes = shades(self._colours)
            self._queries.tint(brushes, [])
            self._keys.tint(brushes, [])
            return [f"{self._colours.symbol}: {self._colours.words}"]
        told = kinds(result) if what == "kind" else None
        self._queries.tint(*(([], []) if told is None else (told.brushes, told.symbols)))
        self._keys.tint([] if told is None else told.brushes, [])
        outline = pen(scheme().text, 1)
        names = () if told is None else told.names
        return [
            Part(name, symbol=SYMBOLS[i], pen=outline, brush=fill(FILLS[i])) for i, name in enumerate(names)
        ]

    def _targets(self, result: Result) -> list[tuple[NDArray[np.float64], str]]:
        """Return what is drawn, each with its name, in the order in which the pointer looks for it."""
        queries, moved, keys, moved_keys = self._clouds()
        targets = [(queries, "query"), (moved, "query, contaminated keys")]
        if self._chooser.keys.isChecked():
            targets += [(keys, "key"), (moved_keys, "contaminated key")]
        return targets if result.is_moved else targets[::2]

    def _found(self, at: QPointF) -> tuple[int, str, list[float]]:
        """Return the token nearest to a point of the scene, what of it is there, and its place."""
        assert self.result is not None
        best, what, place, least = -1, "", list[float](), np.inf
        if not self.plot.vb.sceneBoundingRect().contains(at):
            return best, what, place
        point = self.plot.vb.mapSceneToView(at)
        for points, name in self._targets(self.result):
            x, y = self._seen(points).T
            row, distance = nearest(self._queries, (point.x(), point.y()), x, y, NEAR)
            if distance < least:
                best, what, place, least = row, name, points[row].tolist(), distance
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
        number = "" if self._colours is None else f"; {self._colours.reading(row)}"
        power = round(self._shown.log10_unit)
        unit = f" (×10{superscript(power)})" if power else ""
        return f"{what} {full_name(self.result, row)}: {', '.join(map(figure, place))}{unit}{number}"

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Ring the selected tokens, and colour all as the selection asks."""
        if self.result is None:
            return
        self._say(self.result, self._tint(self.result, rows))
        self._circle(rows)

    def _circle(self, rows: NDArray[np.int64]) -> None:
        assert self.result is not None
        chosen = [self._seen(points[rows]) for points, _ in self._targets(self.result)]
        _place(self._ring, np.concatenate(chosen))

    # The hand.

    def _takes(self, modifiers: Qt.KeyboardModifier) -> bool:
        """Return whether a drag draws a lasso or turns the axes, rather than moves the picture."""
        return self._is_lasso(bool(modifiers & Qt.KeyboardModifier.ShiftModifier)) or len(self._axes) == 3

    def _is_lasso(self, shift: bool) -> bool:
        return shift or self._chooser.lasso.isChecked()

    def _drag(self, drag: Drag) -> None:
        if self.result is None:
            return
        if drag.begins:
            self._lassoing = self._is_lasso(drag.extend)
        if self._lassoing:
            self._draw_lasso(drag)
        else:
            moved = drag.at - drag.last
            self.turn(PER_PIXEL * moved.x(), PER_PIXEL * moved.y())

    def _draw_lasso(self, drag: Drag) -> None:
        """Draw the lasso on; at its end select what it holds, with the toggle and shift in addition."""
        assert self.result is not None
        corners = self._lasso.follow(drag, self.plot.vb)
        if corners is None:
            return
        held = [inside(corners, self._seen(points)) for points, _ in self._targets(self.result)]
        tokens = frozenset(self.result.positions[np.any(held, 0)].tolist())
        adds = drag.extend and self._chooser.lasso.isChecked()
        self.state.select(self.state.selection | tokens if adds else tokens)

    def turn(self, right: float, down: float) -> None:
        """Turn the three axes, in radians."""
        assert self.result is not None
        self._rotation.turn(right, down)
        self._place(self.result)
        self._circle(self.rows(self.state.selection))

    def fit(self) -> None:
        """Undo zooming by hand, and turn the axes back."""
        super().fit()
        if self.result is not None and len(self._axes) == 3:
            self._rotation.reset()
            self.turn(0.0, 0.0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Turn the axes with the arrow keys, and back with Home."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and self.result is not None:
            plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
            key = Qt.Key(event.key())
            if plain and len(self._axes) == 3 and key in TURNS:
                self.turn(*TURNS[key])
                return True
            if plain and key == Qt.Key.Key_Home:
                self.fit()
                return True
        return super().eventFilter(watched, event)

    def numbers(self, result: Result) -> Table:
        """Return every position on the axes shown, in the power of ten that their names carry."""
        names, columns = ["position", "token", "contaminated"], []
        whats = ("query", "query over contaminated keys", "key", "contaminated key")
        axes = list(dict.fromkeys(self._axes))
        for values, what in zip(self._clouds(), whats, strict=True):
            names += [f"{what} on u{axis + 1} (1e{self._shown.log10_unit:.0f})" for axis in axes]
            columns += [values[:, self._axes.index(axis)] for axis in axes]
        if self._colours is not None:
            names += [f"{self._colours.words}: {self._colours.symbol}"]
            columns += [self._colours.values]
        return names, [result.positions, short_names(result), result.contaminated, *columns]


def _place(item: Points, points: NDArray[np.float64]) -> None:
    item.move(points[:, 0], points[:, 1])
