"""Chooses which attention takes the place of the model's own, and in which layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QHBoxLayout, QLabel, QLineEdit, QWidget

from explorer.answers import ATTENTIONS, WHERE, Attention, Exchange, parse_layers
from explorer.views.asking import Asking

TYPED = "these layers:"


class ExchangeChooser(QWidget):
    """Attention, layers, and how far the asking is.

    Attributes
    ----------
    asking : Asking

    Signals
    -------
    changed()
        A person chose something else.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.attention = QComboBox()
        for name, words in ATTENTIONS.items():
            self.attention.addItem(words, name)
        self.attention.setAccessibleName("Attention in place of softmax")
        self.attention.setToolTip(
            "What takes the place of softmax. RPC's form, queries, λ, μ and iterations are those on the left."
        )
        self.s = QDoubleSpinBox()
        self.s.setRange(-1.0, 2.0)
        self.s.setSingleStep(0.1)
        self.s.setValue(0.5)
        self.s.setPrefix("s = ")
        self.s.setAccessibleName("s of scaled attention")
        self.s.setToolTip("s in softmax(τQKᵀ)(I − s·softmax(τKKᵀ))V, the same for all heads; 0 is softmax")
        self.where = QComboBox()
        self.where.addItems([*WHERE, TYPED])
        self.where.setCurrentText(WHERE[2])
        self.where.setAccessibleName("Layers in which it is exchanged")
        self.where.setToolTip("In which layers; contamination of keys enters in the same ones")
        self.layers = QLineEdit("0")
        self.layers.setFixedWidth(96)
        self.layers.setPlaceholderText("0, 3-5")
        self.layers.setAccessibleName("Numbers of the layers")
        self.layers.setToolTip("Numbers and ranges, as 0, 3-5; press Return")
        self.asking = Asking()
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (self.attention, self.s, QLabel("in"), self.where, self.layers, self.asking):
            row.addWidget(widget)
        self.s.setVisible(False)
        self.layers.setVisible(False)

    def _connect(self) -> None:
        self.attention.currentIndexChanged.connect(self._choose)
        self.where.currentIndexChanged.connect(self._choose)
        self.s.valueChanged.connect(self._choose)
        self.layers.editingFinished.connect(self._choose)

    def _choose(self) -> None:
        self._show_fitting()
        self.changed.emit()

    def _show_fitting(self) -> None:
        self.s.setVisible(self.chosen == "scaled")
        self.layers.setVisible(self.where.currentText() == TYPED)

    @property
    def chosen(self) -> Attention:
        """The attention."""
        return self.attention.currentData()

    def exchange(self, first: int, count: int, this: int) -> Exchange:
        """Return what is chosen, for a model with the layers `first` to count − 1 that shows `this`.

        Raises
        ------
        GramscopeError
            If no such layers are there.
        """
        where = self.where.currentText()
        layers = parse_layers(self.layers.text() if where == TYPED else where, count, this, first)
        return Exchange(self.chosen, layers, self.s.value())

    def options(self) -> dict[str, Any]:
        """Return everything chosen, as JSON can hold it."""
        return {
            "attention": self.chosen,
            "where": self.where.currentText(),
            "layers": self.layers.text(),
            "s": self.s.value(),
        }

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Restore what `options` gave, without telling; unknown values are left alone."""
        with QSignalBlocker(self.attention), QSignalBlocker(self.where), QSignalBlocker(self.s):
            self.attention.setCurrentIndex(
                max(0, self.attention.findData(options.get("attention", self.chosen)))
            )
            self.where.setCurrentIndex(
                max(0, self.where.findText(options.get("where", self.where.currentText())))
            )
            self.s.setValue(options.get("s", self.s.value()))
            self.layers.setText(options.get("layers", self.layers.text()))
        self._show_fitting()
