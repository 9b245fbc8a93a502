"""What one token of one held-out prompt gives to the others, over where they lie along m."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF

from explorer.lab.snapshot import Snapshot
from explorer.ui.theme import clean_brush, pen, scheme
from explorer.views.lab_view import COLOURS, LabView
from explorer.views.picture import Table
from explorer.views.plot import Plot, span
from explorer.views.points import Points, nearest
from explorer.views.strip import Part, Strip
from explorer.views.words import figure

MOST_POINTS = 2048


class WeightsView(LabView):
    """One dot a token: its place along m, and the weight it gets from the prompt's first token, the ring."""

    name = "lab-weights"
    title = "One prompt"
    help = (
        "A prompt that is never trained on (64 tokens of it where prompts are infinite). Across: the "
        "token's component along the learned direction, m·X_k, in units of √σ₁. Up: the weight that the "
        "first token (ring) gives it. Softmax weights are positive and sum to 1, and grow exponentially "
        "along m to the side where the first token lies; linear weights are λ(X₁·m)(m·X_k)/L, a straight "
        "line, with negative ones on the other side. Of several heads the first is drawn; for a free W the "
        "direction is its top right singular vector, along which its weights need not be ordered."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.plot = Plot()
        self.plot.name_axes("<i>m</i>·<i>X<sub>k</sub></i>, in √σ<sub>1</sub>", "weight")
        self._zero = pg.InfiniteLine(0, angle=0)
        self._points, self._first = Points("o", 7), Points("o", 13)
        for item in (self._zero, self._points, self._first):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot_items = [self.plot]
        self.canvas.addItem(self._strip, 0, 0)
        self.canvas.addItem(self.plot, 1, 0)
        self.recolour()

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        self._zero.setPen(pen(scheme().hairline, 1))
        self._first.style(pen(scheme().text, 1.5), None)

    def draw(self, snapshot: Snapshot) -> None:
        """Put the numbers of `snapshot` into the items."""
        along, weights = _first_head(snapshot)
        self._points.style(None, clean_brush(COLOURS[snapshot.setting.kind]))
        self._points.move(along, weights)
        self._first.move(along[:1], weights[:1])
        if self.settles(snapshot):
            reach = max(1.0, float(np.abs(along).max()))
            self.plot.settle(span(np.array([-reach, reach]), pad=0.02), span(weights, include=(0.0,)))
        count = len(snapshot.weights)
        soft = snapshot.setting.kind == "softmax"
        mass = np.abs(weights) / max(float(np.abs(weights).sum()), 1e-30)
        self._strip.say(
            Part("first token", symbol="o", pen=pen(scheme().text, 1.5)),
            f"uniform: 1/{count} = {figure(1 / count, 2)}"
            if soft
            else f"largest |weight| {figure(float(np.abs(weights).max()), 2)}",
            f"like {figure(float(np.exp(-(mass * np.log(mass + 1e-30)).sum())), 2)} equal weights",
        )

    def reading_at(self, at: QPointF) -> str:
        """Return the token under the pointer."""
        if self.result is None:
            return ""
        along, weights = _first_head(self.result)
        point = self.plot.vb.mapSceneToView(at)
        i, _ = nearest(self._points, (point.x(), point.y()), along, weights, 10)
        return (
            ""
            if i < 0
            else f"token {i + 1}: m·X {figure(float(along[i]))}, weight {figure(float(weights[i]))}"
        )

    def numbers(self, result: Snapshot) -> Table:
        """Return component and weight of every token and head."""
        heads, columns = result.weights.shape[1], result.projections.shape[1]
        names = [f"m_{r + 1}·X" for r in range(columns)] + [f"weight of head {r + 1}" for r in range(heads)]
        tokens = np.arange(1, len(result.weights) + 1).astype(np.float64)
        both = [*result.projections.T.astype(np.float64), *result.weights.T.astype(np.float64)]
        return ["token", *names], [tokens, *both]


def _first_head(snapshot: Snapshot) -> tuple[np.ndarray, np.ndarray]:
    along = snapshot.projections[:MOST_POINTS, 0].astype(np.float64)
    return along, snapshot.weights[:MOST_POINTS, 0].astype(np.float64)
