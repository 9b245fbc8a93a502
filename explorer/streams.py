"""Long computations that show what they have so far: overviews, phase diagrams, evidence."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from explorer import threads
from explorer.errors import Stopped
from explorer.fallback import lasting

ShouldStop = Callable[[], bool]
Produce = Callable[[ShouldStop], Iterator[Any]]


class Stream(QObject):
    """Iterates on a thread of its own; the latest `run` wins, and everything gives way while held.

    Items that the window is too slow for are dropped, but for the last one: an item must say everything
    known so far.

    Signals
    -------
    item(object)
        What is known so far.
    finished()
        Nothing more will come.
    failed(Exception)
    running_changed(bool)
    progressed(int, int, str)
        Done, total and what is being done; emitted by who knows it from the items.
    """

    item = Signal(object)
    finished = Signal()
    failed = Signal(object)
    running_changed = Signal(bool)
    progressed = Signal(int, int, str)
    _woken = Signal()

    def __init__(self, name: str, *, inline: bool = False, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._inline = inline
        self._number = 0
        self._lock = threading.Lock()
        self._outbox: list[tuple[int, str, Any]] = []
        self._free = threading.Event()
        self._free.set()
        self._threads: list[threading.Thread] = []
        self._woken.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(self, produce: Produce) -> None:
        """Start `produce(should_stop)`; what ran before is cancelled and its items dropped."""
        self._number += 1
        self.running_changed.emit(True)
        if self._inline:
            self._iterate(self._number, produce)
            self._deliver()
            return
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        self._threads.append(threads.start(self._name, self._iterate, self._number, produce))

    def hold(self, on: bool) -> None:
        """Wait between items while `on`, so that a drag has the machine to itself."""
        if on:
            self._free.clear()
        else:
            self._free.set()

    def cancel(self) -> None:
        """Ask to stop; what still comes is dropped."""
        self._number += 1
        self.running_changed.emit(False)

    def close(self) -> None:
        """Cancel and wait, though not for ever."""
        self._number += 1
        threads.wait(self._threads)
        self._threads.clear()

    def _iterate(self, number: int, produce: Produce) -> None:
        def should_stop() -> bool:
            return number != self._number

        try:
            for item in lasting(lambda: produce(should_stop)):
                self._post(number, "item", item)
                while not self._free.wait(0.05) and not should_stop():
                    pass
                if should_stop():
                    return
        except Stopped:
            return
        except Exception as error:  # shown to the person, with its traceback
            self._post(number, "failed", error)
        else:
            self._post(number, "finished", None)

    def _post(self, number: int, kind: str, value: Any) -> None:
        with self._lock:
            idle = not self._outbox
            self._outbox.append((number, kind, value))
        if idle and not self._inline:
            self._woken.emit()

    def _deliver(self) -> None:
        with self._lock:
            outbox, self._outbox = self._outbox, []
        news = [(kind, value) for number, kind, value in outbox if number == self._number]
        items = [value for kind, value in news if kind == "item"]
        if items:
            self.item.emit(items[-1])
        for kind, value in news:
            if kind == "failed":
                self.running_changed.emit(False)
                self.failed.emit(value)
            elif kind == "finished":
                self.running_changed.emit(False)
                self.finished.emit()
