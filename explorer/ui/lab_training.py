"""Training as the page sees it: commands go to the worker's thread, snapshots come back to the window's."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal

from explorer.lab.setting import Setting
from explorer.lab.worker import Worker


class Training(QObject):
    """Owns the worker; made when the page is first shown.

    Attributes
    ----------
    running : bool

    Signals
    -------
    snapshot(Snapshot)
        The latest; those that the window was too slow for are dropped.
    refused(Exception, Setting or None)
        What went wrong, and what is in force now.
    running_changed(bool)
    """

    snapshot = Signal(object)
    refused = Signal(object, object)
    running_changed = Signal(bool)
    _told = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.running = False
        self._worker: Worker | None = None
        self._told.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def begin(self, setting: Setting, pace: float | None) -> None:
        """Make the worker, once."""
        if self._worker is None:
            self._worker = Worker(setting, self._told.emit)
            self._worker.pace(pace)

    def run(self, on: bool) -> None:
        """Start or pause."""
        if self._worker is not None:
            self._worker.run(on)
            self._say(on)

    def step(self) -> None:
        """Pause after exactly one more step."""
        if self._worker is not None:
            self._worker.step()
            self._say(False)

    def reset(self) -> None:
        """Begin again and pause."""
        if self._worker is not None:
            self._worker.reset()
            self._say(False)

    def change(self, setting: Setting) -> None:
        """Go on under another setting."""
        if self._worker is not None:
            self._worker.change(setting)

    def pace(self, steps_a_second: float | None) -> None:
        """Take so many steps a second; None: as many as can be."""
        if self._worker is not None:
            self._worker.pace(steps_a_second)

    def close(self) -> None:
        """Stop, and wait for the step under way."""
        self.running = False
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _say(self, running: bool) -> None:
        if running != self.running:
            self.running = running
            self.running_changed.emit(running)

    def _take(self) -> None:
        news = None if self._worker is None else self._worker.take()
        if news is None:
            return
        if news.error is not None:
            self._say(False)
            self.refused.emit(news.error, news.setting)
        if news.snapshot is not None:
            self.snapshot.emit(news.snapshot)
