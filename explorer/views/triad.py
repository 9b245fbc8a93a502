"""Which way three axes point: a small cross of three arms in a corner of the plot, with names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from explorer.ui.theme import AXIS_PX, font, pen, scheme
from explorer.views.plot import Plot

PLACE, ARM, NAME = -0.72, 0.2, 0.23
"""Where it stands, to the left and down, and how far arms and names reach; all in radii of the picture."""


class Triad:
    """Draws itself into `plot`."""

    def __init__(self, plot: Plot) -> None:
        self._arms = pg.PlotCurveItem(connect="pairs", antialias=True)
        self.names = [pg.TextItem(anchor=(0.5, 0.5)) for _ in range(3)]
        for item in (self._arms, *self.names):
            plot.addItem(item, ignoreBounds=True)
        self.recolour()

    def recolour(self) -> None:
        """Take the colours of the scheme again."""
        self._arms.setPen(pen(scheme().text, 1.25))
        for name in self.names:
            name.setFont(font(AXIS_PX))
            name.setColor(QColor(scheme().text))

    def show(self, matrix: NDArray[np.float64], radius: float, names: Sequence[str]) -> None:
        """Point the arms along the axes.

        Parameters
        ----------
        matrix : ndarray, shape (3, 3)
            Column d is axis d; its first two entries are how far it goes to the right and up.
        radius : float
            Of the picture.
        names : sequence of str
            Of the three axes; empty: nothing is shown.
        """
        for item in (self._arms, *self.names):
            item.setVisible(bool(names))
        if not names:
            return
        middle = np.full(2, PLACE * radius)
        ends = middle + ARM * radius * matrix[:2].T
        lines = np.stack([np.tile(middle, (3, 1)), ends], 1).reshape(-1, 2)
        self._arms.setData(lines[:, 0], lines[:, 1])
        for item, name, axis in zip(self.names, names, matrix[:2].T, strict=True):
            item.setText(name)
            item.setAnchor(((1 - axis[0]) / 2, (1 + axis[1]) / 2))
            item.setPos(*(middle + NAME * radius * axis))
