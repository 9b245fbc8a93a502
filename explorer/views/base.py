"""What every panel is: a picture of the latest result, linked with the others by the selection."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal

from explorer.params import Params
from explorer.result import Result
from explorer.state import State
from explorer.views.picture import Column, Picture, Provenance, Table

__all__ = ["NOTHING_YET", "Column", "Table", "View"]

NOTHING_YET = "Nothing to show yet. Open a model or a sample, and this panel fills in."
GROWING = ("curves", "final")


class View(Picture):
    """One panel: it follows its state by itself, so that a window only has to place it.

    A subclass builds its items once, draws with `draw`, marks with `mark`, and says what lies under the
    pointer with `tokens_at` and `reading_at`. A click selects the tokens under the pointer (shift or
    control adds or removes them), a click beside them clears the selection, a double click undoes zooming.

    Attributes
    ----------
    state : State
    result : Result or None
        What is drawn; None while nothing is.
    reads_curves : bool
        Whether the picture changes as the response curves grow, and with nothing else; others rest then.

    Signals
    -------
    token_clicked(int, bool)
        A token (its place in the input), and whether it extended the selection; `state` knows already.
    """

    reads_curves: ClassVar[bool] = False
    token_clicked = Signal(int, bool)

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state
        self.result: Result | None = None
        self.furnish(NOTHING_YET)
        self._connect()
        if state.result is not None:
            self.show_result(state.result)

    def _connect(self) -> None:
        self.state.result_changed.connect(self.show_result)
        self.state.selection_changed.connect(self.set_selection)
        self.state.params_changed.connect(self.follow)
        self.follow(self.state.params)

    # What a subclass says.

    def draw(self, result: Result) -> None:
        """Put the numbers of `result` into the items."""
        raise NotImplementedError

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Mark the selected tokens, by their row in the result."""
        raise NotImplementedError

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return the rows of the tokens at a point of the scene."""
        raise NotImplementedError

    def follow(self, params: Params) -> None:
        """Let the choosers show `params`."""

    def why_not(self, result: Result) -> str:
        """Return why this result cannot be drawn here, in a sentence; empty: it can."""
        return ""

    # What the window calls.

    def show_result(self, result: Result) -> None:
        """Draw `result`, or say why it has no such picture."""
        reason = self.why_not(result)
        if reason:
            self.show_nothing(reason)
            return
        before, self.result = self.result, result
        if before is not None and not self.reads_curves and _only_grown(before, result):
            return
        self.draw(result)
        self.mark(self.rows(self.state.selection))
        self.show_picture()
        self.read_again()

    def provenance(self) -> Provenance:
        """Return the result's source and parameters."""
        assert self.result is not None
        return Provenance(
            self.result.source,
            asdict(self.result.params),
            f"{self.result.dtype} on {self.result.device.upper()}",
        )

    def set_selection(self, selection: frozenset[int]) -> None:
        """Mark the tokens at these places of the input."""
        if self.result is not None:
            self.mark(self.rows(selection))
            self.read_again()

    # What subclasses share.

    def rows(self, selection: frozenset[int]) -> NDArray[np.int64]:
        """Return the rows of the result in which the tokens at these places of the input stand."""
        if self.result is None:
            return np.empty(0, np.int64)
        return np.flatnonzero(np.isin(self.result.positions, sorted(selection)))

    def settles(self, result: Result, *also: object) -> bool:
        """Return whether ranges may move now: no button is held, or the picture is of something else.

        Parameters
        ----------
        also : objects
            What else makes it another picture.
        """
        p = result.params
        place = (result.source, p.layer, p.head, p.input, result.query, len(result.positions))
        return self.may_move(*place, *also)

    def redraw(self) -> None:
        """Draw the same result again, after one of the panel's own choices changed."""
        if self.result is not None:
            self.show_result(self.result)

    def _click(self, event: Any) -> None:
        if self.result is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if event.double():
            self.fit()
            return
        clicked = [int(self.result.positions[row]) for row in self.tokens_at(event.scenePos())]
        keys = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier
        extend = bool(event.modifiers() & keys)
        self.state.select(_after_click(self.state.selection, frozenset(clicked), extend))
        for position in clicked:
            self.token_clicked.emit(position, extend)


def _only_grown(before: Result, now: Result) -> bool:
    """Return whether nothing but the response curves has come since."""
    return before is not now and all(
        getattr(before, field.name) is getattr(now, field.name)
        for field in fields(now)
        if field.name not in GROWING
    )


def _after_click(before: frozenset[int], clicked: frozenset[int], extend: bool) -> frozenset[int]:
    if extend:
        return before - clicked if clicked <= before else before | clicked
    return frozenset() if clicked == before else clicked
