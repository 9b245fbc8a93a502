"""What the laboratory's panels share: each is a picture of the latest snapshot of training."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF

from explorer.lab.account import described
from explorer.lab.setting import Setting
from explorer.lab.snapshot import Snapshot
from explorer.ui.theme import SOFTMAX
from explorer.views.picture import Picture, Provenance
from explorer.views.plot import Plot

NOTHING_YET = "The laboratory is getting ready."
LINEAR = "#CC79A7"
"""Linear heads, in the sweeps; softmax has its own blue."""
COLOURS = {"softmax": SOFTMAX, "linear": LINEAR}


class LabView(Picture):
    """One panel of the laboratory: `show_snapshot` draws, as often as there is something new.

    Attributes
    ----------
    result : Snapshot or None
    """

    def __init__(self) -> None:
        super().__init__()
        self.result: Snapshot | None = None
        self._pointer = QPointF()
        self.furnish(NOTHING_YET)
        self.canvas.setAccessibleName(self.title)

    def draw(self, snapshot: Snapshot) -> None:
        """Put the numbers of `snapshot` into the items."""
        raise NotImplementedError

    def why_not(self, snapshot: Snapshot) -> str:
        """Return why this cannot be drawn here, in a sentence; empty: it can."""
        return ""

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Draw a moment of training, or say why it has no such picture."""
        reason = self.why_not(snapshot)
        if reason:
            self.show_nothing(reason)
            return
        self.result = snapshot
        self.draw(snapshot)
        self.show_picture()
        if self.canvas.reading.isVisible():
            self._hover(self._pointer)

    def settles(self, snapshot: Snapshot) -> bool:
        """Return whether ranges may move now: no button is held, or these are other axes than before."""
        setting, data = snapshot.setting, snapshot.setting.data
        return self.may_move(setting.kind, setting.structure, data.family, data.path)

    def redraw(self) -> None:
        """Draw the same moment again."""
        if self.result is not None:
            self.show_snapshot(self.result)

    def _hover(self, at: QPointF) -> None:
        """Read what is under the pointer, and again when that changes under it."""
        self._pointer = at
        super()._hover(at)

    def provenance(self) -> Provenance:
        """Return the experiment."""
        assert self.result is not None
        setting = self.result.setting
        return provenance(setting, f"step {self.result.step}, float32 on CPU")


def provenance(setting: Setting, computed: str) -> Provenance:
    """Return where numbers of an experiment come from."""
    return Provenance(f"laboratory: {described(setting.data)}", asdict(setting), computed)


def curve() -> pg.PlotCurveItem:
    """Return a line that leaves gaps where there is no number."""
    return pg.PlotCurveItem(connect="finite", antialias=True)


def steps_range(steps: NDArray[np.float64]) -> tuple[float, float]:
    """Return a range of steps that doubles when it is full, so that the axis seldom moves."""
    last = max(float(steps[-1]), 1.0)
    return 0.0, 105.0 * 2 ** max(0, int(np.ceil(np.log2(last / 100))))


def nearest_step(plot: Plot, steps: NDArray[np.float64], at: QPointF) -> int | None:
    """Return the index of the recorded step under a point of the scene; None beside the plot."""
    if not len(steps) or not plot.vb.sceneBoundingRect().contains(at):
        return None
    x = plot.vb.mapSceneToView(at).x()
    return int(np.abs(steps - x).argmin())


def ticks(count: int, most: int = 10) -> list[tuple[float, str]]:
    """Return figures for at most so many places."""
    return [(float(j), str(j)) for j in range(1, count + 1, 1 + (count - 1) // most)]
