"""The choosers of the overview: which number, maps or figures, in which order, which heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, get_args

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QHBoxLayout, QToolButton, QWidget

from explorer.quantities import QUANTITIES
from explorer.views.overview_order import Bound, Order, Wanted

ORDERS: dict[Order, str] = {
    "layers": "by layer and head",
    "largest": "largest first",
    "smallest": "smallest first",
}


class OverviewHeader(QWidget):
    """Shows and sets a `Wanted`.

    Attributes
    ----------
    number, order, layer, bound : QComboBox
    limit : QDoubleSpinBox
    maps, halt : QToolButton

    Signals
    -------
    changed()
        A person chose something.
    halted(bool)
        Stop the computation (True), or go on with it.
    """

    changed = Signal()
    halted = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.wanted = Wanted()
        self.number = _combo("Number", "Which number cells show, are sorted and filtered by")
        for key, quantity in QUANTITIES.items():
            self.number.addItem(quantity.name, key)
            tip = f"{quantity.symbol}: {quantity.meaning}"
            self.number.setItemData(self.number.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.maps = _button("maps", "Show each head's own clean attention as a small map", checkable=True)
        self.order = _combo("Order", "By layer and head, or by the number; cells keep their true names")
        for order, words in ORDERS.items():
            self.order.addItem(words, order)
        self.layer = _combo("Layers", "Which layers are shown, by their true numbers")
        self.layer.addItem("all layers", None)
        self.bound = _combo("Filter", "Show only heads whose number is at least or at most the limit")
        for bound in get_args(Bound):
            self.bound.addItem("all values" if bound == "all" else bound, bound)
        self.limit = QDoubleSpinBox()
        self.limit.setAccessibleName("Limit")
        self.limit.setToolTip("The limit of the filter, in the number's own unit")
        self.limit.setDecimals(3)
        self.limit.setRange(-1e6, 1e6)
        self.limit.setSingleStep(0.05)
        self.limit.setKeyboardTracking(False)
        self.halt = _button("Stop", "Stop computing; what is there stays")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for widget in (self.number, self.maps, self.order, self.layer, self.bound, self.limit, self.halt):
            row.addWidget(widget)
        for combo in (self.number, self.order, self.layer, self.bound):
            combo.activated.connect(self._take)
        self.limit.valueChanged.connect(self._take)
        self.maps.toggled.connect(self._take)
        self.halt.clicked.connect(lambda: self.halted.emit(self.halt.text() == "Stop"))
        self.limit.hide()
        self.halt.hide()

    def offer_layers(self, layers: range) -> None:
        """Offer these layers; one that is chosen and not among them gives way to all."""
        if [self.layer.itemData(i) for i in range(1, self.layer.count())] == list(layers):
            return
        with QSignalBlocker(self.layer):
            self.layer.clear()
            self.layer.addItem("all layers", None)
            for layer in layers:
                self.layer.addItem(f"layer {layer}", layer)
        if self.wanted.layer not in layers:
            self.wanted = replace(self.wanted, layer=None)
        self._show()

    def show_running(self, running: bool, unfinished: bool) -> None:
        """Offer to stop what runs, or to go on with what was stopped."""
        self.halt.setText("Stop" if running else "Go on")
        self.halt.setToolTip("Stop computing; what is there stays" if running else "Compute the rest")
        self.halt.setVisible(running or unfinished)

    def options(self) -> dict[str, Any]:
        """Return what is chosen, as JSON can hold it."""
        return asdict(self.wanted)

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose; what is no choice is left alone."""
        valid: dict[str, Any] = {}
        for name, values in (
            ("quantity", tuple(QUANTITIES)),
            ("order", tuple(ORDERS)),
            ("bound", get_args(Bound)),
        ):
            if options.get(name) in values:
                valid[name] = options[name]
        if isinstance(options.get("maps"), bool):
            valid["maps"] = options["maps"]
        if isinstance(options.get("limit"), int | float):
            valid["limit"] = float(options["limit"])
        self.wanted = replace(self.wanted, **valid)
        self._show()

    def _take(self) -> None:
        self.wanted = Wanted(
            quantity=self.number.currentData(), maps=self.maps.isChecked(), order=self.order.currentData(),
            layer=self.layer.currentData(), bound=self.bound.currentData(), limit=self.limit.value(),
        )  # fmt: skip
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        wanted = self.wanted
        for combo, value in (
            (self.number, wanted.quantity), (self.order, wanted.order), (self.layer, wanted.layer),
            (self.bound, wanted.bound),
        ):  # fmt: skip
            combo.setCurrentIndex(max(0, combo.findData(value)))
        with QSignalBlocker(self.maps), QSignalBlocker(self.limit):
            self.maps.setChecked(wanted.maps)
            self.limit.setValue(wanted.limit)
        self.limit.setVisible(wanted.bound != "all")


def _combo(name: str, tip: str) -> QComboBox:
    combo = QComboBox()
    combo.setAccessibleName(name)
    combo.setToolTip(tip)
    return combo


def _button(text: str, tip: str, checkable: bool = False) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setAccessibleName(text)
    button.setToolTip(tip)
    button.setCheckable(checkable)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
