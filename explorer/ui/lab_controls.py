"""The laboratory's column: run it, and set head, data, training and contamination."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
)

from explorer.lab.setting import IN_CONTEXT, Setting
from explorer.lab.snapshot import Snapshot
from explorer.ui.fold import Fold
from explorer.ui.lab_column import Column
from explorer.ui.lab_number import Number, Scale
from explorer.ui.lab_state import LabState

PACE = Scale(1, 1000, log=True, infinite=True)
KINDS = [("softmax", "softmax"), ("linear", "linear")]
STRUCTURES = [
    ("one direction m", "one"),
    ("several heads", "heads"),
    ("orthonormal frame M", "frame"),
    ("free matrix W", "free"),
]
FAMILIES = [
    ("one spike, I + θvvᵀ", "spiked"),
    ("power law", "power"),
    ("flat", "flat"),
    ("drawn by hand", "drawn"),
    ("Wishart, common spike", "wishart"),
    ("Wishart, spike per prompt", "per-prompt"),
    ("digits of scikit-learn", "digits"),
    ("own table of tokens…", "rows"),
    ("own covariance…", "covariance"),
]
CONTAMINATIONS = [
    ("none", "none"),
    ("sparse entries", "sparse"),
    ("whole tokens", "tokens"),
    ("Gaussian noise", "gaussian"),
    ("replaced entries", "replace"),
]


class LabControls(Column):
    """Every control writes the state and follows it.

    Signals
    -------
    table_asked(str)
        "rows" or "covariance": a person wants to open a file of that kind.
    spectrum_refused(str)
        What was typed is no list of eigenvalues.
    """

    table_asked = Signal(str)
    spectrum_refused = Signal(str)

    def __init__(self, state: LabState) -> None:
        super().__init__(state)
        self._run()
        self._head()
        self._data()
        self._training()
        self._contamination()
        self._sweeps()
        self.finish()

    def show_snapshot(self, snapshot: Snapshot, alignment: float, reads_out: bool) -> None:
        """Show how far it is."""
        self.found.setText(f"{alignment:.4f}")
        what = "mean |cos| of the readout" if reads_out else "|m·u₁|"
        self.unit.setText(f"{what} after {snapshot.step} steps")

    def show_running(self, running: bool) -> None:
        """Let the button say what it would do."""
        self.start.setText("Pause" if running else "Start")

    @property
    def pace(self) -> float | None:
        """Steps a second; None: as many as can be."""
        return self.speed.value

    # Parts.

    def _run(self) -> None:
        self.start, self.step, self.reset = QPushButton("Start"), QPushButton("Step"), QPushButton("Reset")
        self.start.setDefault(True)
        for button, tip in (
            (self.start, "Train, or pause"),
            (self.step, "Train exactly one step"),
            (self.reset, "Begin again at the seed's random start"),
        ):
            button.setToolTip(tip)
            button.setAccessibleName(tip)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.start, 2)
        row.addWidget(self.step, 1)
        row.addWidget(self.reset, 1)
        self._layout.addLayout(row)
        self.found, self.unit = QLabel("—"), QLabel("nothing trained yet")
        self.found.setProperty("role", "big")
        self.found.setAccessibleName("Alignment")
        self.unit.setProperty("role", "secondary")
        self._layout.addWidget(self.found)
        self._layout.addWidget(self.unit)
        self.speed = Number("Steps a second", PACE, "Speed: steps a second; ∞: as many as the machine can.")
        self.speed.show_value(60)
        self._layout.addWidget(self._form([("Speed", self.speed)])[0])

    def _head(self) -> None:
        self._heading("Head")
        self.kind = self._choice("Attention", KINDS, "kind", "Softmax or linear attention.")
        self.structure = self._choice(
            "Parameters", STRUCTURES, "structure",
            "What is trained: W = λmmᵀ with one direction m, a sum of several such heads, λMMᵀ with an "
            "orthonormal frame M, or any matrix W. Another choice begins again.",
        )  # fmt: skip
        self.rank = self._number(
            "rank", Scale(1, 8), "Heads, or columns of the frame. Another number begins again."
        )
        self.coupling = self._number(
            "coupling", Scale(0.05, 2.5, 2),
            "Coupling λ, in units of 1/σ₁: the best for one direction is 1. Beyond the transition the head "
            "misses the leading eigenvector.",
        )  # fmt: skip
        self.learn = self._check("Learn λ too", "learn_coupling", "Descend in λ as well as in the direction.")
        box, form = self._form(
            [
                ("Attention", self.kind),
                ("Trained", self.structure),
                ("Count", self.rank),
                ("λσ₁", self.coupling),
            ]
        )
        self._layout.addWidget(box)
        self._layout.addWidget(self.learn)
        self._show_where(form, self.rank, lambda s: s.structure in ("heads", "frame"))
        self._show_where(form, self.coupling, lambda s: s.structure != "free")
        self._follow.append(lambda s: self.learn.setVisible(s.structure != "free"))

    def _data(self) -> None:
        self._heading("Prompts")
        self.family = QComboBox()
        self.family.setAccessibleName("Data")
        self.family.setToolTip(
            "Where tokens come from. A table is a CSV or NPY file; one that is dropped is taken as a "
            "covariance where it is one, else as tokens."
        )
        for label, key in FAMILIES:
            self.family.addItem(label, key)
        self.family.activated.connect(lambda: self._choose_family(self.family.currentData()))
        self._follow.append(self._show_family)
        self.d = self._number(
            "d", Scale(2, 64, log=True), "Features d of a token. Another d begins again.", data=True
        )
        self.theta = self._number("theta", Scale(0.0, 10.0, 2), "Strength θ of the spike.", data=True)
        self.exponent = self._number("exponent", Scale(0.0, 4.0, 2), "Exponent e of σ_j ∝ j^−e.", data=True)
        self.degrees = self._number(
            "degrees", Scale(2, 400, log=True, infinite=True),
            "Degrees of freedom ν of each prompt's covariance; ∞: no variation.", data=True,
        )  # fmt: skip
        self.length = self._number(
            "length", Scale(2, 1024, log=True, infinite=True), "Tokens L in a prompt; ∞: the closed form."
        )
        self.spectrum = QLineEdit()
        self.spectrum.setAccessibleName("Eigenvalues")
        self.spectrum.setToolTip("The eigenvalues, separated by commas; their bars can be dragged too.")
        self.spectrum.editingFinished.connect(self._read_spectrum)
        self._follow.append(self._show_spectrum)
        self.whiten = self._check(
            "Whiten", "whiten", "Unit covariance on the table's axes: no direction leads.", True
        )
        box, form = self._form(
            [
                ("Data", self.family),
                ("Values", self.spectrum),
                ("d", self.d),
                ("θ", self.theta),
                ("e", self.exponent),
                ("ν", self.degrees),
                ("L", self.length),
                ("", self.whiten),
            ]
        )
        self._layout.addWidget(box)
        for widget, families in (
            (self.spectrum, ("drawn",)),
            (self.d, ("spiked", "power", "flat", *IN_CONTEXT)),
            (self.theta, ("spiked", *IN_CONTEXT)),
            (self.exponent, ("power",)),
            (self.degrees, IN_CONTEXT),
            (self.whiten, ("rows",)),
        ):
            self._show_where(form, widget, partial(_is_of, families))

    def _training(self) -> None:
        self._heading("Training")
        self.batch = self._number(
            "batch", Scale(1, 1024, log=True), "Prompts in a step, fresh ones each time."
        )
        self.rate = self._number(
            "rate", Scale(0.001, 2.0, 3, log=True), "Learning rate, in units in which σ₁ = 1."
        )
        self.seed = self._field(
            "seed", Scale(0, 2**31 - 1), "Seed of the start and of the prompts: begins again."
        )
        self._layout.addWidget(
            self._form([("Batch", self.batch), ("Rate", self.rate), ("Seed", self.seed)])[0]
        )

    def _contamination(self) -> None:
        self._heading("Contamination")
        self.contamination = self._choice(
            "Contamination", CONTAMINATIONS, "contamination", "What happens to the tokens of every prompt."
        )
        self.level = self._number("level", Scale(0.0, 0.5, 3), "Fraction hit, or the noise's deviation.")
        self.magnitude = self._number(
            "magnitude", Scale(0.0, 50.0, 1), "Size of a hit, in an entry's deviations."
        )
        self.clean = self._check(
            "Clean by principal attention pursuit", "clean",
            "Take away the sparse part that RPC-Attention's pursuit finds, prompt by prompt. One iteration "
            "is clipping; more can clean less.",
        )  # fmt: skip
        self.iterations = self._number("iterations", Scale(1, 10), "Iterations of the pursuit.")
        box, form = self._form(
            [
                ("Kind", self.contamination),
                ("Level", self.level),
                ("Size", self.magnitude),
                ("", self.clean),
                ("Iterations", self.iterations),
            ]
        )
        self._layout.addWidget(box)
        for widget in (self.level, self.magnitude):
            self._show_where(form, widget, lambda s: s.contamination != "none")
        self._show_where(form, self.iterations, lambda s: s.clean)

    def _sweeps(self) -> None:
        self.seeds, self.steps = QSpinBox(), QSpinBox()
        for spin, most, value, name, tip in (
            (self.seeds, 50, 3, "Seeds", "Runs of each value, whose range is the band."),
            (self.steps, 5000, 300, "Steps of a run", "Steps that each head of a sweep is trained."),
        ):
            spin.setRange(1, most)
            spin.setValue(value)
            spin.setAccessibleName(name)
            spin.setToolTip(tip)
        fold = Fold("Sweeps")
        fold.set_content(self._form([("Seeds", self.seeds), ("Steps", self.steps)])[0])
        self._layout.addWidget(fold)

    # What a family needs.

    def _choose_family(self, key: str) -> None:
        state, data = self._state, self._state.setting.data
        if key in ("rows", "covariance"):
            self._show_family(state.setting)
            self.table_asked.emit(key)
        elif key == "digits":
            state.update_data(family="rows", path="")
        elif key == "drawn":
            known = data.family in ("spiked", "power", "flat", "drawn")
            values = data.eigenvalues if known else data.but(family="spiked").eigenvalues
            state.update_data(family="drawn", spectrum=tuple(float(f"{x:.4g}") for x in values))
        else:
            state.update_data(family=key, path="")

    def _show_family(self, setting: Setting) -> None:
        data = setting.data
        key = "digits" if data.family == "rows" and not data.path else data.family
        with QSignalBlocker(self.family):
            self.family.setCurrentIndex([known for _, known in FAMILIES].index(key))

    def _show_spectrum(self, setting: Setting) -> None:
        if not self.spectrum.hasFocus() or not self.spectrum.isModified():
            self.spectrum.setText(", ".join(f"{x:g}" for x in setting.data.spectrum))

    def _read_spectrum(self) -> None:
        text = self.spectrum.text()
        self.spectrum.setModified(False)
        try:
            values = tuple(float(part) for part in text.replace(";", ",").split(",") if part.strip())
        except ValueError:
            self.spectrum_refused.emit(text)
            self._show_spectrum(self._state.setting)
            return
        self._state.update_data(spectrum=values)


def _is_of(families: Sequence[str], setting: Setting) -> bool:
    return setting.data.family in families
