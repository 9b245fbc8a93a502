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
from explorer.views.words import percent

if TYPE_CHECKING:
    from explorer.ui.window import MainWindow

SEEN = "tour/seen"


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
    against = "each against its own clean output. RPC against softmax's clean output is drawn too."
    if curves.outcome == "at a level" and curves.breakdown is not None:
        return (
            f"From a level of {percent(curves.breakdown)} RPC stays worse than softmax on this head: its "
            f"breakdown point, {against}"
        )
    if curves.outcome == "at once":
        return f"On this head RPC is worse than softmax from the first level on, {against}"
    return f"On this head RPC never becomes worse than softmax for good, {against}"


STEPS = (
    Step(
        lambda window: window.explore.panels["attention"],
        "One head at work",
        lambda result: (
            "A small vision transformer reads a digit. Row $i$ says how patch $i$ spreads its attention over "
            "the others. The bar above chooses layer, head and input."
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
        """Begin, on the sample, which is opened where something else is."""
        window = self._window
        self.at = None
        if (
            window.state.source is not None
            and window.opener.origin == Origin()
            and window.state.result is not None
        ):
            self._show(0)
            return
        self._waiting = True
        if window.state.source is None or window.opener.origin != Origin():
            window.opener.open_sample()

    def end(self) -> None:
        """Stop, and remember that it was seen."""
        self.at, self._waiting = None, False
        self.callout.dismiss()
        settings().setValue(SEEN, True)

    def _on_result(self, result: Result) -> None:
        if self._waiting and self._window.opener.origin == Origin():
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
        target = step.target(self._window)
        target.show()
        target.raise_()
        callout.point_at(target)
