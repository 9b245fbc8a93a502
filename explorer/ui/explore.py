"""The main page: the control column, and the linked panels in docks that move."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QMainWindow, QWidget

from explorer.session import Place
from explorer.state import State
from explorer.ui.controls import Controls
from explorer.ui.layout import arrange, describe, hide_forgotten_tabs
from explorer.ui.panel import Panel
from explorer.views.attention_map import AttentionMap
from explorer.views.base import View
from explorer.views.input import InputView
from explorer.views.outputs import Outputs
from explorer.views.picture import Picture
from explorer.views.projection import ProjectionView
from explorer.views.spectrum import SpectrumView

SETTLED_MS = 300
"""Docks have come to rest so long after they were moved."""
_LEFT, _RIGHT = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
PANELS: tuple[type[View], ...] = (AttentionMap, SpectrumView, ProjectionView, Outputs, InputView)
"""In reading order, two by two; the last in a tab behind the first, whose rows and columns it shows."""


class ExplorePage(QWidget):
    """Controls on the left, where the hand is; the panels beside them.

    Attributes
    ----------
    panels : dict of str to Panel
        By the views' names.
    asides : dict of str to QDockWidget
        Panels that are no views.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self.controls = Controls(state)
        self._docks = QMainWindow()
        self._docks.setWindowFlags(Qt.WindowType.Widget)
        self._docks.setDockNestingEnabled(True)
        self._tidy = QTimer(self, interval=SETTLED_MS, singleShot=True)
        self._tidy.timeout.connect(self._hide_forgotten_tabs)
        self.panels: dict[str, Panel] = {}
        self.asides: dict[str, QDockWidget] = {}
        for kind, area in zip(PANELS, (_LEFT, _RIGHT, _LEFT, _RIGHT, _LEFT), strict=True):
            panel = Panel(kind(state))
            self._docks.addDockWidget(area, panel)
            self.panels[panel.view.name] = panel
        self._docks.tabifyDockWidget(self.panels["attention"], self.panels["input"])
        self._original = self._docks.saveState()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.controls)
        row.addWidget(self._docks, 1)
        self.reset_layout()

    def add_aside(self, name: str, title: str, widget: QWidget, beside: str) -> QDockWidget:
        """Add a panel that is no view and hidden until asked for, in a tab with the panel `beside`."""
        dock = QDockWidget(title)
        dock.setObjectName(f"panel-{name}")
        dock.setWidget(widget)
        self._docks.addDockWidget(_RIGHT, dock)
        self._docks.tabifyDockWidget(self.panels[beside], dock)
        dock.hide()
        self.asides[name] = dock
        self._original = self._docks.saveState()
        return dock

    @property
    def views(self) -> list[Picture]:
        """The views of all panels, shown or not."""
        return [panel.view for panel in self.panels.values()]

    def is_complete(self) -> bool:
        """Whether the docks have settled."""
        return not self._tidy.isActive()

    def layout_state(self) -> dict[str, Place]:
        """Return where the docks are."""
        return describe(self._docks)

    def restore_layout(self, layout: Mapping[str, Place]) -> None:
        """Put the docks where `layout_state` found them."""
        arrange(self._docks, layout)
        self._tidy.start()

    def reset_layout(self) -> None:
        """Put the docks back into two by two, of equal size, the map in front of the input."""
        self._docks.restoreState(self._original)
        panels = list(self.panels.values())
        for panel in panels:
            panel.setFloating(False)
            panel.show()
        self._docks.resizeDocks(panels, [1000] * len(panels), Qt.Orientation.Horizontal)
        self._docks.resizeDocks(panels, [1000] * len(panels), Qt.Orientation.Vertical)
        self.panels["attention"].raise_()
        self._tidy.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Show, and look for forgotten tabs once all is in its place."""
        super().showEvent(event)
        self._tidy.start()

    def _hide_forgotten_tabs(self) -> None:
        if self.isVisible():
            hide_forgotten_tabs(self._docks)
