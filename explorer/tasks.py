"""Background work with progress and cancel: opening, exporting, reporting."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from explorer import threads
from explorer.errors import Stopped
from explorer.fallback import lastingly

Progress = Callable[[int, int, str], None]
ShouldStop = Callable[[], bool]
Work = Callable[[Progress, ShouldStop], Any]


class Task(QObject):
    """Runs functions on a thread, the latest one winning: a second `run` cancels the first.

    Attributes
    ----------
    inline : bool
        Whether it runs on the calling thread instead.

    Signals
    -------
    progressed(object, object, str)
        Done, total (0: unknown), whole numbers of any size, and what is being done.
    done(object)
        What the function returned.
    failed(Exception)
    running_changed(bool)
    """

    progressed = Signal(object, object, str)
    done = Signal(object)
    failed = Signal(object)
    running_changed = Signal(bool)
    _news = Signal(int, str, object)

    def __init__(self, name: str, *, inline: bool = False, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.inline = inline
        self._number = 0
        self._threads: list[threading.Thread] = []
        kind = Qt.ConnectionType.DirectConnection if inline else Qt.ConnectionType.QueuedConnection
        self._news.connect(self._take, kind)

    def run(self, work: Work) -> None:
        """Start `work(progress, should_stop)`; whatever ran before is cancelled and its outcome dropped."""
        self._number += 1
        number = self._number
        self.running_changed.emit(True)
        if self.inline:
            self._do(number, work)
            return
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        self._threads.append(threads.start(self._name, self._do, number, work))

    def cancel(self) -> None:
        """Ask the work to stop; its outcome is dropped whatever it does."""
        self._number += 1
        self.running_changed.emit(False)

    @property
    def working(self) -> bool:
        """Whether a thread of its own still runs, were it asked to stop or not."""
        return any(thread.is_alive() for thread in self._threads)

    def wait(self, seconds: float) -> None:
        """Wait for what runs, so long at most."""
        threads.wait(self._threads, seconds)

    def close(self) -> None:
        """Cancel and wait, though not for ever."""
        self._number += 1
        threads.wait(self._threads)
        self._threads.clear()

    def _do(self, number: int, work: Work) -> None:
        def progress(done: int, total: int, what: str) -> None:
            self._news.emit(number, "progress", (done, total, what))

        try:
            outcome = lastingly(lambda: work(progress, lambda: number != self._number))
        except Stopped:
            return
        except Exception as error:  # shown to the person, with its traceback
            self._news.emit(number, "failed", error)
        else:
            self._news.emit(number, "done", outcome)

    def _take(self, number: int, kind: str, value: Any) -> None:
        if number != self._number:
            return
        if kind == "progress":
            self.progressed.emit(*value)
            return
        self.running_changed.emit(False)
        (self.done if kind == "done" else self.failed).emit(value)
