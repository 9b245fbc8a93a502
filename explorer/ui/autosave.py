"""Keeps a copy of the session while it changes, for the start after a crash."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, QTimer

from explorer.session import SUFFIX, Session, save
from explorer.settings import directory
from explorer.tasks import Progress, ShouldStop, Task
from explorer.ui.messages import report

EVERY_MS = 15_000


def _folder() -> Path:
    folder = directory("data") / "autosave"
    folder.mkdir(exist_ok=True)
    return folder


def left_behind() -> list[Path]:
    """Return the sessions of runs that never closed, the newest first."""
    found = []
    for path in _folder().glob(f"*{SUFFIX}"):
        lock = QLockFile(f"{path}.lock")
        lock.setStaleLockTime(0)
        if lock.tryLock(0):
            lock.unlock()
            found.append(path)
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


class Autosave(QObject):
    """Writes the session every few seconds, where it changed, to a file of this run's own, on a thread.

    Attributes
    ----------
    path : Path
    """

    def __init__(self, snapshot: Callable[[], Session | None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._snapshot = snapshot
        self._written: Session | None = None
        self.path = _folder() / f"{secrets.token_hex(6)}{SUFFIX}"
        self._lock = QLockFile(f"{self.path}.lock")
        self._lock.setStaleLockTime(0)
        self._lock.tryLock(0)
        self._task = Task("autosave", parent=self)
        self._task.failed.connect(self._failed)
        self._clock = QTimer(self, interval=EVERY_MS)
        self._clock.timeout.connect(self.write)
        self._clock.start()

    def write(self) -> None:
        """Write the session now, if it changed."""
        session = self._snapshot()
        if session is None or session == self._written:
            return
        self._written = session

        def work(progress: Progress, should_stop: ShouldStop) -> None:
            save(session, self.path)

        self._task.run(work)

    def _failed(self, error: Exception) -> None:
        """Say so once and stop trying."""
        self._clock.stop()
        report(error)

    def close(self) -> None:
        """Stop, and remove the copy: this run closed as it should."""
        self._clock.stop()
        self._task.close()
        self.path.unlink(missing_ok=True)
        self._lock.unlock()
