"""Long work in the open: what it does, how far it is, how long it will take, and Cancel."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from explorer.pace import LONG_S, duration, remaining
from explorer.streams import Stream
from explorer.tasks import Task

STEPS = 1000
"""Of a bar: bytes are more than it can count."""


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

    def follow(self) -> None:
        """Show a task that runs already."""
        self._on_running(True)

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
        self.bar.setRange(0, STEPS if total > 0 else 0)
        self.bar.setValue(STEPS * done // max(total, 1))
        elapsed = self._clock.elapsed() / 1000
        left = remaining(elapsed, done, total)
        long = left is not None and elapsed + left > LONG_S
        self.what.setText(f"{what}, {duration(left)} left" if long and left is not None else what)
