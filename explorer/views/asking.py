"""Says how far something long is, and offers to stop it or to begin it (again)."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

CANCEL = "Cancel"
PATIENCE_MS = 300
"""Work that is done sooner shows no progress: it would only flicker."""


class Asking(QWidget):
    """A sentence and one button, both hidden until there is something to say.

    Signals
    -------
    cancelled(), begun()
        A person wants the work to stop, or to begin.
    """

    cancelled = Signal()
    begun = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.progress = QLabel()
        self.progress.setProperty("role", "secondary")
        self.button = QToolButton()
        self._soon = QTimer(self, interval=PATIENCE_MS, singleShot=True)
        self._soon.timeout.connect(lambda: self.offer(CANCEL))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.progress)
        row.addWidget(self.button)
        self.button.setVisible(False)
        self.button.clicked.connect(self._press)

    def working(self, on: bool) -> None:
        """Offer to cancel what runs for longer than a moment."""
        if on:
            if not self._soon.isActive():
                self._soon.start()
            return
        self._soon.stop()
        self.button.setVisible(False)
        self.progress.clear()

    def tell(self, text: str) -> None:
        """Say how far the work is, while it is waited for."""
        if self.button.isVisible():
            self.progress.setText(text)

    def offer(self, what: str, text: str = "") -> None:
        """Show the button, and what is to be known before it is pressed."""
        self.button.setText(what)
        self.button.setAccessibleName(what)
        self.button.setVisible(True)
        self.progress.setText(text)

    def beside(self, control: QWidget) -> QWidget:
        """Return a row of this and another control."""
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self)
        layout.addWidget(control)
        return row

    def _press(self) -> None:
        if self.button.text() == CANCEL:
            self.cancelled.emit()
        else:
            self.working(False)
            self.begun.emit()
