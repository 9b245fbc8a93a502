"""The laboratory of a window, opened as a person opens it; training runs on its real thread."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.ui.lab import LabPage
from explorer.ui.window import MainWindow
from explorer.views.lab_view import LabView
from explorer.views.plot import Plot
from tests.ui.desk import settle

LEFT = Qt.MouseButton.LeftButton
START_UP_MS = 30_000


def place_of(window: MainWindow, title: str) -> int:
    return next(i for i in range(window.pages.count) if window.pages.row.tabText(i) == title)


@contextmanager
def laboratory(qtbot: QtBot) -> Iterator[MainWindow]:
    """Open a window at its laboratory, ready to train."""
    window = build(inline=True)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    window.pages.show_page(place_of(window, "Laboratory"))
    _wait_until_ready(window.findChild(LabPage), qtbot)
    yield window
    window.close()
    window.deleteLater()
    del window
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()  # what is left of it must not fall to the next training thread: timers die with their own


def _wait_until_ready(page: LabPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: page.alignment.result is not None, timeout=START_UP_MS)
    settle()


def step_of(page: LabPage) -> int:
    """Return the step of the latest picture."""
    settle()
    assert page.alignment.result is not None
    return page.alignment.result.step


def press_button(qtbot: QtBot, button: QWidget) -> None:
    qtbot.mouseClick(button, LEFT)


def drag(view: LabView, plot: Plot, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag with the left button from one place of a plot to another."""
    settle()
    a, b = (view.canvas.mapFromScene(plot.vb.mapViewToScene(QPointF(*at))) for at in (start, end))
    port = view.canvas.viewport()
    QTest.mouseMove(port, a)
    QTest.mousePress(port, LEFT, pos=a)
    for i in range(1, 9):
        QTest.qWait(15)
        at = a + (b - a) * (i / 8)
        _move(port, at)
    QTest.mouseRelease(port, LEFT, pos=b)
    settle()


def _move(port: QWidget, at: QPoint) -> None:
    where = QPointF(at)
    event = QMouseEvent(
        QEvent.Type.MouseMove, where, port.mapToGlobal(where), Qt.MouseButton.NoButton, LEFT,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(port, event)
