"""The command palette: every action of the window, by a few of its letters."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QHeaderView,
    QLineEdit,
    QMainWindow,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.ui.commands import Command, commands, match
from explorer.ui.theme import scheme, theme

WIDTH, ROWS = 720, 13
"""Pixels, and commands seen at once."""
_MOVES = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


class Palette(QWidget):
    """Covers the window while it is asked for; a click beside it or Escape closes it.

    Attributes
    ----------
    query : QLineEdit
    list : QTreeWidget
        The commands that match, the best first.
    """

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._commands: list[Command] = []
        self._before: QWidget | None = None
        card = QFrame(self)
        card.setProperty("role", "card")
        self._card = card
        self.query = QLineEdit()
        self.query.setPlaceholderText("Type a few letters of a command")
        self.query.setAccessibleName("Command")
        self.query.textChanged.connect(self._filter)
        self.query.installEventFilter(self)
        self.list = QTreeWidget()
        self.list.setAccessibleName("Commands")
        self.list.setProperty("role", "commands")
        self.list.setColumnCount(2)
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.list.itemClicked.connect(self._run)
        column = QVBoxLayout(card)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(8)
        column.addWidget(self.query)
        column.addWidget(self.list)
        theme().changed.connect(self._retheme)
        self.hide()

    def open(self) -> None:
        """Come up with all commands that can be given now."""
        self._before = QApplication.focusWidget()
        self._commands = [
            command
            for command in commands(self._window)
            if command.action.isEnabled() and command.action.isVisible()
        ]
        self.setGeometry(self._window.rect())
        width = min(WIDTH, self.width() - 32)
        self.query.clear()
        self._filter("")
        self.list.setFixedHeight(ROWS * self.list.sizeHintForRow(0) + 2 * self.list.frameWidth())
        self._card.setGeometry((self.width() - width) // 2, 64, width, self._card.sizeHint().height())
        self.raise_()
        self.show()
        self.query.setFocus()

    def dismiss(self) -> None:
        """Go away and give the keyboard back."""
        self.hide()
        if self._before is not None:
            self._before.setFocus()

    def _retheme(self) -> None:
        if self.isVisible():
            self._filter(self.query.text())

    def _filter(self, query: str) -> None:
        scored = [(match(query, c.path), match(query, c.name), c) for c in self._commands]
        best = sorted((row for row in scored if row[0]), key=lambda row: (-row[1], -row[0]))
        self.list.clear()
        items = [self._item(command) for *_, command in best]
        self.list.addTopLevelItems(items)
        if items:
            self.list.setCurrentItem(items[0])

    @staticmethod
    def _item(command: Command) -> QTreeWidgetItem:
        item = QTreeWidgetItem([command.path, command.keys])
        item.setData(0, Qt.ItemDataRole.UserRole, command)
        item.setForeground(1, QBrush(QColor(scheme().secondary)))
        return item

    def _run(self, item: QTreeWidgetItem) -> None:
        command: Command = item.data(0, Qt.ItemDataRole.UserRole)
        self.dismiss()
        command.action.trigger()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move in the list with the keys of the field, and keep the window's shortcuts out."""
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._press(event)
        return super().eventFilter(watched, event)

    def _press(self, event: QKeyEvent) -> bool:
        key = event.key()
        toggles = (
            key in (Qt.Key.Key_K, Qt.Key.Key_P) and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        )
        if key == Qt.Key.Key_Escape or toggles:
            self.dismiss()
        elif key in _MOVES:
            QApplication.sendEvent(self.list, event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.list.currentItem() is not None:
                self._run(self.list.currentItem())
        elif key not in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            return False
        return True

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Close at a click beside the card."""
        if not self._card.geometry().contains(event.position().toPoint()):
            self.dismiss()
