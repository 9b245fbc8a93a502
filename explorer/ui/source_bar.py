"""The one bar: what is open, which layer and head, what the model reads, and where it is computed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QSpinBox,
    QToolBar,
    QToolButton,
    QWidget,
)

from explorer.params import Input, Params
from explorer.result import Result
from explorer.state import State
from explorer.tasks import Task
from explorer.ui import bindings
from explorer.ui.progress import TaskProgress

if TYPE_CHECKING:
    from explorer.models.base import Source

DEVICES = [("auto", "auto"), ("CPU", "cpu"), ("CUDA", "cuda"), ("MPS", "mps")]


def _picker(state: State, name: str, tip: str) -> QSpinBox:
    spin = QSpinBox()
    spin.setToolTip(tip)
    spin.setAccessibleName(name)
    spin.setMinimumWidth(64)
    bindings.bind_spin(state, spin, name)
    return spin


class SourceBar(QToolBar):
    """Shows and sets where in the model the picture is from.

    Parameters
    ----------
    state : State
    sources : QMenu
        Under the source button.
    opening : Task
        What opens sources; it is shown while it runs, with Cancel.
    """

    def __init__(self, state: State, sources: QMenu, opening: Task) -> None:
        super().__init__("Source")
        self._state = state
        self.setObjectName("source-bar")
        self.setMovable(False)
        self._add_source(sources)
        self._add_progress(opening)
        self._add_place()
        self._add_input()
        self._add_device()
        state.source_changed.connect(self._on_source)
        state.params_changed.connect(self._on_params)
        state.result_changed.connect(self._on_result)
        self._offer_inputs(0)
        self._offer_query(False)
        self._on_params(state.params)

    def _add_source(self, sources: QMenu) -> None:
        self.source = QToolButton()
        self.source.setText("nothing open")
        self.source.setMenu(sources)
        self.source.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.source.setToolTip("The source: a checkpoint, captured heads or synthetic data.")
        self.source.setAccessibleName("Source")
        self.addWidget(self.source)

    def _add_progress(self, opening: Task) -> None:
        self.progress = TaskProgress(opening, "Stop opening and keep what is shown.")
        action = self.addWidget(self.progress)
        action.setVisible(False)
        opening.running_changed.connect(action.setVisible)

    def _add_place(self) -> None:
        state = self._state
        self.layer = _picker(state, "layer", "The layer, by its true number in the checkpoint, from 0.")
        self.head = _picker(state, "head", "The query head, by its true number in the layer, from 0.")
        self.query = QSpinBox()
        self.query.setAccessibleName("query token")
        self.query.setKeyboardTracking(False)
        self.query.setToolTip(
            "The query token whose view this is: a masked head sums over the keys that this token may see."
        )
        self.query.valueChanged.connect(lambda value: state.update(query=value))
        self._place = [self._labelled("layer", self.layer), self._labelled("head", self.head)]
        self._query = self._labelled("query", self.query)

    def _labelled(self, text: str, widget: QWidget) -> list:
        label = QLabel(text)
        label.setProperty("role", "secondary")
        label.setBuddy(widget)
        return [self.addWidget(label), self.addWidget(widget)]

    def _add_input(self) -> None:
        self.text = QLineEdit()
        self.text.setAccessibleName("Input text")
        self.text.setPlaceholderText("Text for the model; Return to run it")
        self.text.setToolTip("The text that the model reads. Press Return to run it.")
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.text.returnPressed.connect(self._read_text)
        self._text = self.addWidget(self.text)
        self.sample = QSpinBox()
        self.sample.setAccessibleName("Input number")
        self.sample.setKeyboardTracking(False)
        self.sample.setToolTip("Which input: test image, line of the file or image of the folder, from 0.")
        self.sample.valueChanged.connect(self._read_sample)
        self._sample = self._labelled("input", self.sample)
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._spacer = self.addWidget(spacer)

    def _add_device(self) -> None:
        self.device = QComboBox()
        self.device.setAccessibleName("Device")
        self.device.setToolTip("Where to compute; auto: CUDA or Apple's GPU if there is one, else the CPU.")
        bindings.bind_choice(self._state, self.device, "device", DEVICES)
        self.addWidget(self.device)
        self.in_use = QLabel()
        self.in_use.setProperty("role", "secondary")
        self.in_use.setToolTip("The device in use")
        self.addWidget(self.in_use)

    def _on_source(self, source: Source) -> None:
        self.source.setText(source.name)
        for spin, first, end in (
            (self.layer, source.first_layer, source.layers),
            (self.head, 0, source.heads),
        ):
            with QSignalBlocker(spin):
                spin.setRange(first, end - 1)
            spin.setEnabled(end - first > 1)
        self._offer_inputs(source.samples)
        self._on_params(self._state.params)

    def _on_params(self, params: Params) -> None:
        source = self._state.source
        kind = source.kind if source is not None else "synthetic"
        one_head = source is None or (source.layers == 1 and source.heads == 1)
        for actions in self._place:
            for action in actions:
                action.setVisible(not one_head)
        self._text.setVisible(kind == "text")
        self._spacer.setVisible(kind != "text")
        with QSignalBlocker(self.sample):
            self.sample.setValue(params.input.index)
        if params.input.text and not self.text.hasFocus():
            self.text.setText(params.input.text)

    def _offer_query(self, on: bool) -> None:
        for action in self._query:
            action.setVisible(on)

    def _offer_inputs(self, count: int) -> None:
        for action in self._sample:
            action.setVisible(count > 1)
        with QSignalBlocker(self.sample):
            self.sample.setRange(0, max(count - 1, 0))

    def _on_result(self, result: Result) -> None:
        self.in_use.setText(f"{result.device.upper()} {result.dtype}")
        self._offer_query(result.query is not None)
        if result.query is not None:
            with QSignalBlocker(self.query):
                self.query.setRange(0, max(result.length - 1, 0))
                self.query.setValue(result.query)
        self._offer_inputs(result.inputs)
        if result.text and not result.params.input.text and not self.text.hasFocus():
            self.text.setText(result.text)
            self.text.setCursorPosition(0)

    def _read_text(self) -> None:
        self.text.clearFocus()
        self._state.update(input=Input(text=self.text.text() or " "), query=None)

    def _read_sample(self, index: int) -> None:
        current = self._state.params.input
        self._state.update(input=replace(current, text="", index=index), query=None)
        self.setFocus(Qt.FocusReason.OtherFocusReason)
