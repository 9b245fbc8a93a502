"""What is asked of the evidence: nulls, draws, measures, inputs; with what runs, and the report."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from explorer.asked import Asked
from explorer.maths.evidence_names import FAMILIES, NULLS
from explorer.ui.fold import Fold
from explorer.ui.progress import TaskProgress
from explorer.ui.theme import GRID
from explorer.views.evidence_base import NULL_NAMES

UNTRAINED = "untrained"
MODELS = 2
"""How often the architecture is re-initialised where the untrained model is asked for."""
MOST_DRAWS = 10_000


class EvidenceFields(QScrollArea):
    """The column on the left of the page.

    Parameters
    ----------
    measuring, reporting : TaskProgress
        What shows how far each is.

    Attributes
    ----------
    asked : Asked
    nulls, families : dict of str to QCheckBox
    cheap, costly, seed, inputs : QSpinBox
    series : QCheckBox
    beside : QLabel
    within : QPushButton
        Say that checkpoints lie in the model's own folder, and open them; hidden where there are none.
    again, report : QPushButton

    Signals
    -------
    changed(Asked)
        After a person changed it.
    series_wanted(list of str)
        Checkpoints that should be opened as a series.
    """

    changed = Signal(object)
    series_wanted = Signal(list)

    def __init__(self, measuring: TaskProgress, reporting: TaskProgress) -> None:
        super().__init__()
        self.asked = Asked()
        self._checkpoints = 0
        self._within: tuple[str, ...] = ()
        self.setWidgetResizable(True)
        self.setFixedWidth(256)
        self.setObjectName("controls")
        column = QWidget()
        column.setMaximumWidth(255)
        self._layout = QVBoxLayout(column)
        self._layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        self._layout.setSpacing(GRID)
        self._add_nulls()
        self._add_draws()
        self._add_families()
        self._add_inputs()
        self.again = QPushButton("Measure")
        self.again.setToolTip("Measure what is missing: after Cancel it goes on from where it was.")
        self.report = QPushButton("Write report…")
        self.report.setToolTip(
            "Write these numbers, all tables and the verdict into a folder: HTML, CSV, JSON."
        )
        for widget in (self.again, measuring, self.report, reporting):
            self._layout.addWidget(widget)
        self._layout.addStretch(1)
        self.setWidget(column)

    def _heading(self, text: str) -> None:
        label = QLabel(text)
        label.setProperty("role", "heading")
        self._layout.addWidget(label)

    def _add_nulls(self) -> None:
        self._heading("Compare with")
        self.nulls: dict[str, QCheckBox] = {}
        for null in NULLS:
            box = self._check(NULL_NAMES[null.key], f"{null.label}: {null.question}")
            box.setChecked(null.key in self.asked.nulls)
            box.toggled.connect(self._read)
            self.nulls[null.key] = box
            self._layout.addWidget(box)

    def _add_draws(self) -> None:
        self.cheap = self._spin(1, MOST_DRAWS, "Draws of overlap and linear CKA under each null")
        self.costly = self._spin(0, MOST_DRAWS, "Draws of the costly measures under each null")
        self.seed = self._spin(0, 2**31 - 1, "Seed of the draws: equal seeds, equal draws")
        form = self._form()
        for words, spin in (("Draws", self.cheap), ("Costly draws", self.costly), ("Seed", self.seed)):
            self._row(form, words, spin)

    def _add_families(self) -> None:
        fold = Fold("Costly measures to draw")
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        self.families: dict[str, QCheckBox] = {}
        for key, words in FAMILIES.items():
            box = self._check(words, f"Compare {words} with the nulls; they are measured in any case.")
            box.setChecked(key in self.asked.families)
            box.toggled.connect(self._read)
            self.families[key] = box
            column.addWidget(box)
        fold.set_content(content)
        self._layout.addWidget(fold)

    def _add_inputs(self) -> None:
        self.inputs = self._spin(1, 1, "How many inputs, from the present one on: means over them")
        form = self._form()
        self._row(form, "Inputs", self.inputs)
        self.series = self._check("All checkpoints of the series", "Measure the other checkpoints too.")
        self.series.toggled.connect(self._read)
        self.series.hide()
        self._layout.addWidget(self.series)
        self.beside = QLabel()
        self.beside.setWordWrap(True)
        self.beside.setProperty("role", "secondary")
        self.within = QPushButton()
        self.within.setToolTip("Open them instead of this model: the last one is shown, all can be measured.")
        self.within.clicked.connect(lambda: self.series_wanted.emit(list(self._within)))
        for widget in (self.beside, self.within):
            widget.hide()
            self._layout.addWidget(widget)
        self._show_asked()

    def _form(self) -> QFormLayout:
        box = QWidget()
        form = QFormLayout(box)
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._layout.addWidget(box)
        return form

    @staticmethod
    def _row(form: QFormLayout, words: str, spin: QSpinBox) -> None:
        label = QLabel(words)
        label.setBuddy(spin)
        label.setToolTip(spin.toolTip())
        form.addRow(label, spin)

    @staticmethod
    def _check(words: str, tip: str) -> QCheckBox:
        box = QCheckBox(words)
        box.setToolTip(tip)
        box.setAccessibleName(words)
        return box

    def _spin(self, low: int, high: int, tip: str) -> QSpinBox:
        spin = QSpinBox()
        spin.setRange(low, high)
        spin.setKeyboardTracking(False)
        spin.setToolTip(tip)
        spin.setAccessibleName(tip)
        spin.setMinimumWidth(64)
        spin.valueChanged.connect(self._read)
        return spin

    def _show_asked(self) -> None:
        for spin, value in (
            (self.cheap, self.asked.cheap), (self.costly, self.asked.costly), (self.seed, self.asked.seed),
            (self.inputs, self.asked.inputs),
        ):  # fmt: skip
            with QSignalBlocker(spin):
                spin.setValue(value)

    def offer_inputs(self, count: int) -> None:
        """Offer as many inputs as there are."""
        with QSignalBlocker(self.inputs):
            self.inputs.setRange(1, max(count, 1))
        self.inputs.setEnabled(count > 1)
        self._read()

    def offer_series(self, checkpoints: int) -> None:
        """Offer the other checkpoints of a series, and ask for them; 0: there is none."""
        if checkpoints == self._checkpoints:
            return
        self._checkpoints = checkpoints
        self.series.setText(f"All {checkpoints} checkpoints of the series")
        self.series.setVisible(checkpoints > 1)
        with QSignalBlocker(self.series):
            self.series.setChecked(checkpoints > 1)
        self._read()

    def offer_within(self, checkpoints: tuple[str, ...]) -> None:
        """Offer to open the checkpoints of its training that lie in the model's own folder, if any do."""
        if checkpoints == self._within:
            return
        self._within = checkpoints
        count = len(checkpoints)
        self.beside.setText(
            f"The model's folder also holds {count} checkpoints of its training. They are not measured here."
        )
        self.within.setText(f"Open the {count} as a series")
        for widget in (self.beside, self.within):
            widget.setVisible(count > 0)

    def _read(self) -> None:
        asked = replace(
            self.asked,
            cheap=self.cheap.value(),
            costly=self.costly.value(),
            seed=self.seed.value(),
            nulls=tuple(key for key, box in self.nulls.items() if box.isChecked() and key != UNTRAINED),
            families=tuple(key for key, box in self.families.items() if box.isChecked()),
            untrained=MODELS if self.nulls[UNTRAINED].isChecked() else 0,
            inputs=self.inputs.value(),
            series=self.series.isChecked(),
        )
        if asked != self.asked:
            self.asked = asked
            self.changed.emit(asked)
