"""A view in a dock with a quiet header: its title, its own choosers, what it means, and export."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QDockWidget, QHBoxLayout, QLabel, QMenu, QToolButton, QWidget

from explorer.views.picture import Picture

FEWEST = 2
"""Letters of a choice that stay in sight."""


class Panel(QDockWidget):
    """Holds one view.

    Signals
    -------
    asked(str, Picture)
        "export", "copy", "copy numbers" or "help", from the header's buttons.
    """

    asked = Signal(str, object)

    def __init__(self, view: Picture) -> None:
        super().__init__(view.title)
        self.view = view
        self.setObjectName(f"panel-{view.name}")
        self.setWidget(view)
        self.setTitleBarWidget(self._header())
        self.setFeatures(
            QDockWidget.DockWidgetFeature.DockWidgetMovable
            | QDockWidget.DockWidgetFeature.DockWidgetClosable
            | QDockWidget.DockWidgetFeature.DockWidgetFloatable
        )

    def _header(self) -> QWidget:
        header = QWidget()
        header.setObjectName("panel-header")
        row = QHBoxLayout(header)
        row.setContentsMargins(16, 4, 8, 4)
        row.setSpacing(8)
        title = QLabel(self.view.title)
        title.setProperty("role", "heading")
        row.addWidget(title)
        choosers = self.view.header_controls()
        if choosers is not None:
            _let_shrink(choosers)
            row.addWidget(choosers)
        row.addStretch(1)
        self.help_button = self._button(
            "i", "info", f"What “{self.view.title}” shows, and how not to read it"
        )
        self.help_button.clicked.connect(lambda: self.asked.emit("help", self.view))
        self.menu_button = self._button("…", "quiet", f"Export or copy “{self.view.title}”")
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.menu_button)
        for text, what in (
            ("Export this panel…", "export"),
            ("Copy picture", "copy"),
            ("Copy numbers", "copy numbers"),
        ):
            menu.addAction(text, lambda what=what: self.asked.emit(what, self.view))
        self.menu_button.setMenu(menu)
        row.addWidget(self.help_button)
        row.addWidget(self.menu_button)
        return header

    def _button(self, text: str, role: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setProperty("role", role)
        return button


def _let_shrink(choosers: QWidget) -> None:
    """Let choosers show their longest choice where there is room, and a few letters where there is none."""
    boxes = [choosers] if isinstance(choosers, QComboBox) else choosers.findChildren(QComboBox)
    for box in boxes:
        if not box.minimumContentsLength():
            box.setMinimumContentsLength(FEWEST)
