"""A first look in five steps on the sample, which ends with the breakdown point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from explorer.result import Result
from explorer.session import Origin
from explorer.settings import settings
from explorer.ui.callout import Callout
from explorer.ui.formula import prose
from explorer.views.response_plot import level_in_words
from explorer.views.words import figure

if TYPE_CHECKING:
    from explorer.ui.window import MainWindow

SEEN = "tour/seen"
LAYER, HEAD = 2, 1
"""A head of the sample whose breakdown point lies within the slider's range."""


@dataclass(frozen=True, slots=True)
class Step:
    """One stop: what it points at, its title, and what it says of the picture."""

    target: Callable[[MainWindow], QWidget]
    title: str
    text: Callable[[Result], str]


def breakdown(result: Result) -> str:
    """Say where RPC breaks down on this head, as measured."""
    curves = result.curves
    if curves is None or curves.outcome == "unknown":
        return (
            "The curves are being computed. The level from which RPC stays worse than softmax is its "
            "breakdown point."
        )
    if curves.outcome == "at a level" and curves.breakdown is not None:
        level = level_in_words(curves.breakdown, result.params)
        said = f"stays worse than softmax from a level of {level}: its breakdown point"
    elif curves.outcome == "at once":
        said = "is worse than softmax from the first level on"
    else:
        said = "never becomes worse than softmax for good"
    apart = figure(float(curves.mean["rpc_to_softmax"][0]), 2)
    return (
        f"Each against its own clean output, RPC {said}. Yet on clean keys RPC's output already differs from "
        f"softmax's by {apart} of its norm: holding still is no merit by itself."
    )


STEPS = (
    Step(
        lambda window: window.explore.panels["attention"],
        "One head at work",
        lambda result: (
            f"Layer {result.params.layer}, head {result.params.head} of a small vision transformer that "
            "reads a digit. Row $i$ says how patch $i$ spreads its attention over the others. The bar above "
            "chooses another."
        ),
    ),
    Step(
        lambda window: window.explore.panels["spectrum"],
        "Its keys, as kernel PCA sees them",
        lambda result: (
            "The eigenvalues of the keys' Gram matrix under the kernel $exp(τ x·y)$: how many directions the "
            "keys use, and which tokens lie along them."
        ),
    ),
    Step(
        lambda window: window.explore.panels["projection"],
        "Queries in feature space",
        lambda result: (
            "Attention with the values $V^*$ that kernel PCA prescribes puts each query exactly here. "
            "Whether the learned values are these is another question. Click a point: its token is marked "
            "everywhere."
        ),
    ),
    Step(
        lambda window: window.explore.controls.level,
        "Contaminate the keys",
        lambda result: (
            "Drag this. A share $f$ of the entries of $K$ is hit; hollow points show where attention goes. "
            "Back to 0 restores the same picture."
        ),
    ),
    Step(lambda window: window.explore.panels["outputs"], "The breakdown point", breakdown),
)


class Tour(QObject):
    """Leads through the steps; nothing is blocked meanwhile.

    Attributes
    ----------
    callout : Callout
    at : int or None
        The present step; None while there is no tour.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._waiting = False
        self.at: int | None = None
        self.callout = Callout(window)
        self.callout.next.clicked.connect(lambda: self._go(1))
        self.callout.back.clicked.connect(lambda: self._go(-1))
        self.callout.closed.connect(self.end)
        window.state.result_changed.connect(self._on_result)

    @staticmethod
    def was_seen() -> bool:
        """Whether a person has been through it, or skipped it, before."""
        return settings().value(SEEN, False, type=bool) is True

    def start(self) -> None:
        """Begin, on a head of the sample, which is opened where something else is."""
        state = self._window.state
        self.at, self._waiting = None, True
        if state.source is None or not self._on_sample():
            self._window.opener.open_sample()
        elif state.result is not None:
            self._on_result(state.result)

    def _on_sample(self) -> bool:
        return self._window.opener.origin == Origin()

    def end(self) -> None:
        """Stop, and remember that it was seen."""
        self.at, self._waiting = None, False
        self.callout.dismiss()
        settings().setValue(SEEN, True)

    def _on_result(self, result: Result) -> None:
        if not self._on_sample():
            if self.at is not None:
                self.end()
        elif self._waiting and (result.params.layer, result.params.head) != (LAYER, HEAD):
            self._window.state.update(layer=LAYER, head=HEAD, query=None)
        elif self._waiting:
            self._waiting = False
            self._show(0)
        elif self.at is not None:
            self.callout.text.setText(prose(STEPS[self.at].text(result)))

    def _go(self, steps: int) -> None:
        if self.at is None:
            return
        if self.at + steps >= len(STEPS):
            self.end()
        else:
            self._show(self.at + steps)

    def _show(self, place: int) -> None:
        result = self._window.state.result
        if result is None:
            return
        self.at = place
        step, callout = STEPS[place], self.callout
        callout.title.setText(step.title)
        callout.place.setText(f"{place + 1} of {len(STEPS)}")
        callout.text.setText(prose(step.text(result)))
        callout.back.setVisible(place > 0)
        last = place == len(STEPS) - 1
        callout.next.setText("Done" if last else "Next")
        callout.skip.setVisible(not last)
        self._window.pages.show_page(0)
        target = step.target(self._window)
        target.show()
        target.raise_()
        callout.point_at(target)
