"""The column on the left: what is done to the keys, and how RPC-Attention answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QScrollArea,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from explorer.models.recipes import Recipe
from explorer.params import ENTERS, LEVEL_MAX, Params
from explorer.state import State
from explorer.ui import bindings
from explorer.ui.entry import UNITS, EntryForm, level_text
from explorer.ui.fold import Fold
from explorer.ui.recipe import RecipeForm

if TYPE_CHECKING:
    from explorer.models.base import Source

STEPS = 200

HIT_BY_SIZE = ("sparse", "tokens", "replace")
"""Kinds with a magnitude."""
TARGETS = [("the model's loss", "loss"), ("this head's output", "output")]
FORMS = [("published", "published"), ("pcp", "pcp")]
QUERIES = [("symmetric (Q = K)", "symmetric"), ("asymmetric (own)", "asymmetric")]


class WheelGuard(QObject):
    """Lets the wheel scroll the column instead of changing a number that has no focus."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hand wheel events on while the widget has no focus."""
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


class LevelSlider(QWidget):
    """The largest control: the level of contamination, with its value in large figures."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, STEPS)
        self.slider.setPageStep(STEPS // 20)
        self.slider.setObjectName("level")
        self.slider.setAccessibleName("Contamination level")
        self.slider.setMinimumHeight(32)
        self.slider.setToolTip(
            "Level f: how much is contaminated. More only adds to what is hit already, and going back "
            "restores the same picture."
        )
        self.value = QLabel()
        self.value.setProperty("role", "big")
        self.unit = QLabel()
        self.unit.setProperty("role", "secondary")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (self.value, self.unit, self.slider):
            layout.addWidget(widget)
        state.params_changed.connect(self._follow)
        self._follow(state.params)
        self.slider.valueChanged.connect(self._set)

    def _set(self, step: int) -> None:
        top = LEVEL_MAX[self._state.params.contamination]
        self._state.update(level=round(step / STEPS * top, 6))

    def _follow(self, params: Params) -> None:
        top = LEVEL_MAX[params.contamination]
        with QSignalBlocker(self.slider):
            self.slider.setValue(round(params.level / top * STEPS))
        self.value.setText(level_text(params.level, params.contamination))
        self.unit.setText(UNITS[params.contamination])


def _double(low: float, high: float, step: float, decimals: int, tip: str, name: str) -> QDoubleSpinBox:
    spin = QDoubleSpinBox()
    spin.setRange(low, high)
    spin.setSingleStep(step)
    spin.setDecimals(decimals)
    spin.setToolTip(tip)
    spin.setAccessibleName(name)
    return spin


class Controls(QScrollArea):
    """Contamination above, principal attention pursuit below."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self._guard = WheelGuard(self)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedWidth(256)
        self.setObjectName("controls")
        column = QWidget()
        column.setMaximumWidth(255)
        self._layout = QVBoxLayout(column)
        self._layout.setContentsMargins(16, 16, 16, 16)
        self._layout.setSpacing(8)
        self._contamination()
        self._pursuit()
        self._synthetic()
        self._layout.addStretch(1)
        self.setWidget(column)
        for combo in column.findChildren(QComboBox):
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        for kind in (QSpinBox, QDoubleSpinBox, QComboBox, QSlider):
            for widget in column.findChildren(kind):
                widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
                widget.setMinimumWidth(64)
                widget.installEventFilter(self._guard)

    def _heading(self, text: str) -> None:
        label = QLabel(text)
        label.setProperty("role", "heading")
        self._layout.addWidget(label)

    def _form(self, rows: list[tuple[str, QWidget]]) -> QWidget:
        box = QWidget()
        form = QFormLayout(box)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(8)
        form.setVerticalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for text, widget in rows:
            label = QLabel(text)
            label.setBuddy(widget)
            label.setToolTip(widget.toolTip())
            form.addRow(label, widget)
        return box

    def _contamination(self) -> None:
        state = self._state
        self._heading("Contamination")
        self.entry = EntryForm(state)
        self._layout.addWidget(self.entry)
        self.level = LevelSlider(state)
        self._layout.addWidget(self.level)
        self.magnitude = _double(
            0, 1000, 1, 1, "Magnitude: the size of a hit, in units of K's standard deviation.", "Magnitude"
        )
        self.magnitude.setSuffix(" σ")
        bindings.bind_spin(state, self.magnitude, "magnitude")
        self.seed = QSpinBox()
        self.seed.setRange(0, 2**31 - 1)
        self.seed.setAccessibleName("Seed")
        self.seed.setToolTip(
            "Seed of the random ranking that decides who is hit: the same seed, the same picture."
        )
        bindings.bind_spin(state, self.seed, "seed")
        self.target = QComboBox()
        self.target.setAccessibleName("Target of the attack")
        self.target.setToolTip(
            "What the attack raises. The model's loss: of the true class, or of the model's own clean "
            "prediction where that is not known. This head's output: how far it moves from its clean one, "
            "over its norm."
        )
        bindings.bind_choice(state, self.target, "target", TARGETS)
        self.steps = QSpinBox()
        self.steps.setRange(1, 100)
        self.steps.setAccessibleName("Steps of the attack")
        self.steps.setToolTip("Gradient steps of PGD; each is one pass through the model and back.")
        bindings.bind_spin(state, self.steps, "steps")
        self._hits = self._form(
            [
                ("Raises", self.target), ("Steps", self.steps), ("Magnitude", self.magnitude),
                ("Seed", self.seed),
            ]
        )  # fmt: skip
        self._layout.addWidget(self._hits)
        self.values = QCheckBox("Contaminate V too")
        self.values.setToolTip(
            "Hit the same entries of the values V as of the keys K. Off: the values stay clean, as in the "
            "default experiment."
        )
        bindings.bind_check(state, self.values, "contaminate_values")
        self._layout.addWidget(self.values)
        state.params_changed.connect(self._show_what_counts)
        self._show_what_counts(state.params)

    def _show_what_counts(self, p: Params) -> None:
        """Hide what has no meaning for the kind of contamination."""
        attack = ENTERS[p.contamination] == "attack"
        form = self._hits.layout()
        assert isinstance(form, QFormLayout)
        for widget, counts in (
            (self.target, attack),
            (self.steps, p.contamination == "pgd"),
            (self.magnitude, p.contamination in HIT_BY_SIZE),
            (self.seed, p.is_drawn),
        ):
            form.setRowVisible(widget, counts)
        self.values.setVisible(p.key_kind is not None)

    def _pursuit(self) -> None:
        state = self._state
        self._layout.addSpacing(16)
        self._heading("RPC-Attention")
        self.form = QComboBox()
        self.form.setAccessibleName("Form of the pursuit")
        self.form.setToolTip(
            "Form of principal attention pursuit. Published: threshold λμ and C = K − S − Y/μ, as the "
            "authors' program computes. pcp: threshold λ/μ and C = K − S + Y/μ, as in the pursuit of "
            "principal components."
        )
        bindings.bind_choice(state, self.form, "form", FORMS, lam=lambda _: None)
        self.queries = QComboBox()
        self.queries.setAccessibleName("Queries")
        self.queries.setToolTip(
            "Which queries attend. Symmetric: the keys themselves, as in the authors' models, for softmax "
            "and RPC alike. Asymmetric: the head's own clean queries, an extension."
        )
        bindings.bind_choice(state, self.queries, "queries", QUERIES)
        self.iterations = QSpinBox()
        self.iterations.setRange(1, 100)
        self.iterations.setAccessibleName("Iterations")
        self.iterations.setToolTip(
            "Iterations of the pursuit. It is not guaranteed to converge: look at the residual trace."
        )
        bindings.bind_spin(state, self.iterations, "iterations")
        self._layout.addWidget(
            self._form([("Form", self.form), ("Queries", self.queries), ("Iterations", self.iterations)])
        )
        self.lam_auto, self.lam = self._optional(
            "λ", "lam", "λ: how dear the sparse part S is. Ticked: the form's own default (published 4, "
            "pcp 1/√max(N, D)).", 4.0
        )  # fmt: skip
        self.mu_auto, self.mu = self._optional(
            "μ", "mu", "μ: the step of the multiplier Y. Ticked: N·W/(4‖K‖₁) from the head's own keys.", 1.0
        )
        box = Fold("λ and μ")
        box.set_content(
            self._form(
                [("λ default", self.lam_auto), ("λ", self.lam), ("μ default", self.mu_auto), ("μ", self.mu)]
            )
        )
        box.set_open(True)
        self._layout.addWidget(box)

    def _synthetic(self) -> None:
        self.recipe = RecipeForm()
        self.recipe_box = Fold("Synthetic data")
        self.recipe_box.set_content(self.recipe)
        self.recipe_box.hide()
        self._layout.addWidget(self.recipe_box)
        self._state.source_changed.connect(self._on_source)
        if self._state.source is not None:
            self._on_source(self._state.source)

    def _on_source(self, source: Source) -> None:
        self.entry.offer(source)
        model = self.target.model()
        assert isinstance(model, QStandardItemModel)
        for i, (_, target) in enumerate(TARGETS):
            model.item(i).setEnabled(target in source.targets)
        recipe = getattr(source, "recipe", None)
        self.recipe_box.setVisible(isinstance(recipe, Recipe))
        if isinstance(recipe, Recipe):
            self.recipe.show_recipe(recipe)

    def _optional(self, symbol: str, name: str, tip: str, start: float) -> tuple[QCheckBox, QDoubleSpinBox]:
        auto = QCheckBox()
        auto.setAccessibleName(f"{symbol} default")
        auto.setToolTip(tip)
        spin = _double(0, 1e6, 0.1, 4, tip, symbol)
        spin.setValue(start)
        bindings.bind_optional_spin(self._state, auto, spin, name)
        return auto, spin
