"""A number with a slider beside its field; some reach to infinity."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QSlider, QWidget

STEPS = 200
INFINITY = "∞"


@dataclass(frozen=True, slots=True)
class Scale:
    """Which numbers a slider goes through.

    Attributes
    ----------
    low, high : float
    decimals : int
        0: whole numbers.
    log : bool
        Equal ratios instead of equal differences.
    infinite : bool
        Whether the end of the slider is infinity, which is None.
    """

    low: float
    high: float
    decimals: int = 0
    log: bool = False
    infinite: bool = False

    def at(self, position: int) -> float | None:
        """Return the number at a position of the slider."""
        if self.infinite and position == STEPS:
            return None
        share = position / (STEPS - self.infinite)
        value = (
            self.low * (self.high / self.low) ** share
            if self.log
            else self.low + share * (self.high - self.low)
        )
        return round(value, self.decimals)

    def position(self, value: float | None) -> int:
        """Return where on the slider a number stands."""
        if value is None:
            return STEPS
        held = min(max(value, self.low), self.high)
        share = math.log(held / self.low) / math.log(self.high / self.low) if self.log else 0.0
        if not self.log:
            share = (held - self.low) / (self.high - self.low)
        return round(share * (STEPS - self.infinite))


class Field(QDoubleSpinBox):
    """A number that may be infinite: the first one above the scale is shown as ∞."""

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        self._scale = scale
        self.setDecimals(scale.decimals)
        self.setRange(scale.low, scale.high + scale.infinite)
        self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        self.setKeyboardTracking(False)

    def textFromValue(self, value: float) -> str:
        """Return ∞ above the scale."""
        if self._scale.infinite and value > self._scale.high:
            return INFINITY
        return super().textFromValue(value)

    def valueFromText(self, text: str) -> float:
        """Read ∞ and "inf"."""
        if self._scale.infinite and text.strip().lower() in (INFINITY, "inf"):
            return self.maximum()
        return super().valueFromText(text)

    def validate(self, text: str, place: int) -> object:
        """Let ∞ be typed."""
        if self._scale.infinite and text.strip().lower() in (INFINITY, "i", "in", "inf"):
            done = text.strip().lower() in (INFINITY, "inf")
            state = QValidator.State.Acceptable if done else QValidator.State.Intermediate
            return state, text, place
        return super().validate(text, place)


class Number(QWidget):
    """A slider and a field that agree.

    Signals
    -------
    changed(object)
        A person set another number: a float, an int on a scale of whole numbers, None for infinity.
    """

    changed = Signal(object)

    def __init__(self, name: str, scale: Scale, tip: str) -> None:
        super().__init__()
        self._scale = scale
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, STEPS)
        self.slider.setPageStep(STEPS // 20)
        self.slider.setAccessibleName(f"{name}, slider")
        self.field = Field(scale)
        self.field.setAccessibleName(name)
        self.field.setFixedWidth(88)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.slider, 1)
        row.addWidget(self.field)
        for widget in (self, self.slider, self.field):
            widget.setToolTip(tip)
        self.slider.valueChanged.connect(lambda position: self._set(scale.at(position)))
        self.field.valueChanged.connect(self._on_field)

    @property
    def value(self) -> float | int | None:
        """The number shown."""
        shown = self.field.value()
        if self._scale.infinite and shown > self._scale.high:
            return None
        return shown if self._scale.decimals else round(shown)

    def show_value(self, value: float | None) -> None:
        """Show a number, silently."""
        with QSignalBlocker(self.field), QSignalBlocker(self.slider):
            self.field.setValue(self.field.maximum() if value is None else value)
            if self._scale.at(self.slider.value()) != value:
                self.slider.setValue(self._scale.position(value))

    def _on_field(self) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(self._scale.position(self.value))
        self.changed.emit(self.value)

    def _set(self, value: float | None) -> None:
        with QSignalBlocker(self.field):
            self.field.setValue(self.field.maximum() if value is None else value)
        self.changed.emit(self.value)
