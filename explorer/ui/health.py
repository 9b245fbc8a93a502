"""Numerical health: what floating point makes of this head, in figures and in words."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QScrollArea, QToolButton, QVBoxLayout, QWidget

from explorer.result import KernelHealth, Result, Spectrum
from explorer.state import State
from explorer.views.words import figure, percent

HALF, SINGLE = 11.09, 88.72
"""Logits above which exp overflows: 65504 in half precision, 3.4e38 in single and in bfloat16."""
NOTHING = "Nothing to say yet. Open a model or the sample."

Row = tuple[str, str, Callable[[Result, Spectrum, KernelHealth], str]]


def _count(value: int | None) -> str:
    return "not computed" if value is None else str(value)


def _dropped(spectrum: Spectrum, tokens: int) -> str:
    return _count(None if spectrum.rank is None else tokens - spectrum.rank)


def _twins(spectrum: Spectrum) -> str:
    names = [f"a{place + 1}" for place in np.flatnonzero(~spectrum.identifiable)]
    return ", ".join(names) or "none"


def _smallest_gap(health: KernelHealth) -> str:
    gap = float(health.gaps.min(initial=math.inf))
    return figure(gap, 2)


ROWS: tuple[Row, ...] = (
    (
        "Largest logit τ k·k",
        "The logarithm of the kernel's largest value.",
        lambda result, spectrum, health: figure(health.largest_logit),
    ),
    (
        "Tokens over half precision",
        "Tokens whose kernel value exp(τ k·k) is above 65504, τ k·k above 11.09.",
        lambda result, spectrum, health: f"{health.over_half} of {len(result.positions)}",
    ),
    (
        "Numerical rank",
        "Eigenvalues of the centred key Gram matrix above eps·N·‖K_φ‖. Centring takes one of N away.",
        lambda result, spectrum, health: f"{_count(spectrum.rank)} of {len(result.positions)}",
    ),
    (
        "Rank left by float32, float16",
        "How many of these eigenvalues the tolerances of float32 and float16 would leave.",
        lambda result, spectrum, health: f"{_count(health.rank_single)}, {_count(health.rank_half)}",
    ),
    (
        "Eigenvalues dropped",
        "At or under the tolerance, where rounding decides. Centring alone makes one.",
        lambda result, spectrum, health: _dropped(spectrum, len(result.positions)),
    ),
    (
        "of which clipped at 0",
        "Eigenvalues that rounding made negative, which a Gram matrix has none of.",
        lambda result, spectrum, health: _count(health.clipped),
    ),
    (
        "Smallest gap over tolerance",
        "Between neighbouring eigenvalues among those shown; at 1 and under, their vectors may turn into "
        "each other.",
        lambda result, spectrum, health: _smallest_gap(health),
    ),
    (
        "Not identifiable",
        "Shown eigenvectors whose eigenvalue is within the tolerance of a neighbour's.",
        lambda result, spectrum, health: _twins(spectrum),
    ),
)


def warnings(result: Result) -> list[str]:
    """Say in words what the figures mean; empty: nothing needs saying."""
    said: list[str] = []
    if result.health is not None:
        said += _of_scores(result.health.largest, result.health.over_half)
    for name, spectrum in (("clean", result.clean), ("contaminated", result.moved)):
        if spectrum.health is None or (name == "contaminated" and result.params.level == 0):
            continue
        said += _of_kernel(name, spectrum, spectrum.health)
    return said


def _of_scores(largest: float, share: float) -> list[str]:
    if largest <= HALF:
        return []
    how = f"exp of this head's raw scores overflows half precision for {percent(share)} of the pairs"
    if largest > SINGLE:
        how += ", and for some of them single precision and bfloat16 too"
    return [f"{how}. Softmax subtracts the largest score first and is not touched."]


def _of_kernel(name: str, spectrum: Spectrum, health: KernelHealth) -> list[str]:
    said = []
    if health.largest_logit > HALF:
        kind = "single precision" if health.largest_logit > SINGLE else "half precision"
        said.append(
            f"The kernel of the {name} keys overflows {kind}: a Gram matrix of raw exp would hold inf, and "
            "NaN after normalising. Here it is computed in the log domain."
        )
    if spectrum.rank is not None and health.rank_half is not None and health.rank_half < spectrum.rank:
        single = f"single precision {health.rank_single} and " if health.rank_single != spectrum.rank else ""
        said.append(
            f"Of the {spectrum.rank} eigenvalues of the {name} keys {single}half precision would leave "
            f"{health.rank_half} above its rounding."
        )
    twins = int((~spectrum.identifiable).sum())
    if twins:
        said.append(
            f"{twins} of the shown eigenvectors of the {name} keys are not identifiable: compare the "
            "subspaces, not the vectors."
        )
    if spectrum.rank == 0:
        said.append(f"The {name} keys have no spectrum: nothing tells them apart above rounding.")
    if not spectrum.exact:
        said.append(f"The eigenvectors of the {name} keys are approximate while the slider moves.")
    return said


class HealthPanel(QScrollArea):
    """A table, clean beside contaminated, and sentences under it; it follows the state.

    Attributes
    ----------
    said : QLabel

    Signals
    -------
    help_asked()
    """

    help_asked = Signal()

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Numerical health")
        self.head = QLabel()
        self.head.setWordWrap(True)
        self.said = QLabel()
        self.said.setWordWrap(True)
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(16, 8, 16, 16)
        column.setSpacing(12)
        column.addLayout(self._top())
        column.addLayout(self._table())
        column.addWidget(self.said)
        column.addStretch(1)
        self.setWidget(body)
        state.result_changed.connect(self.show_result)
        if state.result is None:
            self.head.setText(NOTHING)
        else:
            self.show_result(state.result)

    def _top(self) -> QHBoxLayout:
        self.help_button = QToolButton()
        self.help_button.setText("i")
        self.help_button.setProperty("role", "info")
        self.help_button.setToolTip("What “Numerical health” shows, and how not to read it")
        self.help_button.setAccessibleName(self.help_button.toolTip())
        self.help_button.clicked.connect(self.help_asked)
        row = QHBoxLayout()
        row.addWidget(self.head, 1)
        row.addWidget(self.help_button, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def _table(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 1)
        for column, text in ((1, "clean"), (2, "contaminated")):
            label = QLabel(text)
            label.setProperty("role", "secondary")
            grid.addWidget(label, 0, column, Qt.AlignmentFlag.AlignRight)
        self.cells: list[tuple[QLabel, QLabel]] = []
        for row, (name, tip, _) in enumerate(ROWS, start=1):
            label = QLabel(name)
            label.setToolTip(tip)
            grid.addWidget(label, row, 0)
            pair = QLabel("—"), QLabel("—")
            for column, cell in enumerate(pair, start=1):
                cell.setAccessibleName(f"{name}, {'clean' if column == 1 else 'contaminated'}")
                grid.addWidget(cell, row, column, Qt.AlignmentFlag.AlignRight)
            self.cells.append(pair)
        return grid

    def show_result(self, result: Result) -> None:
        """Put the figures of `result` into the table, and say what they mean."""
        if not self.isVisible():
            return
        health = result.health
        captured = "" if health is None else f"captured in {health.captured}, "
        scores = "" if health is None else f" Its largest attention score is {figure(health.largest)}."
        self.head.setText(
            f"{result.source}: {captured}computed in {result.dtype} on {result.device.upper()}.{scores}"
        )
        for (_, _, read), pair in zip(ROWS, self.cells, strict=True):
            for cell, spectrum in zip(pair, (result.clean, result.moved), strict=True):
                cell.setText("—" if spectrum.health is None else read(result, spectrum, spectrum.health))
        said = warnings(result)
        self.said.setText("\n\n".join(said) or "Nothing here needs a warning.")

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with the latest result."""
        super().showEvent(event)
        if self._state.result is not None:
            self.show_result(self._state.result)
