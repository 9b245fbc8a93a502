"""Ties a widget to one parameter, both ways; the widget is silent while the state writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QSpinBox

from explorer.params import Params
from explorer.result import Result
from explorer.state import State

Write = Callable[[Any], None]


def follow(state: State, name: str, write: Write) -> None:
    """Call `write` with the parameter's value now and whenever the parameters change."""

    def on_params(params: Params) -> None:
        write(getattr(params, name))

    state.params_changed.connect(on_params)
    on_params(state.params)


def silently(widget: Any, write: Write) -> Write:
    """Wrap a setter so that the widget emits nothing while it is set from outside."""

    def quiet(value: Any) -> None:
        with QSignalBlocker(widget):
            write(value)

    return quiet


def bind_spin(state: State, spin: QSpinBox | QDoubleSpinBox, name: str) -> None:
    """Bind a number."""
    spin.setKeyboardTracking(False)
    follow(state, name, silently(spin, spin.setValue))
    spin.valueChanged.connect(lambda value: state.update(**{name: value}))


def bind_check(state: State, check: QCheckBox, name: str) -> None:
    """Bind a yes or no."""
    follow(state, name, silently(check, check.setChecked))
    check.toggled.connect(lambda on: state.update(**{name: on}))


def bind_choice(
    state: State,
    combo: QComboBox,
    name: str,
    choices: Sequence[tuple[str, Any]],
    **also: Callable[[Any], Any],
) -> None:
    """Bind one of several values.

    Parameters
    ----------
    choices : sequence of (label, value)
    also : callables
        Other parameters that are reset with this one, each computed from the new value.
    """
    values = [value for _, value in choices]
    for label, value in choices:
        combo.addItem(label, value)
    follow(state, name, silently(combo, lambda value: combo.setCurrentIndex(values.index(value))))
    combo.currentIndexChanged.connect(
        lambda i: state.update(**{name: values[i]}, **{key: make(values[i]) for key, make in also.items()})
    )


def bind_optional_spin(state: State, auto: QCheckBox, spin: QDoubleSpinBox, name: str) -> None:
    """Bind a number of the pursuit that may be left to its default (None): the box ticked means the default.

    While it is left, the field shows what the latest result was computed with.
    """

    def write(value: float | None) -> None:
        auto.setChecked(value is None)
        spin.setEnabled(value is not None)
        if value is not None:
            spin.setValue(value)

    def read() -> None:
        spin.setEnabled(not auto.isChecked())
        state.update(**{name: None if auto.isChecked() else spin.value()})

    def show_used(result: Result) -> None:
        used = 0.0 if result.pursuit is None else getattr(result.pursuit, name)
        if auto.isChecked() and used >= 10.0 ** -spin.decimals():
            silently(spin, spin.setValue)(used)

    def quiet(value: float | None) -> None:
        with QSignalBlocker(auto), QSignalBlocker(spin):
            write(value)

    spin.setKeyboardTracking(False)
    follow(state, name, quiet)
    auto.toggled.connect(read)
    spin.valueChanged.connect(read)
    state.result_changed.connect(show_used)
    if state.result is not None:
        show_used(state.result)
