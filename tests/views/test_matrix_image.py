"""A large map never loses what stands out, however far one zooms out."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtWidgets import QApplication

from explorer.ui.theme import diverging_map, sequential_map
from explorer.views.matrix_image import MatrixImage
from explorer.views.plot import Plot

N, ROW, COLUMN = 1500, 733, 1201


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("share", [1.0, 0.6, 0.2, 0.05])
def test_a_single_sink_is_seen_at_every_zoom(qtbot, signed: bool, share: float) -> None:
    values = np.full((N, N), 0.01)
    values[ROW, COLUMN] = -1.0 if signed else 1.0
    widget = pg.GraphicsLayoutWidget()
    qtbot.addWidget(widget)
    plot = Plot()
    widget.addItem(plot)
    widget.resize(240, 200)
    widget.show()
    image = MatrixImage(plot)
    levels = (-1.0, 1.0) if signed else (0.0, 1.0)
    image.show(values, levels, diverging_map() if signed else sequential_map(), signed)
    half = share * N / 2
    x, y = (min(max(at, half), N - half) for at in (COLUMN, ROW))
    plot.vb.setRange(xRange=(x - half, x + half), yRange=(y - half, y + half), padding=0)
    QApplication.processEvents()
    drawn = image.image.image
    assert drawn.size < 240 * 200 * 4
    assert (drawn.min() if signed else drawn.max()) == values[ROW, COLUMN]
    assert np.count_nonzero(drawn == values[ROW, COLUMN]) == 1
