"""The strip above the laboratory's panels: the present formula with its numbers, and what is known."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from explorer.lab.account import account
from explorer.lab.snapshot import Snapshot
from explorer.ui.formula import formula, prose, strong


class Story(QWidget):
    """Tells what is being trained; warns where a setting trips people up.

    Attributes
    ----------
    formulas, proved, warning : QLabel
    """

    def __init__(self) -> None:
        super().__init__()
        self.formulas, self.proved, self.warning = _label(), _label("secondary"), _label("warning")
        self.formulas.setAccessibleName("Formula of the present setting")
        self.proved.setAccessibleName("What is proved, and what is measured")
        self.warning.setAccessibleName("Warning")
        self.warning.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 16, 8)
        column.setSpacing(2)
        for label in (self.formulas, self.proved, self.warning):
            column.addWidget(label)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Tell what this moment is of."""
        told = account(snapshot)
        head, *limits = map(formula, told.formulas)
        lines = [f'<span style="font-size: 15px">{head}</span>', " &nbsp;·&nbsp; ".join(limits)]
        self._say(self.formulas, "<br>".join(filter(None, lines)))
        self._say(
            self.proved,
            f"{strong('Proved')}: {prose(told.proved)} {strong('Only measured')}: {prose(told.measured)}",
        )
        self._say(self.warning, "<br>".join(map(prose, told.warnings)))
        self.warning.setVisible(bool(told.warnings))

    @staticmethod
    def _say(label: QLabel, text: str) -> None:
        if label.text() != text:
            label.setText(text)


def _label(role: str = "") -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.RichText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role:
        label.setProperty("role", role)
    return label
