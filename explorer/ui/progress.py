"""Long work in the open: what it does, how far it is, how long it will take, and Cancel."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from explorer.streams import Stream
from explorer.tasks import Task

LONG_S = 10.0
"""Work that takes longer than this says so, before it starts where that is known."""
FIRST_S = 1.0
"""How long progress must have been watched before it says when the work will end."""


def duration(seconds: float) -> str:
    """Return a time as a person says it: "about 40 s", "about 3 min", "about 2 h"."""
    if seconds < 90:
        return f"about {max(round(seconds / 5) * 5, 5)} s"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} min"
    return f"about {round(seconds / 3600)} h"


def remaining(elapsed: float, done: int, total: int) -> float | None:
    """Return the seconds that are left at the present pace; None while that cannot be told."""
    if done <= 0 or total <= 0 or elapsed < FIRST_S:
        return None
    return elapsed * max(total - done, 0) / done


class TaskProgress(QWidget):
    """Shows a task while it runs, and nothing else.

    Attributes
    ----------
    bar : QProgressBar
    what : QLabel
    cancel : QPushButton
    """

    def __init__(self, task: Task | Stream, tip: str = "Stop this and keep what is shown.") -> None:
        super().__init__()
        self._task = task
        self._clock = QElapsedTimer()
        self.bar = QProgressBar()
        self.bar.setFixedWidth(96)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress")
        self.what = QLabel()
        self.what.setProperty("role", "secondary")
        self.cancel = QPushButton("Cancel")
        self.cancel.setToolTip(tip)
        self.cancel.clicked.connect(task.cancel)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for widget in (self.bar, self.what, self.cancel):
            row.addWidget(widget)
        task.running_changed.connect(self._on_running)
        task.progressed.connect(self._on_progress)
        self.hide()

    def announce(self, what: str, estimate: float | None = None) -> None:
        """Say what is about to run and, if it will take long, how long (in seconds)."""
        long = estimate is not None and estimate > LONG_S
        self.what.setText(f"{what}, {duration(estimate)}" if long and estimate is not None else what)

    def _on_running(self, running: bool) -> None:
        self.bar.setRange(0, 0)
        self._clock.start()
        self.setVisible(running)
        if not running:
            self.what.clear()

    def _on_progress(self, done: int, total: int, what: str) -> None:
        self.bar.setRange(0, max(total, 0))
        self.bar.setValue(done)
        elapsed = self._clock.elapsed() / 1000
        left = remaining(elapsed, done, total)
        long = left is not None and elapsed + left > LONG_S
        self.what.setText(f"{what}, {duration(left)} left" if long and left is not None else what)
