"""What there is in a window to be worked, and what each part is called in the count."""

from __future__ import annotations

import time

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QDockWidget,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QTabBar,
    QWidget,
)

from explorer.ui.commands import Command
from explorer.ui.messages import MessageBar
from explorer.views.asking import CANCEL, Asking
from explorer.views.picture import Picture

CONTROLS = (QAbstractButton, QAbstractSpinBox, QComboBox, QSlider, QLineEdit, QPlainTextEdit)
VARYING = ("Edit › Undo", "Edit › Redo", "File › Open recent")
"""Commands whose text goes on: which parameter is undone, which file is recent."""


class Sight:
    """The widgets under `root`, found once: asking Qt for each kind anew takes most of an act's time."""

    def __init__(self, root: QWidget) -> None:
        self._widgets = root.findChildren(QWidget)

    @property
    def controls(self) -> list[QWidget]:
        """The fields and buttons that are the program's own, not parts of Qt's."""
        return [
            control
            for control in self._widgets
            if isinstance(control, CONTROLS)
            and spoken(control)
            and not control.objectName().startswith("qt_")
            and not isinstance(control.parentWidget(), QTabBar | QAbstractSpinBox | QComboBox)
        ]

    @property
    def usable(self) -> list[QWidget]:
        """The controls that a person could work now."""
        return [control for control in self.controls if control.isVisible() and control.isEnabled()]

    @property
    def views(self) -> list[Picture]:
        return [widget for widget in self._widgets if isinstance(widget, Picture)]

    @property
    def docks(self) -> list[QDockWidget]:
        """The panels of the page in sight."""
        return [
            widget
            for widget in self._widgets
            if isinstance(widget, QDockWidget) and widget.windowTitle() and _of_this_page(widget)
        ]

    @property
    def tabs(self) -> list[QTabBar]:
        return [
            widget
            for widget in self._widgets
            if isinstance(widget, QTabBar) and widget.isVisible() and widget.count() > 1
        ]


def _of_this_page(dock: QDockWidget) -> bool:
    """Whether a panel, itself perhaps behind a tab, stands in a page that is shown."""
    parent = dock.parentWidget()
    return parent is not None and parent.isVisible()


def command_name(command: Command) -> str:
    """Return a command's name without what changes."""
    path = next((varying for varying in VARYING if command.path.startswith(varying)), command.path)
    return f"command: {path}"


def named(widget: QWidget) -> str:
    if isinstance(widget, Picture):
        return f"view: {widget.title}"
    return f"{type(widget).__name__}: {spoken(widget)}"


def spoken(widget: QWidget) -> str:
    """Return what a screen reader calls a control; what begins something again has one name for all."""
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    if isinstance(widget.parentWidget(), Asking):
        return CANCEL if text == CANCEL else text and "Begin"
    return widget.accessibleName() or text


def is_own(control: QWidget) -> bool:
    """Whether a control belongs to the window for good: message bars and dialogs come and go."""
    parent: QWidget | None = control
    while parent is not None:
        if isinstance(parent, MessageBar | QDialog):
            return False
        parent = parent.parentWidget()
    return True


def asked_first() -> QWidget | None:
    """Return the dialog or the menu that must be answered before anything else."""
    return QApplication.activePopupWidget() or QApplication.activeModalWidget()


def close_dialogs() -> None:
    while (dialog := asked_first()) is not None:
        dialog.close()
        QApplication.processEvents()


def watch(seconds: float) -> None:
    """Let the window work."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        QApplication.processEvents()
        time.sleep(0.002)
