"""What every panel is: a picture of the latest result, linked with the others by the selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QLabel, QProgressBar, QStackedLayout, QToolButton, QVBoxLayout, QWidget

from explorer.params import Params
from explorer.result import Result
from explorer.state import State
from explorer.ui.theme import theme
from explorer.views.canvas import Canvas
from explorer.views.plot import Plot

Column = list[str] | NDArray[Any]
Table = tuple[list[str], list[Column]]

NOTHING_YET = "Nothing to show yet. Open a model or a sample, and this panel fills in."


class View(QWidget):
    """One panel: it follows its state by itself, so that a window only has to place it.

    A subclass builds its items once, draws with `draw`, marks with `mark`, and says what lies under the
    pointer with `tokens_at` and `reading_at`. A click selects the tokens under the pointer (shift or
    control adds or removes them), a click beside them clears the selection, a double click undoes zooming.

    Attributes
    ----------
    name, title : str
        Identifier (for sessions, the command line and file names), and what the header says.
    help : str
        Definition, how to read it, how not to, with the source.
    state : State
    result : Result or None
        What is drawn; None while nothing is.
    canvas : Canvas
        The graphics layout, whose scene an export renders.
    plot_items : list of Plot

    Signals
    -------
    token_clicked(int, bool)
        A token (its place in the input), and whether it extended the selection; `state` knows already.
    option_changed(dict)
        `options()` after a person changed one of the panel's own choosers that are not parameters.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str]

    token_clicked = Signal(int, bool)
    option_changed = Signal(dict)

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state
        self.result: Result | None = None
        self._subject: tuple[Any, ...] = ()
        self._rest = QTimer(self, interval=100)
        self._rest.timeout.connect(self._settle_at_rest)
        self.canvas = Canvas()
        self.plot_items: list[Plot] = []
        self.setMinimumSize(280, 200)
        self.setAccessibleName(self.title)
        self._lay_out()
        self.build()
        self.show_nothing(NOTHING_YET)
        self._connect()
        if state.result is not None:
            self.show_result(state.result)

    def _lay_out(self) -> None:
        self._progress = QProgressBar()
        self._progress.setRange(0, 0)
        self._progress.setTextVisible(False)
        self._progress.setFixedHeight(2)
        policy = self._progress.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._progress.setSizePolicy(policy)
        self._sentence = QLabel()
        self._sentence.setWordWrap(True)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._sentence.setProperty("role", "secondary")
        self._button = QToolButton()
        empty = QWidget()
        column = QVBoxLayout(empty)
        column.setContentsMargins(32, 16, 32, 16)
        column.addStretch()
        column.addWidget(self._sentence)
        column.addWidget(self._button, alignment=Qt.AlignmentFlag.AlignCenter)
        column.addStretch()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self._progress)
        self._stack = QStackedLayout()
        outer.addLayout(self._stack)
        self._stack.addWidget(self.canvas)
        self._stack.addWidget(empty)
        self.working(False)

    def _connect(self) -> None:
        self.state.result_changed.connect(self.show_result)
        self.state.selection_changed.connect(self.set_selection)
        self.state.params_changed.connect(self.follow)
        theme().changed.connect(self.retheme)
        scene = self.canvas.scene()
        scene.sigMouseMoved.connect(self._hover)
        scene.sigMouseClicked.connect(self._click)
        self.canvas.left.connect(lambda: self.canvas.say("", QPointF()))
        self.follow(self.state.params)

    # What a subclass says.

    def build(self) -> None:
        """Make the items, once."""
        raise NotImplementedError

    def draw(self, result: Result) -> None:
        """Put the numbers of `result` into the items."""
        raise NotImplementedError

    def mark(self, rows: NDArray[np.int64]) -> None:
        """Mark the selected tokens, by their row in the result."""
        raise NotImplementedError

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        raise NotImplementedError

    def tokens_at(self, at: QPointF) -> list[int]:
        """Return the rows of the tokens at a point of the scene."""
        raise NotImplementedError

    def reading_at(self, at: QPointF) -> str:
        """Return what lies at a point of the scene, in words and figures; empty: nothing."""
        raise NotImplementedError

    def numbers(self, result: Result) -> Table:
        """Return the names and the columns of the numbers behind the picture; columns may end early."""
        raise NotImplementedError

    def header_controls(self) -> QWidget | None:
        """Return the panel's own choosers, to be placed in its header; None where it has none."""
        return None

    def follow(self, params: Params) -> None:
        """Let the choosers show `params`."""

    def options(self) -> dict[str, Any]:
        """Return the choices that are not parameters, as JSON can hold them."""
        return {}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Restore what `options` gave; unknown names are left alone."""

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
        self.result = result
        self.draw(result)
        self.mark(self.rows(self.state.selection))
        self._stack.setCurrentIndex(0)

    def show_nothing(self, sentence: str, action: QAction | None = None) -> None:
        """Show a sentence in place of the picture, and a button for `action` where there is one."""
        self.result = None
        self._subject = ()
        self.canvas.say("", QPointF())
        self._sentence.setText(sentence)
        self._button.setVisible(action is not None)
        if action is not None:
            self._button.setDefaultAction(action)
        self._stack.setCurrentIndex(1)

    def set_selection(self, selection: frozenset[int]) -> None:
        """Mark the tokens at these places of the input."""
        if self.result is not None:
            self.mark(self.rows(selection))

    def working(self, on: bool) -> None:
        """Show or hide the thin line that says something is being computed."""
        self._progress.setVisible(on)

    def retheme(self) -> None:
        """Follow a switch between light and dark."""
        self.canvas.retheme()
        self.recolour()
        self.redraw()

    def table(self) -> Table:
        """Return the names and the columns of the numbers behind the picture, padded to equal lengths.

        Returns
        -------
        names : list of str
        columns : list of (list of str or ndarray)
            Padded with "" and NaN; both lists are empty while nothing is shown.
        """
        if self.result is None:
            return [], []
        names, columns = self.numbers(self.result)
        length = max(map(len, columns), default=0)
        return names, [padded(column, length) for column in columns]

    # What subclasses share.

    def rows(self, selection: frozenset[int]) -> NDArray[np.int64]:
        """Return the rows of the result in which the tokens at these places of the input stand."""
        if self.result is None:
            return np.empty(0, np.int64)
        return np.flatnonzero(np.isin(self.result.positions, sorted(selection)))

    def settles(self, result: Result, *also: object) -> bool:
        """Return whether ranges may move now: no button is held, or the picture is of something else.

        While a button is held the picture is drawn again soon after its release.

        Parameters
        ----------
        also : objects
            What else makes it another picture.
        """
        p = result.params
        subject = (result.source, p.layer, p.head, p.input, result.query, len(result.positions), *also)
        changed, self._subject = subject != self._subject, subject
        held = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        if held:
            self._rest.start()
        return changed or not held

    def fit(self) -> None:
        """Undo zooming by hand."""
        for plot in self.plot_items:
            plot.fit()

    def redraw(self) -> None:
        """Draw the same result again, after one of the panel's own choices changed."""
        if self.result is not None:
            self.show_result(self.result)

    def _settle_at_rest(self) -> None:
        if QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton:
            self._rest.stop()
            self.redraw()

    def _hover(self, at: QPointF) -> None:
        self.canvas.say(self.reading_at(at) if self.result is not None else "", at)

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


def _after_click(before: frozenset[int], clicked: frozenset[int], extend: bool) -> frozenset[int]:
    if extend:
        return before - clicked if clicked <= before else before | clicked
    return frozenset() if clicked == before else clicked


def padded(column: Column, length: int) -> Column:
    """Return `column` with "" (words and whole numbers) or NaN (floats) added up to `length`."""
    missing = length - len(column)
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        return np.concatenate([column, np.full(missing, np.nan)])
    words = [str(value) for value in column]
    return words + [""] * missing
