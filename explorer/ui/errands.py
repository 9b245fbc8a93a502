"""Errands: files are made, written and read behind the window, which lives however long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, QTimer

from explorer import threads
from explorer.pace import LONG_S, duration
from explorer.settings import atomic_write
from explorer.tasks import Progress, ShouldStop, Task, Work
from explorer.ui.messages import Message, info, offer, report, withdraw, working

SLOW_MS = 1500
"""After so long a drive is called slow."""


class Errands(QObject):
    """Runs what takes long or may have to wait for a drive, each errand on a thread of its own.

    One that takes more than a moment is told of, with Cancel; one that is known to take long says so and
    waits for a person's yes. What is written is whole or not there; one that
    was cancelled writes nothing any more should its drive come back. An errand with the same key as one that
    is under way takes its place.

    Parameters
    ----------
    inline : bool
        Run on the calling thread; for tests.
    """

    def __init__(self, *, inline: bool = False, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._inline = inline
        self._all: list[_Errand] = []
        self._under_way: dict[str, _Errand] = {}

    def write(self, files: Mapping[Path, bytes], done: Callable[[], object]) -> None:
        """Write files, then call `done`; what is wrong is told."""
        first = next(iter(files))

        def work(progress: Progress, should_stop: ShouldStop) -> None:
            for path, data in files.items():
                atomic_write(path, data, should_stop)

        self.run(str(first.absolute()), f"Writing {first.name}", work, lambda _: done())

    def write_and_tell(self, files: Mapping[Path, bytes]) -> None:
        """Write files into one folder, and tell that it was done or why not."""
        names, folder = " and ".join(path.name for path in files), next(iter(files)).parent
        self.write(files, lambda: info(f"Saved {names} in {folder}."))

    def run(
        self,
        key: str,
        what: str,
        work: Work,
        done: Callable[[Any], object],
        failed: Callable[[Exception], object] = report,
        seconds: float = 0.0,
    ) -> None:
        """Do `work`, then call `done` with what it returns, or `failed` with what it raised.

        Parameters
        ----------
        what : str
            What is being done, as in "Writing a.png".
        seconds : float
            How long it will take, where that is known.
        """
        if seconds > LONG_S:
            begin = partial(self.run, key, what, work, done, failed)
            offer(f"{what} takes {duration(seconds)}. You can go on meanwhile.", "Begin", begin)
            return
        self.cancel(key)
        errand = next((errand for errand in self._all if not errand.task.working), None) or self._another()
        self._under_way[key] = errand
        errand.begin(what, work, done, failed, lambda: self._under_way.pop(key, None))

    def cancel(self, key: str) -> None:
        """Give up an errand, if it is under way."""
        if key in self._under_way:
            self._under_way[key].task.cancel()

    def close(self) -> None:
        """Wait for what is under way, though not for ever."""
        end = time.monotonic() + threads.CLOSING_S
        for errand in self._all:
            errand.close(max(end - time.monotonic(), 0.0))

    def _another(self) -> _Errand:
        errand = _Errand(self._inline, self)
        self._all.append(errand)
        return errand


class _Errand(QObject):
    """One thing at a time, with its message."""

    def __init__(self, inline: bool, parent: QObject) -> None:
        super().__init__(parent)
        self.task = Task("errand", inline=inline, parent=self)
        self._clock = QTimer(self, singleShot=True, interval=SLOW_MS)
        self._clock.timeout.connect(self._tell)
        self._message: Message | None = None
        self._says_how_far = False
        self.task.progressed.connect(self._on_progress)
        self.task.running_changed.connect(self._on_running)
        self.task.done.connect(lambda outcome: self._done(outcome))
        self.task.failed.connect(lambda error: self._failed(error))

    def begin(
        self,
        what: str,
        work: Work,
        done: Callable[[Any], object],
        failed: Callable[[Exception], object],
        ended: Callable[[], object],
    ) -> None:
        self._what, self._done, self._failed, self._ended = what, done, failed, ended
        self.task.run(work)

    def close(self, seconds: float) -> None:
        self.task.wait(seconds)
        QCoreApplication.sendPostedEvents(self.task)  # what came of it is still told
        if self.task.working:
            self.task.cancel()

    def _on_progress(self, done: int, total: int) -> None:
        before, self._says_how_far = self._says_how_far, done < total or not total
        if self._message is not None and before != self._says_how_far:
            withdraw(self._message)
            self._tell()

    def _tell(self) -> None:
        if self._says_how_far:
            self._message = working(f"{self._what}. You can go on meanwhile.", self.task)
            return
        self._message = offer(
            f"{self._what} takes long: the drive may not answer. You can go on meanwhile.",
            "Cancel",
            self.task.cancel,
        )

    def _on_running(self, running: bool) -> None:
        if running:
            self._says_how_far = False
            self._clock.start()
            return
        self._clock.stop()
        self._ended()
        if self._message is not None:
            withdraw(self._message)
            self._message = None
