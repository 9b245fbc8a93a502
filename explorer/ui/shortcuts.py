"""The shortcuts page: what the keyboard does, read from the actions themselves."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QMainWindow,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
)

from explorer.ui.commands import SEPARATOR, commands


class ShortcutsPage(QDialog):
    """Lists every action that has keys, by menu.

    Attributes
    ----------
    list : QTreeWidget
    """

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self.setWindowTitle("Keyboard shortcuts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(480, 600)
        self.list = QTreeWidget()
        self.list.setAccessibleName("Shortcuts")
        self.list.setProperty("role", "commands")
        self.list.setHeaderLabels(["Command", "Keys"])
        self.list.setRootIsDecorated(False)
        self.list.setIndentation(16)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._fill(window)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addWidget(self.list)
        column.addWidget(buttons)

    def _fill(self, window: QMainWindow) -> None:
        groups: dict[str, QTreeWidgetItem] = {}
        for command in commands(window):
            if not command.keys:
                continue
            if command.menu not in groups:
                group = QTreeWidgetItem([command.menu or "Elsewhere"])
                font = group.font(0)
                font.setWeight(QFont.Weight.DemiBold)
                group.setFont(0, font)
                self.list.addTopLevelItem(group)
                groups[command.menu] = group
            text = command.path.removeprefix(command.menu + SEPARATOR)
            groups[command.menu].addChild(QTreeWidgetItem([text, command.keys]))
        self.list.expandAll()


def show_shortcuts(window: QMainWindow) -> None:
    """Show the page; one that is already open comes to the front."""
    open_pages = [page for page in window.findChildren(ShortcutsPage) if page.isVisible()]
    page = open_pages[0] if open_pages else ShortcutsPage(window)
    page.show()
    page.raise_()
    page.activateWindow()
