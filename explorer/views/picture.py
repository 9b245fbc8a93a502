"""A panel with a picture, whatever it is of: a canvas, a sentence while there is none, and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QLabel, QProgressBar, QStackedLayout, QToolButton, QVBoxLayout, QWidget

from explorer.ui.theme import theme
from explorer.views.canvas import Canvas
from explorer.views.plot import Plot

Column = list[str] | NDArray[Any]
Table = tuple[list[str], list[Column]]
REST_MS = 100


@dataclass(frozen=True)
class Provenance:
    """Where the numbers of a picture come from.

    Attributes
    ----------
    source : str
    params : mapping
        Every parameter, as JSON can hold them.
    computed : str
        Device and dtype.
    """

    source: str
    params: Mapping[str, Any]
    computed: str


class Picture(QWidget):
    """One panel. A subclass builds its items once with `build`, and `furnish` completes the panel.

    A click is the subclass's own matter; a double click undoes zooming.

    Attributes
    ----------
    name, title : str
        Identifier (for sessions, the command line and file names), and what the header says.
    help : str
        Definition, how to read it, how not to, with the source.
    wide : bool
        Whether it is several plots side by side, and takes a row of a figure for itself.
    result : object or None
        What is drawn; None while nothing is.
    canvas : Canvas
        The graphics layout, whose scene an export renders.
    plot_items : list of Plot

    Signals
    -------
    option_changed(dict)
        `options()` after a person changed one of the panel's own choosers that are not parameters.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str]
    wide: ClassVar[bool] = False

    option_changed = Signal(dict)

    def __init__(self) -> None:
        super().__init__()
        self.result: Any = None
        self.canvas = Canvas()
        self.plot_items: list[Plot] = []
        self._subject: tuple[object, ...] = ()
        self._rest = QTimer(self, interval=REST_MS)
        self._rest.timeout.connect(self._settle_at_rest)
        self.setMinimumSize(200, 160)
        self.setAccessibleName(self.title)
        self._lay_out()

    def furnish(self, nothing_yet: str) -> None:
        """Build the items, say `nothing_yet` in their place, and follow theme and pointer."""
        self.build()
        self.show_nothing(nothing_yet)
        theme().changed.connect(self.retheme)
        scene = self.canvas.scene()
        scene.sigMouseMoved.connect(self._hover)
        scene.sigMouseClicked.connect(self._click)
        self.canvas.left.connect(lambda: self.canvas.say("", QPointF()))

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
        self._outer = outer
        self._stack = QStackedLayout()
        outer.addLayout(self._stack)
        self._stack.addWidget(self.canvas)
        self._stack.addWidget(empty)
        self.working(False)

    # What a subclass says.

    def build(self) -> None:
        """Make the items, once."""
        raise NotImplementedError

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Draw the same again, after one of the panel's own choices or the scheme changed."""
        raise NotImplementedError

    def reading_at(self, at: QPointF) -> str:
        """Return what lies at a point of the scene, in words and figures; empty: nothing."""
        raise NotImplementedError

    def numbers(self, result: Any) -> Table:
        """Return the names and the columns of the numbers behind the picture; columns may end early."""
        raise NotImplementedError

    def provenance(self) -> Provenance:
        """Return where what is drawn comes from."""
        raise NotImplementedError

    def header_controls(self) -> QWidget | None:
        """Return the panel's own choosers, to be placed in its header; None where it has none."""
        return None

    def add_tools(self, tools: QWidget) -> None:
        """Place further choosers in a row above the picture, for which the header has no room."""
        self._outer.insertWidget(1, tools)

    def options(self) -> dict[str, Any]:
        """Return the choices that are not parameters, as JSON can hold them."""
        return {}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Restore what `options` gave; unknown names are left alone."""

    # What the window calls.

    def show_picture(self) -> None:
        """Show the picture in place of the sentence."""
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

    def may_move(self, *subject: object) -> bool:
        """Return whether ranges may move now: no button is held, or the picture is of something else.

        While a button is held the picture is drawn again soon after its release.

        Parameters
        ----------
        subject : objects
            What it is a picture of.
        """
        changed, self._subject = subject != self._subject, subject
        held = _is_button_held()
        if held:
            self._rest.start()
        return changed or not held

    def _settle_at_rest(self) -> None:
        if not _is_button_held():
            self._rest.stop()
            self.redraw()

    def fit(self) -> None:
        """Undo zooming by hand."""
        for plot in self.plot_items:
            plot.fit()

    def read_again(self) -> None:
        """Let the label beside the pointer say what lies there now."""
        if self.canvas.reading.isVisible():
            self._hover(self.canvas.said_at)

    def _hover(self, at: QPointF) -> None:
        self.canvas.say(self.reading_at(at) if self.result is not None else "", at)

    def _click(self, event: Any) -> None:
        if self.result is not None and event.button() == Qt.MouseButton.LeftButton and event.double():
            self.fit()


def _is_button_held() -> bool:
    return QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton


def padded(column: Column, length: int) -> Column:
    """Return `column` with "" (words and whole numbers) or NaN (floats) added up to `length`."""
    missing = length - len(column)
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        return np.concatenate([column, np.full(missing, np.nan)])
    words = [str(value) for value in column]
    return words + [""] * missing
