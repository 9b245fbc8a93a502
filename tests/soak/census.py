"""What the program holds at rest: memory, threads, timers, widgets."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QPixmapCache
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from pytestqt.qtbot import QtBot

from explorer.commands.smoke import at_rest
from explorer.ui.messages import MessageBar
from explorer.ui.window import MainWindow
from tests.soak import parts

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
BLOCK = 256 * 2**10
PATIENCE_MS = 240_000


@dataclass(frozen=True)
class Census:
    """What the program holds while it shows the sample, at rest."""

    memory: int
    threads: int
    timers: int
    widgets: int
    windows: int


def return_freed_memory() -> None:
    """Let glibc give back what is freed.

    As it is, it serves blocks of up to 32 MB from heaps of its own, one for each of several threads, and
    keeps what is freed there between blocks still in use: hundreds of megabytes after an hour's work, which
    are no leak and would hide one.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        for option, value in ((M_TRIM_THRESHOLD, BLOCK), (M_MMAP_THRESHOLD, BLOCK), (M_ARENA_MAX, 2)):
            libc.mallopt(option, value)


def census(window: MainWindow, qtbot: QtBot) -> Census:
    """Go back to the sample in a window of the first size, let everything end, and count."""
    parts.close_dialogs()
    window.resize(1280, 800)
    window.pages.show_page(0)
    window.opener.open_sample()
    qtbot.waitUntil(lambda: not window.opener.task.working, timeout=PATIENCE_MS)
    window.state.update(device="auto")
    qtbot.waitUntil(lambda: at_rest(window), timeout=PATIENCE_MS)
    _wait_for_timers(window)
    for dialog in window.findChildren(QDialog):
        dialog.close()
    for bar in [*window.messages.bars]:
        bar.closed.emit()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    QPixmapCache.clear()
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    return Census(
        _memory(),
        threading.active_count(),
        len(_ticking(window)),
        len(window.findChildren(QWidget)),
        len(QApplication.topLevelWidgets()),
    )


def _memory() -> int:
    """Return the bytes that are the program's own: on Linux without what is read from libraries' files."""
    rollup = Path("/proc/self/smaps_rollup")
    if not rollup.exists():
        return psutil.Process().memory_info().rss
    (line,) = (line for line in rollup.read_text().splitlines() if line.startswith("Anonymous:"))
    return int(line.split()[1]) * 1024


def _ticking(window: MainWindow) -> list[QTimer]:
    """Return the timers at work, but for those that take a message away in its time."""
    return [
        timer
        for timer in window.findChildren(QTimer)
        if timer.isActive() and not isinstance(timer.parent(), MessageBar)
    ]


def _wait_for_timers(window: MainWindow, seconds: float = 20.0) -> None:
    """Wait until all that tick once have; those that go on are to be counted."""
    end = time.monotonic() + seconds
    parts.watch(0.5)
    while any(timer.isSingleShot() for timer in _ticking(window)) and time.monotonic() < end:
        parts.watch(0.1)
