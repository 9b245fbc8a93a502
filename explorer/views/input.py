"""What the model reads: the text or the image itself, a colour behind each token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QWidget

from explorer.result import Result
from explorer.ui.theme import GRID, pen, scheme, secondary_pen
from explorer.views import colouring
from explorer.views.base import Table, View
from explorer.views.colorbar import ColorBar
from explorer.views.colouring import Colouring
from explorer.views.drag import EXTEND, Drag
from explorer.views.input_chooser import InputChooser
from explorer.views.patch_image import PatchImage
from explorer.views.strip import Part, Strip
from explorer.views.token_text import LINE, Piece, TokenText
from explorer.views.word_changes import notes
from explorer.views.words import full_name, short_names

STEPS = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}


class InputView(View):
    """The input with a colour for each token; a drag selects a span of text or a rectangle of patches."""

    name = "input"
    title = "Input"
    help = (
        "The input itself, as the model reads it: text as tokens, an image with its grid of patches, special "
        "tokens set apart. The colour of a token is one number that the header chooses and the bar explains: "
        "how much the selected query attends to it (a row of the map in the attention panel), how much it "
        "attends to the selected key (a column), its entry in an eigenvector a_d, how far contamination "
        "moved its key, or its output error. An eigenvector's sign is a convention; over a grey image the "
        "colours are the bar's only at full blend. Attention says where a head reads from, not what "
        "decides the model's answer. Source: Teo and Nguyen, arXiv 2406.13762."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._strip, self._chips, self._text = Strip(), TokenText(), TokenText()
        self.plot, self._bar = PatchImage(), ColorBar()
        self.plot_items = [self.plot, self._bar]
        self.canvas.addItem(self._strip, 0, 0, 1, 2)
        self.canvas.addItem(self._chips, 1, 0)
        self.canvas.addItem(self._text, 2, 0)
        self.canvas.addItem(self.plot, 3, 0)
        self.canvas.addItem(self._bar, 1, 1, 3, 1)
        self._bar.layout.setContentsMargins(0, GRID, 0, GRID)
        self._of_chips: NDArray[np.int64] = np.empty(0, np.int64)
        self._current = -1
        self._before: frozenset[int] = frozenset()
        self._colours: Colouring | None = None
        self._old: dict[int, str] = {}
        self._settled, self._levels = True, (0.0, 1.0)
        self._asked: tuple[object, ...] = ()
        for text in (self._chips, self._text):
            text.dragged.connect(lambda drag, text=text: self._drag(drag, self._span(text, drag)))
        self.plot.box.dragged.connect(lambda drag: self._drag(drag, self._rectangle(drag)))
        self.canvas.installEventFilter(self)
        self._chooser = InputChooser()
        self._chooser.changed.connect(self._choose)
        self.recolour()

    def header_controls(self) -> QWidget:
        """Return the choosers of colours."""
        return self._chooser

    def options(self) -> dict[str, Any]:
        """Return what colours the tokens."""
        return self._chooser.options()

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose what colours the tokens."""
        self._chooser.set_options(options)
        self.redraw()

    def _choose(self) -> None:
        self.redraw()
        self.option_changed.emit(self.options())

    def recolour(self) -> None:
        """Take pens and colours of the scheme again."""
        self.plot.recolour()

    # The picture.

    def draw(self, result: Result) -> None:
        """Write the tokens, or show the image."""
        image = result.grid is not None and any(token.patch is not None for token in result.tokens)
        self._chooser.offer(max(1, result.clean.vectors.shape[1]))
        self._chooser.show_choosers(image)
        self._old = notes(result)
        self._settled = self.settles(result)
        if self._settled:
            self._current = min(self._current, len(result.positions) - 1)
        apart = [row for row, token in enumerate(result.tokens) if token.patch is None] if image else []
        self._of_chips = np.array(apart, np.int64)
        labels = short_names(result)
        self._chips.set_pieces([Piece(labels[row]) for row in apart])
        self._chips.setFixedHeight(LINE if apart else 0)
        self._chips.setVisible(bool(apart))
        self._show(image)
        if image:
            assert result.grid is not None
            self.plot.show_image(
                result.image, result.clean_image if _contaminated(result) else None,
                result.grid, [token.patch for token in result.tokens],
            )  # fmt: skip
            return
        worded = any(token.special or not token.word_start for token in result.tokens) or bool(result.text)
        pieces = [
            Piece(
                token.text if worded and token.text.strip() else labels[row],
                token.special,
                _joins(result, row),
            )
            for row, token in enumerate(result.tokens)
        ]
        self._text.set_pieces(pieces or [Piece(label) for label in labels], even=not worded)

    def _show(self, image: bool) -> None:
        """Give the room to the image or to the text."""
        layout = self.canvas.ci.layout
        for item, row, on in ((self._text, 2, not image), (self.plot, 3, image)):
            item.setVisible(on)
            item.setMaximumHeight(16_777_215 if on else 0)
            layout.setRowStretchFactor(row, int(on))
        self.plot_items = [self.plot, self._bar] if image else [self._bar]

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Colour the tokens as the selection asks, and outline what is selected."""
        if self.result is None:
            return
        result, what = self.result, self._chooser.what
        self._colours = self._hold(
            colouring.named(result, what, rows, max(0, self._chooser.axis.currentIndex())), rows
        )
        hit, colours = result.contaminated, self._rgba()
        fills: list[QColor | None] = []
        if colours is not None:
            fills = [QColor(*rgba[:3]) if rgba[3] else None for rgba in colours.tolist()]
        self._text.set_colours(fills)
        self._text.set_marks(hit, self._old)
        self._text.set_selected(rows)
        chips = self._of_chips
        self._chips.set_colours([fills[row] for row in chips] if fills else [])
        self._chips.set_marks(hit[chips], {})
        self._chips.set_selected(np.flatnonzero(np.isin(chips, rows)))
        if self.plot.isVisible():
            self.plot.show_heat(colours, self._chooser.blend.value() / 100)
            self.plot.mark(rows, hit, self._current if self.canvas.hasFocus() else -1)
        self._bar.setVisible(self._colours is not None)
        if self._colours is not None:
            self._bar.show_levels(self._colours.levels, self._colours.colours)
        self._say(result, rows)

    def _hold(self, colours: Colouring | None, rows: NDArray[np.int64]) -> Colouring | None:
        """Keep the levels while a button is held, unless other tokens or another number are asked for."""
        asked = (self._chooser.what, self._chooser.axis.currentIndex(), rows.tobytes())
        if colours is not None and not self._settled and asked == self._asked:
            colours = replace(colours, held=self._levels)
        self._asked = asked
        if colours is not None:
            self._levels = colours.levels
        return colours

    def _rgba(self) -> NDArray[np.uint8] | None:
        """Return a colour for each token, transparent where it has no number; None without colours."""
        if self._colours is None:
            return None
        table = self._colours.colours.getLookupTable(nPts=256, alpha=True)
        places = self._colours.indices
        colours = table[places].astype(np.uint8)
        colours[:, 3] = np.where(places >= 0, 255, 0)
        return np.asarray(colours)

    def _say(self, result: Result, rows: NDArray[np.int64]) -> None:
        colours = self._colours
        said: list[Part | str] = []
        if colours is not None:
            said += [f"{colours.symbol}: {colours.words}"]
            if not np.isfinite(colours.values).all():
                said += [Part("no number", line=pen(scheme().missing, 1))]
        elif self._chooser.what == "attended":
            said += ["Select a token to see who attends to it."]
        if result.contaminated.any():
            said += [Part("contaminated", symbol="t1", pen=secondary_pen())]
        if self._old:
            said += ["underlined: not the clean text's word"]
        self._strip.say(*said)

    # The hand.

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return the token under the pointer."""
        row = -1
        if self.result is not None:
            row = self._row_at(at)
        return [row] if row >= 0 else []

    def _row_at(self, at: QPointF) -> int:
        if self._chips.isVisible():
            chip = self._chips.row_at(self._chips.mapFromScene(at))
            if chip >= 0:
                return int(self._of_chips[chip])
        if self._text.isVisible():
            return self._text.row_at(self._text.mapFromScene(at))
        if not self.plot.vb.sceneBoundingRect().contains(at):
            return -1
        point = self.plot.vb.mapSceneToView(at)
        cell = self.plot.cell_at(point.x(), point.y())
        return self.plot.cells.index(cell) if cell is not None and cell in self.plot.cells else -1

    def reading_at(self, at: QPointF) -> str:
        """Return a token's name, its number, and what stood in its place in the clean text."""
        tokens = self.tokens_at(at)
        return self._reading(tokens[0]) if tokens else ""

    def _reading(self, row: int) -> str:
        assert self.result is not None
        number = "" if self._colours is None else f": {self._colours.reading(row)}"
        note = f" ({self._old[row]})" if row in self._old else ""
        return f"{full_name(self.result, row)}{note}{number}"

    def _drag(self, drag: Drag, rows: list[int]) -> None:
        """Select what a drag covers, while it goes on; with shift, in addition to what was selected."""
        if self.result is None:
            return
        if drag.begins:
            self._before = self.state.selection if drag.extend else frozenset()
        self.state.select(self._before | frozenset(self.result.positions[rows].tolist()))

    def _span(self, text: TokenText, drag: Drag) -> list[int]:
        """Return the tokens from where a drag began to where it is; beyond an edge, the text scrolls."""
        if drag.begins:
            self._anchor = text.row_near(text.mapFromScene(drag.start))
        here = text.mapFromScene(drag.at)
        if not 0 <= here.y() <= text.height():
            text.scroll_to(text.first_line + (1 if here.y() > 0 else -1))
        low, high = sorted((self._anchor, text.row_near(here)))
        rows = range(max(0, low), high + 1)
        return self._of_chips[list(rows)].tolist() if text is self._chips else list(rows)

    def _rectangle(self, drag: Drag) -> list[int]:
        points = [self.plot.vb.mapSceneToView(at) for at in (drag.start, drag.at)]
        return self.plot.rows_between(*((point.x(), point.y()) for point in points))

    # The keyboard.

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the current token with the arrows, toggle it with space, scroll with the page keys."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut) and self.result is not None:
            self.mark(self.rows(self.state.selection))
        elif (
            event.type() == QEvent.Type.KeyPress and self.result is not None and isinstance(event, QKeyEvent)
        ):
            return self._key(event)
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        assert self.result is not None
        key, extend = Qt.Key(event.key()), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.modifiers() & ~EXTEND or event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return False
        if key in STEPS:
            self._go(self._beside(*STEPS[key]), extend)
        elif key == Qt.Key.Key_Space:
            here = frozenset({int(self.result.positions[max(0, self._current)])})
            self.state.select(self.state.selection ^ here)
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            page = self._text.visible_lines * (1 if key == Qt.Key.Key_PageDown else -1)
            self._text.scroll_to(self._text.first_line + page)
        else:
            return False
        return True

    def _beside(self, across: int, down: int) -> int:
        """Return the token beside the current one, or under it."""
        assert self.result is not None
        last, current = len(self.result.positions) - 1, self._current
        if current < 0 or across:
            return min(max(0, current + across), last)
        if not self.plot.isVisible():
            return self._text.above_or_below(current, down)
        cell = self.plot.cells[current]
        if cell is None:
            return min(max(0, current + down), last)
        below = (cell[0] + down, cell[1])
        return self.plot.cells.index(below) if below in self.plot.cells else current

    def _go(self, row: int, extend: bool) -> None:
        assert self.result is not None
        self._current = row
        if self._text.isVisible():
            self._text.go_to(row)
        self._chips.current = self._of_chips.tolist().index(row) if row in self._of_chips else -1
        if extend:
            self.state.select(self.state.selection | {int(self.result.positions[row])})
        self.mark(self.rows(self.state.selection))
        self.canvas.say(self._reading(row), self._place(row).center())

    def _place(self, row: int) -> QRectF:
        """Return where a token is, in the scene."""
        if self._text.isVisible():
            return self._text.mapRectToScene(self._text.rect_of(row))
        if row in self._of_chips:
            return self._chips.mapRectToScene(self._chips.rect_of(self._of_chips.tolist().index(row)))
        cell = self.plot.cells[row] or (0, 0)
        rect = QRectF(self.plot.offset + cell[1], cell[0], 1, 1)
        return QRectF(
            self.plot.vb.mapViewToScene(rect.topLeft()), self.plot.vb.mapViewToScene(rect.bottomRight())
        )

    def set_selection(self, selection: frozenset[int]) -> None:
        """Mark the tokens at these places of the input, and bring one into view where none is."""
        super().set_selection(selection)
        rows = self.rows(selection)
        if len(rows) and self._text.isVisible() and not self._text.shows(rows):
            self._text.reveal(int(rows[0]))

    def numbers(self, result: Result) -> Table:
        """Return each token with the number that colours it."""
        names = ["position", "token", "contaminated"]
        columns: list[Any] = [result.positions, short_names(result), result.contaminated]
        if self._colours is not None:
            names += [f"{self._colours.words}: {self._colours.symbol}"]
            columns += [self._colours.values]
        return names, columns


def _joins(result: Result, row: int) -> bool:
    """Return whether a token continues the word of the token before it."""
    if row == 0 or result.tokens[row].word_start or result.tokens[row].special:
        return False
    return not result.tokens[row - 1].special


def _contaminated(result: Result) -> bool:
    return (
        result.clean_image is not None
        and result.image is not None
        and bool(result.clean_image.shape != result.image.shape or (result.clean_image != result.image).any())
    )
