"""Asks before the picture itself takes long, and offers to leave it off meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from explorer.errors import TakesLong
from explorer.ui.messages import Message, offer, report, withdraw
from explorer.views.asking import CANCEL
from explorer.views.outputs import Outputs

if TYPE_CHECKING:
    from explorer.ui.window import MainWindow


class LongWork(QObject):
    """Ties what takes long in the present picture, attacks and response curves, to a person's yes or no."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._message: Message | None = None
        runner = window.runner
        runner.failed.connect(self._on_failed)
        runner.busy_changed.connect(self._on_busy)
        window.state.params_changed.connect(self._withdraw)
        for view in window.explore.views:
            if isinstance(view, Outputs):
                view.asking.begun.connect(runner.agree)
                view.asking.cancelled.connect(runner.leave_off)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, TakesLong):
            report(error)
            return
        words = str(error)
        self._offer(f"{words} The picture before it stays until then.", "Compute", lambda: self._begin(words))

    def _begin(self, words: str) -> None:
        self._window.runner.agree()
        self._offer(f"{words} It is being computed.", CANCEL, lambda: self._window.state.update(level=0.0))

    def _on_busy(self, busy: bool) -> None:
        action = None if self._message is None else self._message.action
        if not busy and action is not None and action[0] == CANCEL:
            self._withdraw()

    def _offer(self, sentence: str, action: str, do: Callable[[], object]) -> None:
        self._withdraw()
        self._message = offer(sentence, action, do)

    def _withdraw(self, *_: object) -> None:
        if self._message is not None:
            withdraw(self._message)
            self._message = None
