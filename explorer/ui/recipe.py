"""Makes synthetic heads: the recipe's numbers, each acting at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QFormLayout, QLabel, QSpinBox, QWidget

from explorer.models.recipes import CONTROL_NAMES, NOISY, Recipe, SyntheticKind, Values

KINDS: list[tuple[str, SyntheticKind]] = [
    ("clusters", "clusters"),
    ("low rank plus noise", "low-rank"),
    ("Gaussian, power-law spectrum", "spectrum"),
    ("spiked covariance", "spiked"),
]
VALUES: list[tuple[str, Values]] = [
    ("V: K rotated", "rotation"),
    ("V: all controls", "controls"),
    *((f"V: {name}", kind) for kind, name in CONTROL_NAMES.items()),
]
CONTROLS: list[tuple[str, Recipe]] = [
    ("All controls", Recipe(values="controls")),
    ("V = V* exactly", Recipe(values="exact")),
    ("V = V* rotated", Recipe(values="rotated")),
    ("V = V* under a general map", Recipe(values="mapped")),
    ("V = V* plus noise", Recipe(values="exact", value_noise=1.0)),
    ("V = V* of shuffled tokens", Recipe(values="shuffled")),
    ("V Gaussian", Recipe(values="gaussian")),
    ("V a random map of the tokens", Recipe(values="projected")),
]
_USED = {
    "clusters": {"components", "noise"},
    "low-rank": {"components", "noise"},
    "spectrum": {"decay"},
    "spiked": {"strength"},
}


class RecipeForm(QWidget):
    """Numbers of a synthetic head; those that the kind does not use are hidden.

    Signals
    -------
    changed(Recipe)
        After a person changed it.
    """

    changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.recipe = Recipe()
        self._form = QFormLayout(self)
        self._form.setContentsMargins(0, 0, 0, 0)
        self.kind = QComboBox()
        self.kind.setAccessibleName("Kind of data")
        self.kind.setToolTip("How the keys K are made; queries equal keys.")
        for label, value in KINDS:
            self.kind.addItem(label, value)
        self.kind.currentIndexChanged.connect(lambda i: self._set(kind=KINDS[i][1]))
        self._form.addRow(self.kind)
        self.values = QComboBox()
        self.values.setAccessibleName("Values")
        self.values.setToolTip(
            "What the values V are: K times a random rotation, or controls of which it is known what each "
            "measure of V against V* must say."
        )
        for label, values in VALUES:
            self.values.addItem(label, values)
        self.values.currentIndexChanged.connect(lambda i: self._set(values=VALUES[i][1]))
        self._form.addRow(self.values)
        self.fields: dict[str, QSpinBox | QDoubleSpinBox] = {}
        self._add(
            "value_noise", "Noise on V*", QDoubleSpinBox(), 0, 100,
            "Deviation of the noise added to V*, over the root mean square of V*'s entries.",
        )  # fmt: skip
        self._add("tokens", "Tokens N", QSpinBox(), 1, 8192, "N: how many tokens.")
        self._add("dim", "Dimension D", QSpinBox(), 1, 512, "D: the head's dimension.")
        self._add("components", "Components", QSpinBox(), 1, 512, "How many clusters, or the rank.")
        self._add("noise", "Noise σ", QDoubleSpinBox(), 0, 100, "Deviation of the noise.")
        self._add("decay", "Decay", QDoubleSpinBox(), 0, 10, "The covariance's eigenvalues fall as j^−decay.")
        self._add("strength", "Spike θ", QDoubleSpinBox(), 0, 1e4, "θ: the covariance is I + θ u uᵀ.")
        self._add("seed", "Data seed", QSpinBox(), 0, 2**31 - 1, "Seed of the data.")
        self.show_recipe(self.recipe)

    def _add(
        self, name: str, label: str, spin: QSpinBox | QDoubleSpinBox, low: float, high: float, tip: str
    ) -> None:
        if isinstance(spin, QSpinBox):
            spin.setRange(int(low), int(high))
        else:
            spin.setRange(low, high)
            spin.setSingleStep(0.1)
        spin.setKeyboardTracking(False)
        spin.setToolTip(tip)
        spin.setAccessibleName(label)
        spin.valueChanged.connect(lambda value: self._set(**{name: value}))
        text = QLabel(label)
        text.setToolTip(tip)
        self._form.addRow(text, spin)
        self.fields[name] = spin

    def _set(self, **changes: Any) -> None:
        recipe = replace(self.recipe, **changes)
        if recipe != self.recipe:
            self.show_recipe(recipe)
            self.changed.emit(recipe)

    def show_recipe(self, recipe: Recipe) -> None:
        """Show a recipe without announcing it."""
        self.recipe = recipe
        with QSignalBlocker(self.kind):
            self.kind.setCurrentIndex([value for _, value in KINDS].index(recipe.kind))
        with QSignalBlocker(self.values):
            self.values.setCurrentIndex([value for _, value in VALUES].index(recipe.values))
        for name, spin in self.fields.items():
            with QSignalBlocker(spin):
                spin.setValue(getattr(recipe, name))
            optional = name in {"components", "noise", "decay", "strength"}
            self._form.setRowVisible(spin, not optional or name in _USED[recipe.kind])
        self._form.setRowVisible(self.fields["value_noise"], recipe.values in NOISY)
