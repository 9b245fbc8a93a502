"""Chooses what colours the tokens of the input, and how strongly over an image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSlider, QWidget

from explorer.views.words import subscript

COLOURS = {
    "attention": "attention of the selected query",
    "attended": "attention to the selected key",
    "eigenvector": "eigenvector",
    "contamination": "contamination",
    "error": "output error, softmax",
    "error of rpc": "output error, RPC",
    "none": "no colours",
}
BLEND = 70


class InputChooser(QWidget):
    """The input panel's own choices.

    Signals
    -------
    changed()
        A person chose something.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.colour, self.axis = QComboBox(), QComboBox()
        for name, words in COLOURS.items():
            self.colour.addItem(words, name)
        self.colour.setToolTip("What the colour of a token stands for")
        self.colour.setAccessibleName("Colour of the tokens")
        self.colour.view().setMinimumWidth(240)
        self.axis.setToolTip("Which eigenvector a_d of the key Gram matrix")
        self.axis.setAccessibleName("Eigenvector")
        self.blend = QSlider(Qt.Orientation.Horizontal)
        self.blend.setRange(0, 100)
        self.blend.setValue(BLEND)
        self.blend.setFixedWidth(64)
        self.blend.setToolTip("How far colours cover the image: at the right end they are the colour bar's")
        self.blend.setAccessibleName("Colours over the image")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (self.colour, self.axis, self.blend):
            row.addWidget(widget)
        self.offer(1)
        self.show_choosers(image=False)
        for combo in (self.colour, self.axis):
            combo.activated.connect(self.changed)
        self.blend.valueChanged.connect(self.changed)

    @property
    def what(self) -> str:
        """What is chosen, a key of `COLOURS`."""
        return str(self.colour.currentData())

    def offer(self, eigenvectors: int) -> None:
        """Offer so many eigenvectors."""
        if self.axis.count() != eigenvectors:
            chosen = max(0, self.axis.currentIndex())
            self.axis.clear()
            self.axis.addItems([f"a{subscript(d + 1)}" for d in range(eigenvectors)])
            self.axis.setCurrentIndex(min(chosen, eigenvectors - 1))

    def show_choosers(self, image: bool) -> None:
        """Show the choosers that matter: an eigenvector's number, and the blend over an image."""
        self.axis.setVisible(self.what == "eigenvector")
        self.blend.setVisible(image and self.what != "none")

    def options(self) -> dict[str, Any]:
        """Return what is chosen."""
        axis = max(0, self.axis.currentIndex())
        return {"colour": self.what, "eigenvector": axis, "blend": self.blend.value()}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose what `options` gave."""
        if options.get("colour") in list(COLOURS):
            self.colour.setCurrentIndex(list(COLOURS).index(options["colour"]))
        axis, blend = options.get("eigenvector"), options.get("blend")
        if isinstance(axis, int) and 0 <= axis < 64:
            self.offer(max(self.axis.count(), axis + 1))
            self.axis.setCurrentIndex(axis)
        if isinstance(blend, int):
            self.blend.blockSignals(True)
            self.blend.setValue(blend)
            self.blend.blockSignals(False)
