"""A quiet window beside the work: what each panel means, the symbols, what this program is."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListWidget, QTextBrowser, QWidget

from explorer.ui.theme import theme

Page = Callable[[], str]


class HelpWindow(QDialog):
    """Shows one page of several, chosen on the left; the work goes on beside it.

    Attributes
    ----------
    topics : QListWidget
    page : QTextBrowser
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Gramscope help")
        self.resize(800, 560)
        self._pages: dict[str, Page] = {}
        self.topics = QListWidget()
        self.topics.setAccessibleName("Topics")
        self.topics.setFixedWidth(256)
        self.topics.setProperty("role", "list")
        self.page = QTextBrowser()
        self.page.setAccessibleName("Help")
        self.page.setOpenLinks(False)
        self.page.setProperty("role", "page")
        self.page.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.page.document().setDocumentMargin(24)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.topics)
        row.addWidget(self.page, 1)
        self.topics.currentTextChanged.connect(self._show)
        theme().changed.connect(self._retheme)

    def add(self, title: str, page: Page) -> None:
        """Add a topic, whose page is made when it is shown; the same title again replaces it."""
        if title not in self._pages:
            self.topics.addItem(title)
        self._pages[title] = page

    def open_at(self, title: str) -> None:
        """Come forward with a topic."""
        for item in self.topics.findItems(title, Qt.MatchFlag.MatchExactly):
            self.topics.setCurrentItem(item)
        self.show()
        self.raise_()
        self.activateWindow()

    def _retheme(self) -> None:
        if (topic := self.topics.currentItem()) is not None:
            self._show(topic.text())

    def _show(self, title: str) -> None:
        self.page.setHtml(self._pages[title]())
        self.page.verticalScrollBar().setValue(0)
