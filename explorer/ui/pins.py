"""Brings the pinned picture of a session back: its source is opened and the picture computed again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from explorer.comparison import Reference, pinned
from explorer.errors import GramscopeError
from explorer.session import Pin, check
from explorer.tasks import Progress, ShouldStop, Task
from explorer.ui.messages import report
from explorer.ui.opener import make

if TYPE_CHECKING:
    from explorer.models.base import Source
    from explorer.ui.window import MainWindow


def pin_of(reference: Reference) -> Pin:
    """Return from what a pinned picture can be computed again."""
    return Pin(reference.origin, reference.result.params)


class Pins(QObject):
    """Computes the pinned picture of a session in the background.

    Attributes
    ----------
    task : Task
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.task = Task("pinned picture", inline=window.opener.task.inline, parent=self)
        self.task.done.connect(window.state.pin)
        self.task.failed.connect(self._failed)
        window.closing.connect(self.task.close)

    def restore(self, pin: Pin | None) -> None:
        """Pin what was pinned, as soon as it is computed; None: nothing was."""
        self.task.cancel()
        self._window.state.pin(None)
        if pin is None:
            return
        same = pin.origin == self._window.opener.origin
        self.task.run(partial(_computed, pin, self._window.state.source if same else None))

    def _failed(self, error: Exception) -> None:
        if isinstance(error, GramscopeError):
            error = GramscopeError(f"The pinned picture cannot be brought back. {error}", error.detail)
        report(error)


def _computed(pin: Pin, present: Source | None, progress: Progress, should_stop: ShouldStop) -> Reference:
    from explorer.analysis import Evaluator

    source = make(pin.origin, progress, should_stop) if present is None else present
    try:
        check(pin.params, source)
        *_, result = Evaluator()(pin.params, source, should_stop)
        return pinned(result, pin.origin)
    finally:
        if present is None:
            source.close()
