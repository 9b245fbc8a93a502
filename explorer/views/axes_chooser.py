"""Chooses two principal axes, whether keys are shown too, and whether the mean map is subtracted."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QWidget

from explorer.params import Params
from explorer.state import State
from explorer.views.words import subscript


class AxesChooser(QWidget):
    """Writes axes and centring into the state and shows what the state says.

    Attributes
    ----------
    keys : QCheckBox
        Whether keys are shown: the panel's own choice.

    Signals
    -------
    keys_changed()
        A person showed or hid the keys.
    """

    keys_changed = Signal()

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.axes = (QComboBox(), QComboBox())
        self.keys = QCheckBox("keys")
        self.keys.setToolTip("Show the keys φ(k) on the same axes too")
        self.keys.clicked.connect(self.keys_changed)
        self.centred = QCheckBox("centred")
        self.centred.setToolTip("Subtract the mean map of the keys, as kernel PCA's transform does")
        self.centred.clicked.connect(lambda on: state.update(centred=on))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for combo, way in zip(self.axes, ("horizontal", "vertical"), strict=True):
            combo.setToolTip(f"The {way} principal axis u_d")
            combo.setAccessibleName(f"{way} axis".capitalize())
            combo.activated.connect(self._choose)
        for widget in (self.axes[0], QLabel("×"), self.axes[1], self.keys, self.centred):
            row.addWidget(widget)
        self.offer(2)

    def offer(self, count: int) -> None:
        """Offer `count` axes."""
        for combo in self.axes:
            if combo.count() != count:
                combo.clear()
                combo.addItems([f"u{subscript(d + 1)}" for d in range(count)])
        self.follow(self._state.params)

    def follow(self, params: Params) -> None:
        """Show what `params` says."""
        for combo, axis in zip(self.axes, params.axes, strict=True):
            combo.setCurrentIndex(axis)
        self.centred.setChecked(params.centred)

    def _choose(self) -> None:
        self._state.update(axes=(self.axes[0].currentIndex(), self.axes[1].currentIndex()))
