"""How the keys are taken apart: what was added to them beside S, and L, by RPC's pursuit and exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSlider, QWidget

from explorer.detail import Array, Decomposition, Exact, support_scores
from explorer.result import Result
from explorer.ui.theme import PCP, RPC, clean_brush, diverging_map, scheme
from explorer.views.alike import alike
from explorer.views.base import Table, View
from explorer.views.colorbar import ColorBar
from explorer.views.plot import ceiling
from explorer.views.strip import Part
from explorer.views.tile import Tile
from explorer.views.words import figure, full_name, percent, short_names

NAMES = (("K′ − K", "K"), ("S", "L"), ("S, exact", "L, exact"))
"""Of the maps, column by column: the sparse one and the one that is left."""


class DecompositionView(View):
    """Two rows of maps, S above and L below; three columns, the truth, RPC's pursuit, exact PCP.

    Signals
    -------
    iteration_changed(int)
        Another iteration of the pursuit is shown, from 1.
    """

    name = "decomposition"
    wide = True
    title = "K ≈ L + S"
    help = (
        "Tokens to the right, features downwards, in the keys' own units. Left, the truth: what was added "
        "to the keys, and the clean keys; where the input was contaminated, all keys move, none is known to "
        "be wrong, and S has no score. Middle, S and L of RPC's principal attention pursuit after the "
        "iteration that the slider chooses: there L is made by attention, so it lives where the values do, "
        "and need not look like K. Right, S and L of exact principal component pursuit. "
        "Do not expect that the pursuit finds what was added: precision and recall say how far it does. "
        "Sources: Teo and Nguyen, arXiv 2406.13762; Candès, Li, Ma and Wright, 2011."
    )
    iteration_changed = Signal(int)

    def build(self) -> None:
        """Make the items, once."""
        self._iteration = 0
        self.exact: Exact | None = None
        self._bounds = (1.0, 1.0)
        self._tiles = [[Tile(column == 0, row == 1) for column in range(3)] for row in range(2)]
        self._bars = [ColorBar(), ColorBar()]
        for row, tiles in enumerate(self._tiles):
            for column, tile in enumerate(tiles):
                tile.place(self.canvas, 2 * row, column)
            self.canvas.addItem(self._bars[row], 2 * row + 1, 3)
        alike(self.canvas, {column: tile.plot for column, tile in enumerate(self._tiles[0])}, self._bars[:1])
        self.plot_items = [*(tile.plot for tiles in self._tiles for tile in tiles), *self._bars]
        for tiles in self._tiles:
            for tile in tiles[1:]:
                tile.plot.setXLink(self._tiles[0][0].plot)
        self._tiles[1][0].plot.setXLink(self._tiles[0][0].plot)
        for tiles in self._tiles:
            tiles[0].plot.vb.sigResized.connect(self._fit_bars)
            tiles[0].plot.vb.sigRangeChanged.connect(self._mark_again)
        self._make_scrubber()

    def _make_scrubber(self) -> None:
        self._scrubber = QSlider(Qt.Orientation.Horizontal)
        self._scrubber.setAccessibleName("Iteration shown")
        self._scrubber.setToolTip(
            "The iteration of the pursuit whose L and S are shown; right end: the last one"
        )
        self._scrubber.setFixedWidth(160)
        self._scrubber.setRange(1, 1)
        self._scrubber.valueChanged.connect(self._scrub)
        self._count = QLabel()
        self._count.setProperty("role", "secondary")
        self._header = QWidget()
        row = QHBoxLayout(self._header)
        row.setContentsMargins(8, 0, 0, 0)
        row.addWidget(self._scrubber)
        row.addWidget(self._count)

    def header_controls(self) -> QWidget:
        """Return the slider of iterations."""
        return self._header

    def options(self) -> dict[str, Any]:
        """Return the iteration shown; 0 is the last one."""
        return {"iteration": self._iteration}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose the iteration."""
        if "iteration" in options:
            self._iteration = max(0, int(options["iteration"]))
            self.redraw()

    @property
    def iteration(self) -> int:
        """The iteration shown, from 1; 0 while nothing is."""
        found = self._found
        return 0 if found is None else min(self._iteration or len(found.low), len(found.low))

    @property
    def _found(self) -> Decomposition | None:
        return None if self.result is None else self.result.decomposition

    def _scrub(self, iteration: int) -> None:
        self._iteration = 0 if iteration == self._scrubber.maximum() else iteration
        self.redraw()
        self.option_changed.emit(self.options())

    def show_exact(self, exact: Exact | None) -> None:
        """Draw where exact PCP stands; None: not begun for these keys."""
        self.exact = exact
        self.redraw()

    def why_not(self, result: Result) -> str:
        """Return why there is nothing to take apart."""
        if result.decomposition is not None:
            return ""
        return " ".join(result.notes) or "RPC is not defined for this head."

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        for tiles in self._tiles:
            for tile in tiles:
                tile.recolour()

    def draw(self, result: Result) -> None:
        """Put the numbers of `result` into the items."""
        found = result.decomposition
        assert found is not None
        sparse, low = self._columns(found)
        if self.settles(result, result.params.iterations):
            self._bounds = _bound(sparse), _bound(low)
        self._show_iterations(len(found.low))
        labels, contaminated = short_names(result), np.flatnonzero(result.contaminated)
        for tiles, maps, bound, bar in zip(self._tiles, (sparse, low), self._bounds, self._bars, strict=True):
            for tile, values in zip(tiles, maps, strict=True):
                tile.show(values, bound)
                tile.name(labels, contaminated)
            bar.show_levels((-bound, bound), diverging_map())
        self._say(found)

    def _columns(self, found: Decomposition) -> tuple[list[Array], list[Array]]:
        i, exact = self.iteration - 1, self._exact_of(found)
        nothing = np.full_like(found.keys, np.nan)
        return (
            [found.added, found.sparse[i], nothing if exact is None else exact.sparse],
            [found.keys - found.added, found.low[i], nothing if exact is None else exact.low],
        )

    def _exact_of(self, found: Decomposition) -> Exact | None:
        """Return exact PCP unless it is still that of an earlier head."""
        return self.exact if self.exact is not None and self.exact.low.shape == found.keys.shape else None

    def _show_iterations(self, count: int) -> None:
        changed = self._count.text() != (text := f"iteration {self.iteration} of {count}")
        self._scrubber.blockSignals(True)
        self._scrubber.setRange(1, count)
        self._scrubber.setValue(self.iteration)
        self._scrubber.blockSignals(False)
        self._count.setText(text)
        if changed:
            self.iteration_changed.emit(self.iteration)

    def _say(self, found: Decomposition) -> None:
        (added, sparse, exact_sparse), (clean, low, exact_low) = self._tiles
        added.strip.say(*self._truth(found))
        clean.strip.say(_part("K, the clean keys", scheme().text))
        found_in = self._scores(found.sparse[self.iteration - 1], found)
        sparse.strip.say(_part(f"S, RPC after iteration {self.iteration}", RPC), found_in)
        low.strip.say(_part(f"L, RPC after iteration {self.iteration}", RPC))
        exact = self._exact_of(found)
        if exact is None:
            exact_sparse.strip.say(_part("S, exact PCP", PCP), "not computed yet")
            exact_low.strip.say(_part("L, exact PCP", PCP))
            return
        exact_sparse.strip.say(_part("S, exact PCP", PCP), self._scores(exact.sparse, found))
        went = "" if exact.converged else f"iteration {exact.iteration}, "
        exact_low.strip.say(
            _part("L, exact PCP", PCP),
            f"λ = {figure(exact.lam, 2)}, {went}residual {figure(exact.residual, 2)}",
        )

    def _truth(self, found: Decomposition) -> tuple[Part, str]:
        """Say what the first map shows: what was added, or how far the input moved each entry."""
        if not self._is_added:
            return _part("K′ − K, how far the input moved the keys", scheme().text), ""
        many = f"{percent(float(found.hit.mean()))} of the entries" if found.hit.any() else "nothing"
        return _part("K′ − K, what was added", scheme().text), many

    @property
    def _is_added(self) -> bool:
        """Whether the keys themselves were contaminated, so that S has something true to be compared with."""
        return self.result is None or self.result.params.key_kind is not None

    def _scores(self, sparse: Array, found: Decomposition) -> str:
        if not found.hit.any() or found.hit.all() or not self._is_added:
            return f"{percent(float((sparse != 0).mean()))} of the entries"
        precision, recall = support_scores(sparse, found.hit)
        return f"precision {percent(precision)}, recall {percent(recall)}"

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Mark the selected tokens."""
        for tiles in self._tiles:
            for tile in tiles:
                tile.mark(rows)

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return the token under the pointer."""
        found = (tile.token_at(at) for tiles in self._tiles for tile in tiles)
        return [token for token in found if token is not None][:1]

    def reading_at(self, at: QPointF) -> str:
        """Return token, feature and the number of an entry, or the name of a label's token."""
        if self.result is None:
            return ""
        for row, tiles in enumerate(self._tiles):
            for column, tile in enumerate(tiles):
                entry = tile.entry_at(at)
                if entry is not None:
                    name = full_name(self.result, entry[0])
                    return f"{name}, feature {entry[1]}: {NAMES[column][row]} = {figure(tile.values[entry])}"
        return "".join(full_name(self.result, token) for token in self.tokens_at(at))

    def numbers(self, result: Result) -> Table:
        """Return every entry of every map, an entry a row."""
        found = result.decomposition
        assert found is not None
        n, d = found.keys.shape
        labels = short_names(result)
        names = ["position", "token", "feature", "contaminated", "iteration"]
        columns: list[Any] = [
            np.repeat(result.positions, d),
            [label for label in labels for _ in range(d)],
            np.tile(np.arange(d), n),
            found.hit.ravel(),
            np.full(n * d, self.iteration),
        ]
        for pair, sparse, low in zip(NAMES, *self._columns(found), strict=True):
            names += pair
            columns += [sparse.ravel(), low.ravel()]
        return names, columns

    def _mark_again(self) -> None:
        self.set_selection(self.state.selection)

    def _fit_bars(self) -> None:
        for bar, tiles in zip(self._bars, self._tiles, strict=True):
            bar.setMaximumHeight(max(40.0, tiles[0].plot.vb.height()))


def _part(text: str, colour: str) -> Part:
    return Part(text, symbol="s", brush=clean_brush(colour))


def _bound(maps: list[Array]) -> float:
    largest = max(float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0)) for values in maps)
    return ceiling(largest)
