"""Works a window at random, the least worked part first, and keeps count of what it touched."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QDockWidget,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QSlider,
    QTabBar,
    QWidget,
)

from explorer.ui.commands import Command, commands
from explorer.ui.messages import MessageBar
from explorer.ui.window import MainWindow
from explorer.views.picture import Picture

Act = Callable[[], None]
CONTROLS = (QAbstractButton, QAbstractSpinBox, QComboBox, QSlider, QLineEdit, QPlainTextEdit)
LEFT = Qt.MouseButton.LeftButton
KEYS = [
    getattr(Qt.Key, f"Key_{name}")
    for name in ("Left", "Right", "Up", "Down", "Tab", "Space", "Home", "Escape")
]
BRINGS = ("drop", "scene", "page")
"""Acts that bring another source or page."""
MOST_AT_ONCE, MOST_CHOICES = 200, 8
ENDS = ("File › Quit",)
"""Commands that would end the work."""


class Monkey:
    """Chooses an act among all that are possible now, by how seldom each was chosen.

    Attributes
    ----------
    touched : Counter of str
        How often each command, control, drop, page and view was worked.
    """

    def __init__(
        self, window: MainWindow, drops: Mapping[str, Sequence[Path]], scenes: Mapping[str, Act], seed: int
    ) -> None:
        self._window = window
        self._scenes = scenes
        self._drops = drops
        self._random = random.Random(seed)
        self.touched: Counter[str] = Counter()
        self._chosen: Counter[tuple[str, str]] = Counter()
        self._unfinished: set[str] = set()
        self._waiter = QTimer(window, interval=50)
        self._waiter.timeout.connect(self._answer_menu)

    def step(self) -> str:
        """Do one thing and let the window answer; return what it was."""
        acts = self._in_dialog() or self._in_window()
        names = sorted(acts)
        new = [name for name in names if not self.touched[name] or name in self._unfinished]
        leads = sorted(self._pages_with_new().intersection(names)) if self._random.random() < 0.1 else []
        if leads:
            return self._do(acts, self._random.choice(leads))
        if new and self._random.random() < 0.5:
            return self._do(acts, self._random.choice(new))
        return self._do(acts, self._random.choices(names, [1 / (1 + self.touched[n]) ** 2 for n in names])[0])

    def sweep(self) -> None:
        """Go through every scene, drop, page and panel, touch what chance has left out, and try every choice.

        A choice or a switch can bring further fields into sight; these come first.
        """
        turned: Counter[str] = Counter()
        for bring in (
            *self._scenes.values(),
            *(partial(self._drop, paths) for paths in self._drops.values()),
        ):
            self._close_dialogs()
            bring()
            self._watch(0.5)
            while any("open" in thread.name for thread in threading.enumerate()):
                self._watch(0.1)
            self._finish(self._window.pages.place, turned)
            for place in range(self._window.pages.count):
                self._window.pages.show_page(place)
                self._finish(place, turned)
                for dock in self._docks():
                    _raise(dock)
                for tabs in self._tabs():
                    for i in range(tabs.count()):
                        tabs.setCurrentIndex(i)
                        self._finish(place, turned)

    def _finish(self, place: int, turned: Counter[str]) -> None:
        for _ in range(MOST_AT_ONCE):
            acts = self._in_dialog() or self._in_window()
            untouched = [name for name in acts if not self.touched[name] and not name.startswith(BRINGS)]
            new = sorted(untouched, key=self._urgency)
            if not new:
                new = [name for name in sorted(self._choices()) if turned[name] < self._choices()[name]]
            if not new:
                return
            turned[new[0]] += 1
            self._do(acts, new[0])
            self._close_dialogs()
            self._window.pages.show_page(place)

    @staticmethod
    def _urgency(name: str) -> int:
        """Put first what other acts take away: the tour's buttons, then undoing."""
        return (
            0 if name in ("QPushButton: Next", "QPushButton: Back") else 2 - name.startswith("command: Edit")
        )

    def _choices(self) -> dict[str, int]:
        """Return how many choices each list and each switch in sight has."""
        return {
            _named(control): min(control.count(), MOST_CHOICES) if isinstance(control, QComboBox) else 2
            for control in self._controls(self._window.pages.page(self._window.pages.place))
            if control.isVisible()
            and control.isEnabled()
            and (
                isinstance(control, QComboBox)
                or (isinstance(control, QAbstractButton) and control.isCheckable())
            )
        }

    def _do(self, acts: Mapping[str, Act], name: str) -> str:
        acts[name]()
        self.touched[name] += 1
        self._answer()
        return name

    @staticmethod
    def _close_dialogs() -> None:
        while (dialog := QApplication.activePopupWidget() or QApplication.activeModalWidget()) is not None:
            dialog.close()
            QApplication.processEvents()

    def _pages_with_new(self) -> set[str]:
        pages = self._window.pages
        return {
            f"page: {pages.row.tabText(i)}"
            for i in range(pages.count)
            if any(not self.touched[_named(widget)] for widget in self._parts(pages.page(i)))
        }

    def everything(self) -> set[str]:
        """Return what there is to touch in the window as it is now, visible or not."""
        shown = [one for one in commands(self._window) if one.action.isVisible() and one.path not in ENDS]
        return {
            *map(_command, shown),
            *(f"drop: {what}" for what in self._drops),
            *(f"page: {self._window.pages.row.tabText(i)}" for i in range(self._window.pages.count)),
            *(_named(widget) for widget in self._parts(self._window) if _is_own(widget)),
        }

    def _parts(self, root: QWidget) -> list[QWidget]:
        return [*self._controls(root), *root.findChildren(Picture)]

    def _answer(self) -> None:
        for _ in range(3):
            QApplication.processEvents()
        if self._random.random() < 0.1:
            self._watch(0.2)

    @staticmethod
    def _watch(seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            QApplication.processEvents()

    def _in_dialog(self) -> dict[str, Act]:
        dialog = QApplication.activeModalWidget() or QApplication.activePopupWidget()
        if dialog is None:
            return {}
        if isinstance(dialog, QFileDialog) or not isinstance(dialog, QDialog) or self._random.random() < 0.2:
            return {f"close {type(dialog).__name__}": dialog.close}
        acts: dict[str, Act] = {
            f"in {type(dialog).__name__}: {_named(control)}": lambda c=control: self._work(c)
            for control in self._controls(dialog)
            if control.isVisible() and control.isEnabled()
        }
        return acts | {f"close {type(dialog).__name__}": dialog.close}

    def _in_window(self) -> dict[str, Act]:
        window = self._window
        acts: dict[str, Act] = {
            _command(command): command.action.trigger
            for command in commands(window)
            if command.path not in ENDS and command.action.isEnabled()
        }
        acts |= {f"drop: {what}": lambda p=paths: self._drop(p) for what, paths in self._drops.items()}
        acts |= {f"panel: {dock.windowTitle()}": lambda d=dock: _raise(d) for dock in self._docks()}
        acts |= {
            f"tabs: {tabs.accessibleName() or tabs.tabText(0)}": lambda t=tabs: self._turn(t)
            for tabs in self._tabs()
        }
        acts |= {f"scene: {what}": scene for what, scene in self._scenes.items()}
        acts |= {
            f"page: {window.pages.row.tabText(i)}": lambda i=i: window.pages.row.setCurrentIndex(i)
            for i in range(window.pages.count)
        }
        acts |= {_named(view): lambda v=view: self._point(v) for view in self._pictures() if view.isVisible()}
        acts |= {
            _named(control): lambda c=control: self._work(c)
            for control in self._controls(window)
            if control.isVisible() and control.isEnabled()
        }
        return acts | {"keys": self._press, "size": self._resize}

    def _docks(self) -> list[QDockWidget]:
        page = self._window.pages.page(self._window.pages.place)
        return [dock for dock in page.findChildren(QDockWidget) if dock.windowTitle()]

    def _tabs(self) -> list[QTabBar]:
        page = self._window.pages.page(self._window.pages.place)
        return [tabs for tabs in page.findChildren(QTabBar) if tabs.isVisible() and tabs.count() > 1]

    def _turn(self, tabs: QTabBar) -> None:
        tabs.setCurrentIndex(self._random.randrange(tabs.count()))

    def _pictures(self) -> list[Picture]:
        return self._window.findChildren(Picture)

    @staticmethod
    def _controls(root: QWidget) -> list[QWidget]:
        """Return the fields and buttons under `root` that are the program's own, not parts of Qt's."""
        return [
            control
            for kind in CONTROLS
            for control in root.findChildren(kind)
            if _spoken(control)
            and not control.objectName().startswith("qt_")
            and not isinstance(control.parentWidget(), QTabBar | QAbstractSpinBox | QComboBox)
        ]

    def _work(self, control: QWidget) -> None:
        pick = self._random
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
        counts = [self._chosen[_named(combo), combo.itemText(i)] for i in range(combo.count())]
        index = self._random.choice([i for i, count in enumerate(counts) if count == min(counts)])
        self._chosen[_named(combo), combo.itemText(index)] += 1
        (self._unfinished.add if counts.count(0) > 1 else self._unfinished.discard)(_named(combo))
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
        chosen = self._random.choice([None, *offered])
        menu.close()
        if chosen is not None:
            chosen.trigger()

    def _point(self, view: Picture) -> None:
        """Move over a panel, click, drag, double click or turn the wheel."""
        target, pick = view.canvas.viewport(), self._random
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
            QTest.mouseMove(target, (a + b) / 2)
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

    def _drop(self, paths: Sequence[Path]) -> None:
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        actions, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(self._window, QDragEnterEvent(QPoint(300, 300), actions, mime, LEFT, none))
        QApplication.sendEvent(self._window, QDropEvent(QPointF(300, 300), actions, mime, LEFT, none))
        self._watch(0.3)

    def _press(self) -> None:
        target = QApplication.focusWidget() or self._window
        QTest.keyClick(target, self._random.choice(KEYS))

    def _resize(self) -> None:
        self._window.resize(self._random.randint(900, 1600), self._random.randint(640, 1000))


def _raise(dock: QDockWidget) -> None:
    dock.show()
    dock.raise_()


def _command(command: Command) -> str:
    """Return a command's name without what changes: which parameter is undone, which file is recent."""
    path = command.path
    for varying in ("Edit › Undo", "Edit › Redo", "File › Open recent"):
        if path.startswith(varying):
            path = varying
    return f"command: {path}"


def _named(widget: QWidget) -> str:
    if isinstance(widget, Picture):
        return f"view: {widget.title}"
    return f"{type(widget).__name__}: {_spoken(widget)}"


def _spoken(widget: QWidget) -> str:
    """Return what a screen reader calls a control."""
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    return widget.accessibleName() or text


def _is_own(control: QWidget) -> bool:
    """Whether a control belongs to the window for good: message bars come and go."""
    parent: QWidget | None = control
    while parent is not None:
        if isinstance(parent, MessageBar | QDialog):
            return False
        parent = parent.parentWidget()
    return True
