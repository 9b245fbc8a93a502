"""The window's pages, under a quiet row of tabs; a page is made when it is first shown."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QTabBar, QVBoxLayout, QWidget

Make = Callable[[], QWidget]


class Tabs(QWidget):
    """Shows one page of several; with a single page there is no row of tabs.

    Attributes
    ----------
    row : QTabBar

    Signals
    -------
    made(QWidget)
        A page was made, before it is shown for the first time.
    changed(int)
        Another page is shown.
    """

    made = Signal(object)
    changed = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.row = QTabBar()
        self.row.setObjectName("pages")
        self.row.setAccessibleName("Pages")
        self.row.setDrawBase(False)
        self.row.setExpanding(False)
        self.row.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.row.hide()
        self._stack = QStackedWidget()
        self._makers: list[Make] = []
        self._places: list[QWidget | None] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.row)
        column.addWidget(self._stack, 1)
        self.row.currentChanged.connect(self._on_row)

    def add(self, title: str, make: Make) -> None:
        """Add a page behind the others; the first one is made and shown at once."""
        self._makers.append(make)
        self._places.append(None)
        self.row.addTab(title)
        self.row.setVisible(self.count > 1)

    def page(self, place: int) -> QWidget:
        """Return the page at a place, made where it was not yet."""
        page = self._places[place]
        if page is None:
            page = self._places[place] = self._makers[place]()
            self._stack.addWidget(page)
            self.made.emit(page)
        return page

    def show_page(self, place: int) -> None:
        """Bring a page forward."""
        self.row.setCurrentIndex(place)

    @property
    def count(self) -> int:
        """How many pages there are, made or not."""
        return self.row.count()

    @property
    def place(self) -> int:
        """The place of the page that is shown."""
        return self.row.currentIndex()

    def _on_row(self, place: int) -> None:
        self._stack.setCurrentWidget(self.page(place))
        self.changed.emit(place)
