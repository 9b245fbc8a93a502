"""A PySide6 build that leaks a reference a call aborts the interpreter after some 1,500 repaints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPAINTS = 20_000


def repaint() -> None:
    import numpy as np
    import pyqtgraph as pg
    from PySide6.QtWidgets import QApplication

    from explorer.ui import theme

    theme.apply(QApplication([]), "light")
    plot = pg.PlotWidget()
    theme.style_plot(plot.plotItem)
    plot.resize(300, 200)
    plot.show()
    scatter, image = pg.ScatterPlotItem(size=5, pen=None), pg.ImageItem(np.zeros((9, 9), np.float32))
    plot.addItem(scatter)
    plot.addItem(image)
    rng = np.random.default_rng(0)
    before = sys.getrefcount(None)
    for _ in range(REPAINTS):
        scatter.setData(pos=rng.random((20, 2)))
        image.setImage(rng.random((9, 9), np.float32))
        plot.viewport().repaint()
    print(sys.getrefcount(None) - before)


def test_twenty_thousand_repaints_leak_nothing() -> None:
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, env=env, timeout=280)
    assert done.returncode == 0, done.stderr
    assert abs(int(done.stdout)) < REPAINTS / 100


if __name__ == "__main__":
    repaint()
