"""A heading that folds what is under it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget


class Fold(QWidget):
    """A group of rarely used controls, closed until asked for."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.button = QToolButton()
        self.button.setText(title)
        self.button.setCheckable(True)
        self.button.setProperty("role", "fold")
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.setAutoRaise(True)
        self.button.setAccessibleName(title)
        self.button.setToolTip(f"Show or hide: {title}")
        self.button.toggled.connect(self.set_open)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        self._layout.addWidget(self.button)
        self._content: QWidget | None = None
        self.set_open(False)

    def set_content(self, content: QWidget) -> None:
        """Put `content` under the heading."""
        self._content = content
        self._layout.addWidget(content)
        content.setVisible(self.button.isChecked())

    def set_open(self, open_: bool) -> None:
        """Show or hide the content."""
        self.button.setChecked(open_)
        self.button.setArrowType(Qt.ArrowType.DownArrow if open_ else Qt.ArrowType.RightArrow)
        if self._content is not None:
            self._content.setVisible(open_)
