"""How a control, a view or a file is worked: what a person's hands do, at random."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QSlider,
    QTabBar,
    QWidget,
)

from explorer.ui.window import MainWindow
from explorer.views.picture import Picture
from tests.soak.parts import named

LEFT, NO_KEYS = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
KEYS = [
    getattr(Qt.Key, f"Key_{name}")
    for name in ("Left", "Right", "Up", "Down", "Tab", "Space", "Home", "Escape")
]


class Hands:
    """Works one thing of a window.

    Attributes
    ----------
    unfinished : set of str
        The lists some of whose choices were never taken.
    """

    def __init__(self, window: MainWindow, chance: random.Random) -> None:
        self._window = window
        self._chance = chance
        self._chosen: Counter[tuple[str, str]] = Counter()
        self.unfinished: set[str] = set()
        self._waiter = QTimer(window, interval=50)
        self._waiter.timeout.connect(self._answer_menu)

    def work(self, control: QWidget) -> None:
        """Press, choose, drag or type, whatever suits the control."""
        pick = self._chance
        if isinstance(control, QAbstractButton):
            self._waiter.start()
            control.click()
            self._waiter.stop()
        elif isinstance(control, QComboBox):
            if control.count():
                control.setCurrentIndex(self._least_chosen(control))
                control.activated.emit(control.currentIndex())
        elif isinstance(control, QSlider):
            control.setValue(pick.randint(control.minimum(), control.maximum()))
        elif isinstance(control, QAbstractSpinBox):
            control.stepBy(pick.choice([-3, -1, 1, 3]))
        elif isinstance(control, QLineEdit):
            control.setText(pick.choice(["0", "1-3", "none of this", ""]))
            QTest.keyClick(control, Qt.Key.Key_Return)
        elif isinstance(control, QPlainTextEdit) and not control.isReadOnly():
            control.setPlainText("Some words that were typed.")

    def _least_chosen(self, combo: QComboBox) -> int:
        counts = [self._chosen[named(combo), combo.itemText(i)] for i in range(combo.count())]
        index = self._chance.choice([i for i, count in enumerate(counts) if count == min(counts)])
        self._chosen[named(combo), combo.itemText(index)] += 1
        (self.unfinished.add if counts.count(0) > 1 else self.unfinished.discard)(named(combo))
        return index

    def _answer_menu(self) -> None:
        """Choose from a menu that a button has opened, or close it; until then the button waits."""
        menu = QApplication.activePopupWidget()
        if menu is None:
            return
        if not isinstance(menu, QMenu):
            menu.close()
            return
        offered = [action for action in menu.actions() if action.isEnabled() and not action.isSeparator()]
        chosen = self._chance.choice([None, *offered])
        menu.close()
        if chosen is not None:
            chosen.trigger()

    def point(self, view: Picture) -> None:
        """Move over a view, click, drag, double click or turn the wheel."""
        target, pick = view.canvas.viewport(), self._chance
        a, b = (
            QPoint(pick.randrange(max(target.width(), 1)), pick.randrange(max(target.height(), 1)))
            for _ in range(2)
        )
        keys = pick.choice([Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier])
        QTest.mouseMove(target, a)
        what = pick.choice(["click", "drag", "double", "wheel", "move"])
        if what == "click":
            QTest.mouseClick(target, LEFT, keys, a)
        elif what == "double":
            QTest.mouseDClick(target, LEFT, keys, a)
        elif what == "drag":
            QTest.mousePress(target, LEFT, keys, a)
            QTest.mouseMove(target, QPoint((a.x() + b.x()) // 2, (a.y() + b.y()) // 2))
            QTest.mouseMove(target, b)
            QTest.mouseRelease(target, LEFT, keys, b)
        elif what == "wheel":
            at = QPointF(a)
            turn = QPoint(0, pick.choice([-120, 120]))
            QApplication.sendEvent(
                target,
                QWheelEvent(
                    at, QPointF(target.mapToGlobal(a)), QPoint(), turn, Qt.MouseButton.NoButton, keys,
                    Qt.ScrollPhase.NoScrollPhase, False,
                ),
            )  # fmt: skip
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:  # let go where a dialog came between
            QTest.mouseRelease(self._window, LEFT, NO_KEYS, QPoint(1, 1))

    def drop(self, paths: Sequence[Path]) -> None:
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        copy = Qt.DropAction.CopyAction
        QApplication.sendEvent(self._window, QDragEnterEvent(QPoint(300, 300), copy, mime, LEFT, NO_KEYS))
        QApplication.sendEvent(self._window, QDropEvent(QPointF(300, 300), copy, mime, LEFT, NO_KEYS))

    def press(self) -> None:
        target = QApplication.focusWidget() or self._window
        QTest.keyClick(target, self._chance.choice(KEYS))

    def resize(self) -> None:
        self._window.resize(self._chance.randint(900, 1600), self._chance.randint(640, 1000))

    def turn(self, row: QTabBar) -> None:
        row.setCurrentIndex(self._chance.randrange(row.count()))
