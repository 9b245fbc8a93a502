"""The reconstruction loss over steps, beside the loss of an infinite prompt."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt

from explorer.lab.setting import IN_CONTEXT, Setting
from explorer.lab.snapshot import Snapshot
from explorer.ui.theme import pen, scheme
from explorer.views.lab_view import COLOURS, LabView, curve, nearest_step, steps_range
from explorer.views.picture import Table
from explorer.views.plot import Plot, span
from explorer.views.strip import Part, Strip
from explorer.views.words import figure, subscript


class LossView(LabView):
    """The loss of each recorded step, and the infinite-prompt limit as a dashed line."""

    name = "lab-loss"
    title = "Loss"
    help = (
        "The mean of ‖X₁ − T(X)₁‖² over the prompts of a step, in the data's own units. Dashed: the loss of "
        "an infinite prompt at the leading direction and the best λ, tr Σ − σ₁ for one head; dotted: the "
        "same at the present λ. It is a limit, not a floor: at finite L a softmax head gets a little below "
        "it, since a token sees itself. Each step draws fresh prompts, so the curve is noisy. Source: "
        "Maulen-Soto and Boyer, arXiv 2605.18315."
    )

    def build(self) -> None:
        """Make the items, once."""
        self._strip = Strip()
        self.plot = Plot(zoom=True)
        self.plot.name_axes("step", "mean ‖<i>X</i><sub>1</sub> − <i>T</i>(<i>X</i>)<sub>1</sub>‖²")
        self._loss = curve()
        self._best, self._present = pg.InfiniteLine(0, angle=0), pg.InfiniteLine(0, angle=0)
        for item in (self._best, self._present, self._loss):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot_items = [self.plot]
        self.canvas.addItem(self._strip, 0, 0)
        self.canvas.addItem(self.plot, 1, 0)
        self.recolour()

    def recolour(self) -> None:
        """Take pens of the scheme again."""
        self._best.setPen(pen(scheme().text, 1.25, Qt.PenStyle.DashLine))
        self._present.setPen(pen(scheme().secondary, 1.25, Qt.PenStyle.DotLine))

    def draw(self, snapshot: Snapshot) -> None:
        """Put the numbers of `snapshot` into the items."""
        curves, limits = snapshot.curves, snapshot.limits
        colour = COLOURS[snapshot.setting.kind]
        self._loss.setPen(pen(colour, 1.5))
        self._loss.setData(curves.steps, curves.loss)
        known = [value for value in (limits.loss, limits.loss_at_coupling) if value is not None]
        for line, value in ((self._best, limits.loss), (self._present, limits.loss_at_coupling)):
            line.setVisible(value is not None)
            if value is not None:
                line.setPos(value)
        if self.settles(snapshot):
            self.plot.settle(steps_range(curves.steps), span(curves.loss, include=tuple(known)))
        last = curves.loss[-1]
        count = snapshot.directions.shape[1]
        leading = "u₁" if count == 1 else f"u₁ … u{subscript(count)}"
        clean = ", clean" if snapshot.setting.corrupts else ""
        best = "" if limits.loss is None else figure(limits.loss, 4)
        at = "" if limits.loss_at_coupling is None else figure(limits.loss_at_coupling, 4)
        self._strip.say(
            Part(f"loss {figure(last, 4)}", line=pen(colour, 1.5)),
            Part(f"{limit_name(snapshot.setting)}{clean} {best}", line=self._best.pen) if best else "",
            Part(f"{leading} at this λ{clean} {at}", line=self._present.pen) if at else "",
        )

    def reading_at(self, at: QPointF) -> str:
        """Return step and loss under the pointer."""
        if self.result is None:
            return ""
        curves = self.result.curves
        i = nearest_step(self.plot, curves.steps, at)
        return "" if i is None else f"step {int(curves.steps[i])}: {figure(float(curves.loss[i]), 4)}"

    def numbers(self, result: Snapshot) -> Table:
        """Return the recorded losses and the limits."""
        curves, limits = result.curves, result.limits
        names = ["step", "loss", "limit at the best λ", "limit at this λ"]
        return names, [
            curves.steps,
            curves.loss,
            np.array([np.nan if limits.loss is None else limits.loss]),
            np.array([np.nan if limits.loss_at_coupling is None else limits.loss_at_coupling]),
        ]


def limit_name(setting: Setting) -> str:
    """Return what the loss at the best λ is: a formula where all prompts of one head share Σ."""
    return "tr Σ − σ₁" if setting.structure == "one" and setting.data.family not in IN_CONTEXT else "limit"
