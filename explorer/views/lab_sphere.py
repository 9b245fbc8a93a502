"""The learned direction on the unit sphere of d = 3, seen from afar; a drag turns it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAction, QColor, QKeyEvent

from explorer.lab.snapshot import Snapshot
from explorer.ui.theme import AXIS_PX, RPC, clean_brush, contaminated_brush, font, pen, scheme, sequential_map
from explorer.views.colorbar import ColorBar
from explorer.views.lab_drag import Drag
from explorer.views.lab_view import LabView, curve
from explorer.views.picture import Table
from explorer.views.plot import Plot
from explorer.views.points import Points
from explorer.views.strip import Strip
from explorer.views.words import figure, subscript

Array = NDArray[np.float64]

SIZE = 288
"""Points across: as fine as a large screen, and computed within a third of a frame."""
ROOM = 1.3
TURN = np.pi / 24
ARROWS = {
    Qt.Key.Key_Left: (-TURN, 0.0),
    Qt.Key.Key_Right: (TURN, 0.0),
    Qt.Key.Key_Up: (0.0, TURN),
    Qt.Key.Key_Down: (0.0, -TURN),
}
START = np.array([[-1, 1, 0], [-1, -1, 2], [1, 1, 1]]) / np.sqrt([[2], [6], [3]])
"""Rows: to the right, up and towards the eye; seen from the middle between u₁, u₂ and u₃."""
VEILED = 236
"""How opaque the ground of a name is, of 255: it can be read on every colour of the sphere."""


class SphereView(LabView):
    """The loss as colour on the near half, the path of m over it, and where the eigenvectors are.

    Attributes
    ----------
    axes : ndarray, shape (3, 3)
        Rows: to the right, up and towards the eye, in the basis of eigenvectors.
    three : QAction
        What the empty panel offers: d = 3.
    """

    name = "lab-sphere"
    title = "Sphere"
    help = (
        "For d = 3, the unit sphere without perspective. Colour: the infinite-prompt loss of λmmᵀ at the "
        "present λ, darkest where it is least. The line is the way that m took from its random start, the "
        "dot where it is: filled on the near side, hollow and thin on the far side. m and −m are the same "
        "head. Drag, or press the arrow keys, to turn; Home turns back. The head trains on finite prompts, "
        "whose loss is near to what is coloured, not equal. Source: Maulen-Soto and Boyer, arXiv "
        "2605.18315."
    )

    def build(self) -> None:
        """Make the items, once."""
        self.axes = START.copy()
        self._drawn: tuple[Any, ...] = ()
        self.three = QAction("Set d = 3", self)
        self._strip = Strip()
        self.plot = Plot()
        self.plot.hideAxis("left")
        self.plot.hideAxis("bottom")
        self.plot.setAspectLocked(True)
        self._image = pg.ImageItem()
        self._image.setRect(-1.0, -1.0, 2.0, 2.0)
        self._rim, self._far, self._near = curve(), curve(), curve()
        circle = np.linspace(0, 2 * np.pi, 181)
        self._rim.setData(np.cos(circle), np.sin(circle))
        self._front, self._back = Points("o", 13), Points("o", 11)
        self._names = [pg.TextItem(anchor=(0.5, 0.5)) for _ in range(6)]
        for item in (self._image, self._rim, self._far, self._near, self._back, self._front, *self._names):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.settle((-ROOM, ROOM), (-ROOM, ROOM))
        self._bar = ColorBar()
        self.plot_items = [self.plot, self._bar]
        self.canvas.addItem(self._strip, 0, 0, 1, 2)
        self.canvas.addItem(self.plot, 1, 0)
        self.canvas.addItem(self._bar, 1, 1)
        drag = Drag(self.plot, Qt.CursorShape.OpenHandCursor)
        drag.moved.connect(lambda _, before, now: self.turn(now.x() - before.x(), now.y() - before.y()))
        self.canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.recolour()

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        colours = scheme()
        self._image.setLookupTable(sequential_map().getLookupTable(nPts=256))
        self._rim.setPen(pen(colours.secondary, 1))
        self._near.setPen(pen(RPC, 2.5))
        self._far.setPen(pen(RPC, 1, Qt.PenStyle.DotLine))
        self._front.style(pen("#FFFFFF", 1.5), clean_brush(RPC))
        self._back.style(pen(RPC, 1.5), contaminated_brush())
        veil = QColor(colours.background)
        veil.setAlpha(VEILED)
        for label in self._names:
            label.setFont(font(AXIS_PX))
            label.fill = pg.mkBrush(veil)

    def turn(self, across: float, up: float) -> None:
        """Turn the sphere so that what is near moves by (`across`, `up`) radii."""
        for (i, j), angle in (((0, 2), across), ((1, 2), up)):
            turned = self.axes.copy()
            turned[i] = np.cos(angle) * self.axes[i] + np.sin(angle) * self.axes[j]
            turned[j] = np.cos(angle) * self.axes[j] - np.sin(angle) * self.axes[i]
            self.axes = np.linalg.qr(turned.T)[0].T * np.sign(np.diag(np.linalg.qr(turned.T)[1]))[:, None]
        self.redraw()
        self.option_changed.emit(self.options())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Turn by the arrow keys."""
        if self.result is not None and event.key() in ARROWS:
            self.turn(*ARROWS[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def fit(self) -> None:
        """Turn back."""
        self.axes = START.copy()
        self.turn(0.0, 0.0)

    def options(self) -> dict[str, Any]:
        """Return how the sphere is turned."""
        return {"axes": [float(x) for x in self.axes.ravel()]}

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Turn the sphere as it was."""
        axes = np.asarray(options.get("axes", ()), dtype=np.float64)
        if axes.shape == (9,) and np.allclose(
            axes.reshape(3, 3) @ axes.reshape(3, 3).T, np.eye(3), atol=1e-6
        ):
            self.axes = axes.reshape(3, 3)
            self.redraw()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Draw a moment of training, or offer d = 3."""
        if snapshot.sphere is None:
            d = len(snapshot.eigenvalues)
            self.show_nothing(f"In {d} dimensions m is on no sphere that can be drawn.", self.three)
            return
        super().show_snapshot(snapshot)

    def draw(self, snapshot: Snapshot) -> None:
        """Put the numbers of `snapshot` into the items."""
        self._colour(snapshot)
        path, one = snapshot.curves.components @ self.axes.T, snapshot.directions.shape[1] == 1
        free = snapshot.setting.structure == "free"
        near = path[:, 2:] >= 0
        shown = path[:, :2] if one and not free else np.full_like(path[:, :2], np.nan)
        self._near.setData(*np.where(near, shown, np.nan).T)
        self._far.setData(*np.where(near, np.nan, shown).T)
        at = snapshot.directions.T.astype(np.float64) @ self.axes.T
        front = at[:, 2] >= 0
        self._front.move(*at[front, :2].T)
        self._back.move(*at[~front, :2].T)
        for label, place, name in zip(self._names, (*self.axes.T, *-self.axes.T), _names(), strict=True):
            label.setText(name, color=scheme().text if place[2] >= 0 else scheme().secondary)
            label.setPos(*(place[:2] * 1.14))
            label.setVisible(bool(place[2] > -0.7))
        where = ", ".join(f"{'−' if x < 0 else ''}{abs(x):.2f}" for x in snapshot.directions[:, 0].tolist())
        self._strip.say(
            f"{'W’s top right singular vector' if free else 'm'} = ({where})", "drag or arrow keys turn"
        )

    def _colour(self, snapshot: Snapshot) -> None:
        sphere = snapshot.sphere
        assert sphere is not None
        key = (id(sphere.linear), sphere.coupling, self.axes.tobytes())
        self._image.setVisible(sphere.coupling is not None)
        self._bar.setVisible(sphere.coupling is not None)
        if key == self._drawn or sphere.coupling is None:
            return
        self._drawn = key
        loss = sphere.loss(visible(self.axes)).reshape(SIZE, SIZE)
        levels = float(np.nanmin(loss)), float(np.nanmax(loss))
        if levels[1] - levels[0] < 1e-9 * abs(levels[1]):
            levels = levels[0] - 0.5, levels[1] + 0.5
        self._image.setImage(loss.astype(np.float32), levels=levels)
        self._image.setRect(-1.0, -1.0, 2.0, 2.0)
        self._bar.show_levels(levels, sequential_map())

    def reading_at(self, at: QPointF) -> str:
        """Return the direction and the loss under the pointer."""
        if self.result is None or self.result.sphere is None:
            return ""
        point = self.plot.vb.mapSceneToView(at)
        x, y = point.x(), point.y()
        if x * x + y * y > 1:
            return ""
        m = self.axes.T @ np.array([x, y, np.sqrt(1 - x * x - y * y)])
        where = ", ".join(figure(value, 2) for value in m.tolist())
        sphere = self.result.sphere
        if sphere.coupling is None:
            return f"({where})"
        return f"m = ({where}): loss {figure(float(sphere.loss(m[:, None])[0]), 4)}"

    def numbers(self, result: Snapshot) -> Table:
        """Return the path of m in the basis of eigenvectors."""
        names = [f"m·u{subscript(j + 1)}" for j in range(3)]
        return ["step", *names], [result.curves.steps, *result.curves.components.T]


def _names() -> list[str]:
    return [f"u{subscript(j + 1)}" for j in range(3)] + [f"−u{subscript(j + 1)}" for j in range(3)]


def visible(axes: Array, size: int = SIZE) -> Array:
    """Return the sphere's near points under a square grid, row 0 below, shape (3, size²); NaN beside it."""
    across = (np.arange(size) + 0.5) / size * 2 - 1
    x, y = np.meshgrid(across, across)
    with np.errstate(invalid="ignore"):
        towards = np.sqrt(1 - x**2 - y**2)
    return axes.T @ np.stack([x, y, towards]).reshape(3, -1)
