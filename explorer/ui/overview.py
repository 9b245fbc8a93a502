"""The page of all heads: a number or a small map each, computed a layer at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QWidget

from explorer import programs
from explorer.params import Params
from explorer.quantities import Overview
from explorer.result import Result
from explorer.runner import Runner
from explorer.script import Program
from explorer.state import State
from explorer.streams import ShouldStop, Stream
from explorer.ui.controls import Controls
from explorer.ui.messages import report
from explorer.ui.panel import Panel
from explorer.views.overview import NOTHING, OverviewView

if TYPE_CHECKING:
    from explorer.overview import Overviewer

REST_MS = 200
"""The hand rests when nothing has changed for so long."""
ONE_HEAD = "This source has one head only: Explore shows it. Open a model to see its heads beside each other."


class OverviewPage(QWidget):
    """The controls and the map of heads; it computes only while it is shown, and gives way to the picture.

    Parameters
    ----------
    inline : bool
        Compute on the calling thread; for tests.

    Attributes
    ----------
    view : OverviewView

    Signals
    -------
    opened(int, int)
        The state is at this layer and head now: show it.
    """

    opened = Signal(int, int)

    def __init__(self, state: State, runner: Runner, *, inline: bool = False) -> None:
        super().__init__()
        self._state = state
        self._inline = inline
        self._overviewer: Overviewer | None = None
        self._of: tuple[object, Params] | None = None
        self.controls = Controls(state)
        self.view = OverviewView(state)
        self.panel = Panel(self.view)
        docks = QMainWindow()
        docks.setCentralWidget(self.panel)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.controls)
        row.addWidget(docks, 1)
        self._rest = QTimer(self, interval=REST_MS, singleShot=True)
        self._rest.timeout.connect(self._compute)
        self._stream = Stream("overview", inline=inline, parent=self)
        self._stream.item.connect(self.view.show_overview)
        self._stream.failed.connect(report)
        self._stream.running_changed.connect(self.view.show_running)
        runner.busy_changed.connect(self._stream.hold)
        self.view.opened.connect(self._open)
        self.view.header.halted.connect(self._halt)
        state.source_changed.connect(self._on_source)
        state.result_changed.connect(self._follow)

    def is_complete(self) -> bool:
        """Whether all heads of the present picture are there."""
        shown = self.view.result
        return isinstance(shown, Overview) and shown.complete and self._of == self._wanted()

    def program(self) -> Program:
        """Return what computes all heads again."""
        return programs.OVERVIEW

    def stop(self) -> None:
        """Stop everything that runs, and wait for it."""
        self._rest.stop()
        self._stream.close()

    def showEvent(self, event: QShowEvent) -> None:
        """Compute what the page shows."""
        super().showEvent(event)
        if self._state.result is not None:
            self._follow(self._state.result)

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave off."""
        super().hideEvent(event)
        self._rest.stop()
        self._stream.cancel()
        if not self.is_complete():
            self._of = None

    def _on_source(self, _: object) -> None:
        self._stream.cancel()
        self._of = None
        self.view.show_nothing(NOTHING)

    def _wanted(self) -> tuple[object, Params]:
        """Return what the overview depends on: layer and head count only where an attack is aimed at them."""
        p = self._state.params
        bare = p.but(layer=0, head=0, variant="softmax", axes=(0, 1), centred=False)
        return (self._state.source, p.change), bare

    def _follow(self, _: Result) -> None:
        source = self._state.source
        if not self.isVisible() or source is None or self._wanted() == self._of:
            return
        if (source.layers - source.first_layer) * source.heads == 1:
            self._of = self._wanted()
            self.view.show_nothing(ONE_HEAD)
            return
        if self._inline:
            self._compute()
        else:
            self._rest.start()

    def _compute(self) -> None:
        source, params = self._state.source, self._state.params
        self._of = self._wanted()

        def produce(should_stop: ShouldStop) -> Iterator[Overview]:
            from explorer.overview import Overviewer

            if self._overviewer is None:
                self._overviewer = Overviewer()
            assert source is not None
            yield from self._overviewer(params, source, should_stop)

        self._stream.run(produce)

    def _halt(self, halt: bool) -> None:
        if halt:
            self._stream.cancel()
        else:
            self._compute()

    def _open(self, layer: int, head: int) -> None:
        self._state.update(layer=layer, head=head)
        self.opened.emit(layer, head)
