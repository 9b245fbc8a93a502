"""The pinned map, the present one, and the present less the pinned one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF

from explorer.comparison import difference, label_of, why_no_difference
from explorer.result import Result
from explorer.ui.theme import diverging_map, sequential_map, symmetric_levels
from explorer.views.alike import alike
from explorer.views.base import Column, Table
from explorer.views.colorbar import ColorBar, as_high_as
from explorer.views.compare_base import CompareView
from explorer.views.matrix_image import MatrixImage
from explorer.views.plot import Plot, ceiling
from explorer.views.strip import Strip
from explorer.views.token_axis import TokenAxis
from explorer.views.words import figure, full_name, powers, short_names

SIGNED = ("difference", "change", "gram")


class _Map:
    """One of the three maps: a sentence, a plot with tokens at its axes, a colour bar."""

    def __init__(self) -> None:
        self.strip, self.bar = Strip(), ColorBar()
        self.axes = TokenAxis("left", name="query"), TokenAxis("bottom", name="key")
        self.plot = Plot(zoom=True, axes={"left": self.axes[0], "bottom": self.axes[1]})
        self.image = MatrixImage(self.plot)
        self.values: NDArray[np.float64] = np.empty((0, 0))

    def show(self, result: Result, values: NDArray[np.float64], bound: float, signed: bool) -> None:
        """Draw `values`, of the tokens of `result`, from 0 or −bound to bound."""
        levels = (-bound if signed else 0.0, bound)
        colours = diverging_map() if signed else sequential_map()
        self.values = values
        for axis in self.axes:
            axis.set_tokens(short_names(result))
            axis.set_contaminated(np.flatnonzero(result.contaminated))
        n = float(len(values))
        self.plot.settle((0.0, n), (0.0, n))
        self.image.show(values, levels, colours, signed)
        self.bar.show_levels(levels, colours)

    def cell(self, at: QPointF) -> tuple[int, int] | None:
        """Return query and key at a point of the scene; None beside the map."""
        if not self.plot.vb.sceneBoundingRect().contains(at):
            return None
        point = self.plot.vb.mapSceneToView(at)
        row, column = math.floor(point.y()), math.floor(point.x())
        n = len(self.values)
        return (row, column) if 0 <= row < n and 0 <= column < n else None


class CompareMaps(CompareView):
    """Three maps in a row, zoomed together where they have the same tokens."""

    name = "compare-maps"
    wide = True
    title = "Maps beside each other"
    help = (
        "Left the pinned map, in the middle the present one, in one scale where they are of one kind; right "
        "the present less the pinned one, with colours symmetric about 0 and hatched where tokens differ. A "
        "difference of two heads' maps compares what they read, not what they write. "
        "Source: Teo and Nguyen, arXiv 2406.13762."
    )

    def build(self) -> None:
        """Make the items, once."""
        self.maps = [_Map() for _ in range(3)]
        self.plot_items = []
        for i, tile in enumerate(self.maps):
            self.canvas.addItem(tile.strip, 0, 2 * i, 1, 2)
            self.canvas.addItem(tile.plot, 1, 2 * i)
            self.canvas.addItem(tile.bar, 1, 2 * i + 1)
            as_high_as(tile.bar, tile.plot, self.canvas.ci.layout)
            self.plot_items += [tile.plot, tile.bar]
        plots = {2 * i: tile.plot for i, tile in enumerate(self.maps)}
        self._alike = alike(self.canvas, plots, [tile.bar for tile in self.maps])

    def recolour(self) -> None:
        """Take the hatch of the scheme again."""
        for tile in self.maps:
            tile.image.recolour()

    def draw(self, result: Result) -> None:
        """Put both maps and their difference into the items."""
        before = self.reference.result
        reason = why_no_difference(before, result)
        signed = [shown.params.variant in SIGNED for shown in (before, result)]
        bounds = [ceiling(_largest(shown.map)) for shown in (before, result)]
        if signed[0] == signed[1] and "gram" not in (before.params.variant, result.params.variant):
            bounds = [max(bounds)] * 2
        together = len(before.map) == len(result.map)
        for i, (shown, words) in enumerate(
            ((before, f"pinned: {self.reference.label}"), (result, f"present: {label_of(result)}"))
        ):
            self.maps[i].show(shown, shown.map, bounds[i], signed[i])
            self.maps[i].strip.say(words, powers(shown.map_title))
        self._share(
            bounds[0] == bounds[1] and signed[0] == signed[1], short_names(before) == short_names(result)
        )
        for tile in self.maps[1:]:
            for link in (tile.plot.setXLink, tile.plot.setYLink):
                link(self.maps[0].plot if together else None)
        last = self.maps[2]
        for item in (last.plot, last.bar):
            item.setVisible(not reason)
        if reason:
            last.values = np.empty((0, 0))
            last.strip.say(reason)
            return
        values = difference(before, result)
        last.show(result, values, symmetric_levels(values)[1], signed=True)
        last.strip.say("present − pinned", "hatched: tokens differ" if np.isnan(values).any() else "")

    def _share(self, colours: bool, queries: bool) -> None:
        """Let the first two maps have one colour bar, and all three one axis of queries."""
        self.maps[0].bar.setVisible(not colours)
        self.maps[0].bar.make_room(not colours)
        for tile in self.maps[1:]:
            tile.plot.showAxis("left", not queries)
        self._alike()

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Mark the selected tokens at the axes."""
        if self.result is None:
            return
        before = np.flatnonzero(np.isin(self.reference.result.positions, sorted(self.state.selection)))
        for tile, marked in zip(self.maps, (before, rows, rows), strict=True):
            for axis in tile.axes:
                axis.set_selected(marked)

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return query and key of a cell of the present map or the difference."""
        for tile in self.maps[1:]:
            if (cell := tile.cell(at)) is not None:
                return list(dict.fromkeys(cell))
        return []

    def reading_at(self, at: QPointF) -> str:
        """Return query, key and the numbers of both maps."""
        if self.result is None:
            return ""
        for i, tile in enumerate(self.maps):
            if (cell := tile.cell(at)) is not None:
                shown = self.reference.result if i == 0 else self.result
                names = " → ".join(full_name(shown, row) for row in cell)
                return f"{names}: {self._both(cell)}"
        return ""

    def _both(self, cell: tuple[int, int]) -> str:
        assert self.result is not None
        parts = []
        for word, values in (
            ("pinned", self.reference.result.map),
            ("present", self.result.map),
            ("difference", self.maps[2].values),
        ):
            if max(cell) < len(values):
                parts.append(f"{word} {figure(values[cell])}")
        return ", ".join(parts)

    def numbers(self, result: Result) -> Table:
        """Return both maps and their difference, a pair of tokens a row."""
        before = self.reference.result
        columns: list[Column] = [before.map.ravel(), result.map.ravel()]
        names = ["pinned", "present"]
        if not why_no_difference(before, result):
            names.append("present - pinned")
            columns.append(difference(before, result).ravel())
        n = max(len(before.map), len(result.map))
        if len(before.map) != len(result.map):
            return names, columns
        return ["query", "key", *names], [np.repeat(np.arange(n), n), np.tile(np.arange(n), n), *columns]


def _largest(values: NDArray[np.float64]) -> float:
    return float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
