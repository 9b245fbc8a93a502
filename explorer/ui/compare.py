"""The page that holds the present picture against a pinned one, and the actions that pin it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QWidget

from explorer import programs
from explorer.comparison import pinned
from explorer.errors import GramscopeError
from explorer.script import Program
from explorer.state import State
from explorer.ui.controls import Controls
from explorer.ui.messages import info, report
from explorer.ui.panel import Panel
from explorer.views.base import View
from explorer.views.compare_maps import CompareMaps
from explorer.views.compare_numbers import CompareNumbers
from explorer.views.compare_projection import CompareProjection
from explorer.views.compare_spectrum import CompareSpectrum

if TYPE_CHECKING:
    from explorer.ui.window import MainWindow


class ComparePage(QWidget):
    """The controls, both maps, projections, spectra and all numbers, with differences; it computes nothing.

    Attributes
    ----------
    panels : dict of str to Panel
        By the views' names.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.controls = Controls(state)
        self.maps, self.projection, self.spectrum, self.numbers = (
            CompareMaps(state), CompareProjection(state), CompareSpectrum(state), CompareNumbers(state),
        )  # fmt: skip
        self.panels = {view.name: Panel(view) for view in self.views}
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.controls)
        row.addWidget(self._lay_out(), 1)

    def program(self) -> Program:
        """Return what computes both pictures and their difference again.

        Raises
        ------
        GramscopeError
            If nothing is pinned.
        """
        if self._state.reference is None:
            raise GramscopeError("Nothing is pinned to compare with. Pin a picture as reference first.")
        return programs.compare(self._state.reference)

    @property
    def views(self) -> list[View]:
        """The views of all panels."""
        return [self.maps, self.projection, self.spectrum, self.numbers]

    def _lay_out(self) -> QMainWindow:
        docks = QMainWindow()
        docks.setWindowFlags(Qt.WindowType.Widget)
        docks.setDockNestingEnabled(True)
        above, behind, left, right = self.panels.values()
        docks.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, above)
        docks.splitDockWidget(above, left, Qt.Orientation.Vertical)
        docks.splitDockWidget(left, right, Qt.Orientation.Horizontal)
        docks.tabifyDockWidget(above, behind)
        above.raise_()
        docks.resizeDocks([above, left], [1000, 1200], Qt.Orientation.Vertical)
        docks.resizeDocks([left, right], [1100, 1000], Qt.Orientation.Horizontal)
        return docks


def offer_pinning(window: MainWindow) -> None:
    """Add “Pin as reference” and “Unpin” to the Edit menu of a window."""
    state, menus = window.state, window.menus

    def pin() -> None:
        if state.result is None:
            report(GramscopeError("There is no picture to pin yet. Open a model or the sample first."))
            return
        reference = pinned(state.result, window.opener.origin)
        state.pin(reference)
        info(f"Pinned {reference.label}. The page “Compare” shows it beside whatever comes.")

    menus.edit.addSeparator()
    pin_it = menus.add(menus.edit, "Pin as reference", pin, "Ctrl+Shift+R")
    unpin = menus.add(menus.edit, "Unpin", lambda: state.pin(None))
    unpin.setEnabled(False)
    window.pages.made.connect(lambda page: page.maps.offer(pin_it) if isinstance(page, ComparePage) else None)
    state.reference_changed.connect(lambda reference: unpin.setEnabled(reference is not None))
