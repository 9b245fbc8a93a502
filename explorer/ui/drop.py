"""What happens when something is dragged over the window: it says first what a drop would do."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QLabel, QWidget

from explorer import threads
from explorer.models.kinds import COMPANIONS, MODELS
from explorer.session import SUFFIX

IMAGES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"}
TEXTS = {".txt", ".text"}
TENSORS = {".npy"}
INPUTS = (
    (IMAGES, "Use as image", "Use these {} images, one after another"),
    (TEXTS, "Use as text, a line each", "Use these {} texts, a line each"),
    (TENSORS, "Use as input tensor", "Use these {} input tensors, one after another"),
)
TABLES = {".csv", ".tsv"}
LOOKED_AT = 500
"""Entries of a folder; a drag must not wait for more."""

Intent = Callable[[Sequence[Path]], tuple[str, str]]


def paths_of(data: QMimeData) -> list[Path]:
    """Return the local files and folders that are dragged."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def intent(paths: Sequence[Path]) -> tuple[str, str]:
    """Return what a drop of `paths` would do ("open", "input" or "table"), and the words for it.

    What lies on a drive that does not answer at once is opened, which can wait for it.
    """
    return threads.within(threads.GLANCE_S, lambda: _intent(paths), ("open", "Open as checkpoint"))


def _intent(paths: Sequence[Path]) -> tuple[str, str]:
    kinds = {path.suffix.lower() for path in paths}
    for suffixes, one, several in INPUTS:
        if kinds <= suffixes:
            return "input", one if len(paths) == 1 else several.format(len(paths))
    if len(paths) == 1 and kinds == {SUFFIX}:
        return "open", "Open session"
    if len(paths) == 1 and _holds_images(paths[0]):
        return "input", "Use as images, one after another"
    if len(paths) > 1 and all(path.is_dir() for path in paths):
        return "open", f"Open these {len(paths)} checkpoints as a series along training"
    if len(paths) == 1 and kinds <= TABLES:
        return "table", "Use as table in the Laboratory"
    if not kinds <= MODELS | COMPANIONS:
        return "open", "This cannot be opened" if len(
            paths
        ) == 1 else f"These {len(paths)} do not go together"
    if len(paths) > 1:
        return "open", f"Open these {len(paths)} files, as one checkpoint or a series"
    return "open", "Open as checkpoint"


def _holds_images(folder: Path) -> bool:
    """Whether a folder holds images and no checkpoint, as far as its first entries tell."""
    try:
        with os.scandir(folder) as entries:
            names = [Path(entry.name) for entry in islice(entries, LOOKED_AT)]
    except OSError:  # no folder, or one that may not be read: opening it says why
        return False
    kinds = {name.suffix.lower() for name in names}
    return bool(kinds & IMAGES) and not kinds & MODELS and Path("config.json") not in names


class DropZone(QLabel):
    """Covers its parent while something is dragged over it, and takes the drop.

    The drop is always a copy (a move could delete the person's file), and what it starts runs after the
    event, so that the other program is not kept waiting.

    Parameters
    ----------
    intent : callable
        Gives what a drop of paths would do and the words for it.

    Signals
    -------
    dropped(str, list)
        What `intent` called it, and the paths.
    """

    dropped = Signal(str, list)

    def __init__(self, parent: QWidget, intent: Intent = intent) -> None:
        super().__init__(parent)
        self._intent = intent
        self._covered = parent
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setProperty("role", "drop")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAutoFillBackground(True)
        self.hide()

    def enter(self, event: QDragEnterEvent) -> None:
        """Light up and say what a drop would do."""
        paths = paths_of(event.mimeData())
        if not paths:
            event.ignore()
            return
        self.setText(self._intent(paths)[1])
        self.setGeometry(self._covered.rect())
        self.raise_()
        self.show()
        self._accept(event)

    def move_(self, event: QDragMoveEvent) -> None:
        """Go on accepting."""
        if paths_of(event.mimeData()):
            self._accept(event)

    def leave(self, event: QDragLeaveEvent) -> None:
        """Go dark."""
        self.hide()
        event.accept()

    def drop(self, event: QDropEvent) -> None:
        """Take the files."""
        self.hide()
        paths = paths_of(event.mimeData())
        if paths:
            self._accept(event)
            what, _ = self._intent(paths)
            QTimer.singleShot(0, self, lambda: self.dropped.emit(what, paths))

    @staticmethod
    def _accept(event: QDropEvent) -> None:
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
