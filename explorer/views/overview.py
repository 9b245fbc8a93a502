"""Every head of the checkpoint on the present input: layers downwards, heads to the right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QWidget

from explorer.params import Params
from explorer.quantities import QUANTITIES, Overview
from explorer.state import State
from explorer.ui.theme import diverging_map, sequential_map
from explorer.views.colorbar import ColorBar
from explorer.views.overview_cells import Cells
from explorer.views.overview_header import OverviewHeader
from explorer.views.overview_order import Cell, across, arranged, chosen
from explorer.views.picture import Picture, Provenance, Table
from explorer.views.plot import ceiling
from explorer.views.strip import Strip
from explorer.views.words import figure

NOTHING = "Nothing to lay out yet. Open a model, and every head of it appears here for the present input."
STEPS = {
    Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1),
}  # fmt: skip
LONG_S = 10.0
"""From here on the time that is left is told."""


class OverviewView(Picture):
    """One number a head, or a small attention map; a click opens the head.

    Attributes
    ----------
    header : OverviewHeader
    cells : Cells

    Signals
    -------
    opened(int, int)
        Layer and head that a person wants to see.
    """

    name = "overview"
    title = "Overview"
    help = (
        "Every head of the checkpoint on the present input, a row a layer and a column a head, by their true "
        "numbers: one number a head, or its own clean attention as a small map. A click, or arrow keys and "
        "Enter, opens a head. Numbers of heads on one input say how these heads act on this input, not what "
        "they are for. Sources: Teo and Nguyen, arXiv 2406.13762; Sarıtaş and Yıldız, arXiv 2505.07908."
    )

    opened = Signal(int, int)

    def __init__(self, state: State) -> None:
        self.header = OverviewHeader()
        super().__init__()
        self._running = False
        self.canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.furnish(NOTHING)
        self.header.changed.connect(self._choose)
        state.params_changed.connect(self.follow)
        self.follow(state.params)

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.cells = Cells()
        self._bar = ColorBar()
        self.plot_items = [self._bar]
        self.canvas.addItem(self._strip, 0, 0, 1, 2)
        self.canvas.addItem(self.cells, 1, 0)
        self.canvas.addItem(self._bar, 1, 1)
        self.canvas.ci.layout.setRowStretchFactor(1, 1)
        self.canvas.ci.layout.setColumnStretchFactor(0, 1)
        self.cells.geometryChanged.connect(self._arrange)

    def header_controls(self) -> QWidget:
        """Return the choosers."""
        return self.header

    def options(self) -> dict[str, Any]:
        """Return what is chosen."""
        return self.header.options()

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose."""
        self.header.set_options(options)
        self.redraw()

    def _choose(self) -> None:
        self.redraw()
        self.option_changed.emit(self.options())

    def follow(self, params: Params) -> None:
        """Ring the present head."""
        self.cells.here = (params.layer, params.head)
        self.cells.update()

    def show_overview(self, overview: Overview) -> None:
        """Draw what is known so far."""
        self.result = overview
        self.header.offer_layers(overview.layers)
        self.header.show_running(self._running, not overview.complete)
        self.redraw()
        self.show_picture()

    def show_running(self, running: bool) -> None:
        """Say that more is coming, or that it was stopped."""
        self._running = running
        self.working(running)
        unfinished = isinstance(self.result, Overview) and not self.result.complete
        self.header.show_running(running, unfinished)
        if self.result is not None:
            self._say(self.result)

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        self.cells.update()

    def redraw(self) -> None:
        """Draw the same again, after a choice or the scheme changed."""
        if not isinstance(self.result, Overview):
            return
        wanted, overview = self.header.wanted, self.result
        quantity = QUANTITIES[wanted.quantity]
        colours = diverging_map() if quantity.signed else sequential_map()
        self._levels = _levels(overview, wanted.quantity)
        self._bar.show_levels(self._levels, colours)
        self._bar.setVisible(not wanted.maps)
        maps = {}
        if wanted.maps:
            maps = {
                (part.layer, head): values for part in overview.done for head, values in enumerate(part.maps)
            }
        self.cells.show_maps(maps, sequential_map())
        self._arrange()
        self._say(overview)

    def _arrange(self) -> None:
        if not isinstance(self.result, Overview):
            return
        wanted, overview = self.header.wanted, self.result
        in_layers = wanted.order == "layers"
        aspect = 1.0 if wanted.maps else 1.6
        count = len(chosen(overview, wanted))
        wide = across(count, self.cells.width(), self.cells.height(), aspect)
        rows = overview.layers if wanted.layer is None else range(wanted.layer, wanted.layer + 1)
        self.cells.show_cells(
            arranged(overview, wanted, wide),
            rows if in_layers else (),
            range(overview.heads) if in_layers else (),
            self._levels,
            diverging_map() if QUANTITIES[wanted.quantity].signed else sequential_map(),
        )

    def _say(self, overview: Overview) -> None:
        wanted = self.header.wanted
        quantity = QUANTITIES[wanted.quantity]
        words = [f"{quantity.symbol}: {quantity.meaning}"]
        if wanted.maps:
            words = ["the heads' own clean attention, query down, key right, each map from 0 to its largest"]
        if quantity.of_change and overview.params.level == 0 and not wanted.maps:
            words.append("nothing is contaminated: raise the level")
        if wanted.order != "layers":
            words.append(f"named layer·head, {'sorted by ' + quantity.symbol if wanted.maps else 'sorted'}")
        if not self.cells.cells:
            words.append("no head passes the filter")
        if overview.query:
            words.append(f"masked heads as the query {overview.query} sees them")
        words += [_progress(overview, self._running), *overview.notes]
        self._strip.say(*words)

    def reading_at(self, at: QPointF) -> str:
        """Return a head's number and what it means."""
        cell = self.cells.at(self.cells.mapFromScene(at))
        return self.reading(cell) if cell is not None else ""

    def reading(self, cell: Cell) -> str:
        """Return what a cell says, in words."""
        assert isinstance(self.result, Overview)
        overview, key = self.result, self.header.wanted.quantity
        quantity = QUANTITIES[key]
        name = f"layer {cell.layer}, head {cell.head}"
        part = overview.of_layer(cell.layer)
        if part is None:
            return f"{name}: not computed yet"
        if part.problem:
            return f"{name}: {part.problem}"
        if math.isnan(cell.value):
            return f"{name}: {quantity.symbol} is not defined here"
        return (
            f"{name}: {quantity.symbol} = {figure(cell.value)}{_beside(overview, key)} ({quantity.meaning})"
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk over the cells with the arrows, open one with Enter."""
        step = STEPS.get(Qt.Key(event.key()))
        place = self.cells.cursor or self.cells.here
        if self.result is None or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif step is not None:
            self._walk_to(self.cells.beside(place, *step))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.cells.of(place) is not None:
            assert place is not None
            self.opened.emit(*place)
        else:
            super().keyPressEvent(event)

    def _walk_to(self, cell: Cell | None) -> None:
        if cell is None:
            return
        self.cells.cursor = (cell.layer, cell.head)
        self.cells.update()
        said = self.reading(cell)
        self.setAccessibleDescription(said)
        self.canvas.say(said, self.cells.mapToScene(self.cells.box(cell).bottomRight()))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the keyboard's ring away."""
        super().focusOutEvent(event)
        self.cells.cursor = None
        self.cells.update()
        self.canvas.say("", QPointF())

    def _click(self, event: Any) -> None:
        if self.result is None or event.button() != Qt.MouseButton.LeftButton:
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        cell = self.cells.at(self.cells.mapFromScene(event.scenePos()))
        if cell is not None:
            self.opened.emit(cell.layer, cell.head)

    def numbers(self, result: Overview) -> Table:
        """Return every number of every head, a head a row, whatever is filtered or sorted."""
        count, heads = len(result.layers), result.heads
        key_heads = np.full((count, heads), -1)
        for part in result.done:
            key_heads[part.layer - result.layers.start, : len(part.key_heads)] = part.key_heads
        served = ["" if key < 0 else str(key) for key in key_heads.ravel()]
        return ["layer", "head", "key head", *(quantity.symbol for quantity in QUANTITIES.values())], [
            np.repeat(np.array(result.layers), heads),
            np.tile(np.arange(heads), count),
            served,
            *(result.table(key).ravel() for key in QUANTITIES),
        ]

    def provenance(self) -> Provenance:
        """Return the source and the parameters; layer and head do not count."""
        assert isinstance(self.result, Overview)
        params = {
            name: value for name, value in asdict(self.result.params).items() if name not in ("layer", "head")
        }
        return Provenance(self.result.source, params, self.result.computed)


def _levels(overview: Overview, key: str) -> tuple[float, float]:
    """Return from 0 to the whole, or to a round number above the largest; symmetric for signed ones."""
    quantity = QUANTITIES[key]
    largest = float(np.fmax.reduce(np.abs(overview.table(key)), axis=None, initial=0.0))
    bound = quantity.whole or ceiling(largest)
    return (-bound, bound) if quantity.signed else (0.0, bound)


def _beside(overview: Overview, key: str) -> str:
    """Return what a number would be if there were nothing to see, where that is known."""
    if key == "sink":
        share = figure(overview.sinks / overview.tokens)
        return f"; evenly read, {overview.sinks} of {overview.tokens} tokens would have {share}"
    if key == "overlap" and overview.tokens > 1:
        return f", chance {figure(min(1.0, overview.width / (overview.tokens - 1)), 2)}"
    return ""


def _progress(overview: Overview, running: bool) -> str:
    if overview.complete:
        return ""
    done = f"{len(overview.done)} of {len(overview.layers)} layers"
    if not running:
        return f"stopped after {done}"
    return f"{done}, about {overview.left:.0f} s left" if overview.left > LONG_S else done
