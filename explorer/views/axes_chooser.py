"""Chooses principal axes, two or three, what is shown on them, and what colours it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QToolButton, QWidget

from explorer.params import Params
from explorer.state import State
from explorer.views.words import subscript

COLOURS = {
    "plain": "plain",
    "kind": "by kind of token",
    "position": "by position",
    "attention": "by attention of the selected query",
    "contamination": "by contamination",
    "error": "by output error, softmax",
}


class AxesChooser(QWidget):
    """Writes two axes and centring into the state and shows what the state says; the rest is the panel's own.

    Attributes
    ----------
    tools : QWidget
        All but the axes: a second row, for which a header has no room.
    keys : QCheckBox
        Whether keys are shown.
    three : QCheckBox
        Whether there is a third axis.
    lasso : QToolButton
        Whether a drag draws a lasso.
    colour : QComboBox
        What colours the points, a key of `COLOURS`.

    Signals
    -------
    chosen()
        A person changed a choice of the panel's own.
    """

    chosen = Signal()

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.axes = (QComboBox(), QComboBox())
        self.third = QComboBox()
        self._third = 2
        for combo, way in zip((*self.axes, self.third), ("horizontal", "vertical", "third"), strict=True):
            combo.setToolTip(f"The {way} principal axis u_d")
            combo.setAccessibleName(f"{way} axis".capitalize())
        for combo in self.axes:
            combo.activated.connect(self._choose)
        self.third.activated.connect(self._choose_third)
        self.keys = self._check("keys", "Show the keys φ(k) on the same axes too")
        self.three = self._check(
            "3-D", "Three axes, turned by a drag or the arrow keys; Home turns them back"
        )
        self.lasso = QToolButton()
        self.lasso.setText("lasso")
        self.lasso.setCheckable(True)
        self.lasso.setToolTip("Select what a drag encircles; Shift and a drag do it at any time")
        self.lasso.setAccessibleName("Lasso")
        self.colour = QComboBox()
        for name, words in COLOURS.items():
            self.colour.addItem(words, name)
        self.colour.setToolTip("What the colour of a point stands for")
        self.colour.setAccessibleName("Colour of the points")
        self.colour.setMinimumContentsLength(6)
        self.colour.view().setMinimumWidth(240)
        self.colour.activated.connect(self.chosen)
        self.centred = QCheckBox("centred")
        self.centred.setToolTip("Subtract the mean map of the keys, as kernel PCA's transform does")
        self.centred.clicked.connect(lambda on: state.update(centred=on))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for part in (self.axes[0], QLabel("×"), self.axes[1], self.third):
            row.addWidget(part)
        self.tools = QWidget()
        row = QHBoxLayout(self.tools)
        row.setContentsMargins(16, 0, 8, 0)
        for tool in (self.three, self.keys, self.centred, self.lasso, self.colour):
            row.addWidget(tool)
        row.addStretch(1)
        self.third.setVisible(False)
        self.offer(2)

    def _check(self, text: str, tip: str) -> QCheckBox:
        box = QCheckBox(text)
        box.setToolTip(tip)
        box.clicked.connect(self.chosen)
        return box

    def offer(self, count: int) -> None:
        """Offer `count` axes; a third one where there are as many."""
        for combo in (*self.axes, self.third):
            if combo.count() != count:
                combo.clear()
                combo.addItems([f"u{subscript(d + 1)}" for d in range(count)])
        self.third.setCurrentIndex(min(self._third, count - 1))
        self.three.setEnabled(count > 2)
        self.third.setVisible(self.three.isChecked() and count > 2)
        self.follow(self._state.params)

    @property
    def solid(self) -> bool:
        """Whether three axes are shown."""
        return self.three.isChecked() and self.three.isEnabled()

    def follow(self, params: Params) -> None:
        """Show what `params` says."""
        for combo, axis in zip(self.axes, params.axes, strict=True):
            combo.setCurrentIndex(axis)
        self.centred.setChecked(params.centred)

    def options(self) -> dict[str, Any]:
        """Return the panel's own choices."""
        return {
            "keys": self.keys.isChecked(),
            "3-D": self.three.isChecked(),
            "third": self._third,
            "colour": str(self.colour.currentData()),
        }

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose what `options` gave."""
        for box, name in ((self.keys, "keys"), (self.three, "3-D")):
            box.setChecked(bool(options.get(name, box.isChecked())))
        third = options.get("third")
        if isinstance(third, int) and 0 <= third < 64:
            self._third = third
        if options.get("colour") in list(COLOURS):
            self.colour.setCurrentIndex(list(COLOURS).index(options["colour"]))

    def _choose_third(self, axis: int) -> None:
        self._third = axis
        self.chosen.emit()

    def _choose(self) -> None:
        self._state.update(axes=(self.axes[0].currentIndex(), self.axes[1].currentIndex()))
