"""A column of controls, each tied to one field of the laboratory's setting, both ways."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLabel,
    QScrollArea,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from explorer.lab.setting import Setting
from explorer.ui.controls import WheelGuard
from explorer.ui.lab_number import Field, Number, Scale
from explorer.ui.lab_state import LabState

WIDTH = 312


class Column(QScrollArea):
    """Makes rows and binds them: a widget writes the state, and follows it silently."""

    def __init__(self, state: LabState) -> None:
        super().__init__()
        self._state = state
        self._follow: list[Callable[[Setting], None]] = []
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedWidth(WIDTH)
        self.setObjectName("controls")
        self.setAccessibleName("Settings of the laboratory")
        self._column = QWidget()
        self._column.setMaximumWidth(WIDTH - 1)
        self._layout = QVBoxLayout(self._column)
        self._layout.setContentsMargins(16, 16, 16, 16)
        self._layout.setSpacing(8)

    def finish(self) -> None:
        """Close the column below, and follow the state from now on."""
        self._layout.addStretch(1)
        self.setWidget(self._column)
        self._guard_wheel(self._column)
        self._state.changed.connect(self.show_setting)
        self.show_setting(self._state.setting)

    def show_setting(self, setting: Setting) -> None:
        """Show a setting in every control."""
        for follow in self._follow:
            follow(setting)

    def _heading(self, text: str) -> None:
        self._layout.addSpacing(8)
        label = QLabel(text)
        label.setProperty("role", "heading")
        self._layout.addWidget(label)

    def _form(self, rows: Sequence[tuple[str, QWidget]]) -> tuple[QWidget, QFormLayout]:
        box = QWidget()
        form = QFormLayout(box)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(8)
        form.setVerticalSpacing(6)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for text, widget in rows:
            if not text:
                form.addRow(widget)
                continue
            label = QLabel(text)
            label.setFixedWidth(56)
            label.setBuddy(widget.field if isinstance(widget, Number) else widget)
            label.setToolTip(widget.toolTip())
            form.addRow(label, widget)
        return box, form

    def _write(self, name: str, value: Any, data: bool) -> None:
        (self._state.update_data if data else self._state.update)(**{name: value})

    def _read(self, name: str, setting: Setting, data: bool) -> Any:
        return getattr(setting.data if data else setting, name)

    def _number(self, name: str, scale: Scale, tip: str, data: bool = False) -> Number:
        number = Number(re.split("[:,;.]", tip)[0], scale, tip)
        number.changed.connect(lambda value: self._write(name, value, data))
        self._follow.append(lambda setting: number.show_value(self._read(name, setting, data)))
        return number

    def _field(self, name: str, scale: Scale, tip: str) -> Field:
        field = Field(scale)
        field.setToolTip(tip)
        field.setAccessibleName(name.capitalize())
        field.valueChanged.connect(lambda value: self._write(name, round(value), False))

        def follow(setting: Setting) -> None:
            with QSignalBlocker(field):
                field.setValue(self._read(name, setting, False))

        self._follow.append(follow)
        return field

    def _check(self, text: str, name: str, tip: str, data: bool = False) -> QCheckBox:
        check = QCheckBox(text)
        check.setToolTip(tip)
        check.toggled.connect(lambda on: self._write(name, on, data))

        def follow(setting: Setting) -> None:
            with QSignalBlocker(check):
                check.setChecked(self._read(name, setting, data))

        self._follow.append(follow)
        return check

    def _choice(self, name: str, choices: Sequence[tuple[str, str]], key: str, tip: str) -> QComboBox:
        combo = QComboBox()
        combo.setAccessibleName(name)
        combo.setToolTip(tip)
        for label, value in choices:
            combo.addItem(label, value)
        combo.currentIndexChanged.connect(lambda i: self._write(key, combo.itemData(i), False))

        def follow(setting: Setting) -> None:
            with QSignalBlocker(combo):
                combo.setCurrentIndex(combo.findData(self._read(key, setting, False)))

        self._follow.append(follow)
        return combo

    def _show_where(self, form: QFormLayout, row: QWidget, needed: Callable[[Setting], bool]) -> None:
        """Show a row of a form while the setting needs it."""
        self._follow.append(lambda setting: form.setRowVisible(row, needed(setting)))

    def _guard_wheel(self, column: QWidget) -> None:
        guard = WheelGuard(self)
        for combo in column.findChildren(QComboBox):
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        for kind in (Field, QSpinBox, QComboBox, QSlider):
            for widget in column.findChildren(kind):
                widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
                widget.installEventFilter(guard)
