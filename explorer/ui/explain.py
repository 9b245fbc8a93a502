"""A quiet window with a text to read: what a panel means, what this program is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from explorer import __version__


def about_text() -> str:
    """Return what this program is, in a few lines."""
    return (
        f"Gramscope {__version__}\n\n"
        "Shows attention as kernel principal component analysis, and what contamination does to softmax and "
        "to RPC-Attention. Papers claim that attention does kernel PCA, a later study says that the claim "
        "fails: look at your own model.\n\n"
        "Sources: Teo and Nguyen, arXiv 2406.13762; Sarıtaş and Yıldız, arXiv 2505.07908; Maulen-Soto and "
        "Boyer, arXiv 2605.18315; Candès, Li, Ma and Wright, Robust principal component analysis?, 2011."
    )


def explain(parent: QWidget, title: str, text: str) -> QDialog:
    """Show `text` beside the work, without blocking it."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    label = QLabel(text)
    label.setWordWrap(True)
    label.setMinimumWidth(480)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(24, 24, 24, 16)
    column.setSpacing(16)
    column.addWidget(label)
    column.addWidget(buttons)
    dialog.show()
    return dialog
