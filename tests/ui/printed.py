"""A picture to be exported, and what other programs draw of the file."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from explorer.ui import theme
from explorer.ui.exporting.figure import About, Figure, Panel
from explorer.ui.exporting.pdf import pdf
from explorer.ui.exporting.raster import png
from explorer.ui.exporting.svg import svg
from explorer.views.hatch import Hatch

SVG = "{http://www.w3.org/2000/svg}"
ABOUT = About("Attention, Outputs", "a <source> & more", '{"level": 0.08}', "float32 on CPU")
FIGURE = Figure(width_mm=160, height_mm=80, dpi=200)
VALUES = np.array([[-1.0, -0.5, 0.0], [0.25, 0.5, np.nan], [0.75, -0.25, 1.0]])
CURVE = np.linspace(0, 1, 60)


class Picture:
    """A heat map with a hole beside curves, points and words, which follows the theme as a view does."""

    def __init__(self, width: int = 700, height: int = 350) -> None:
        self.widget = pg.GraphicsLayoutWidget()
        self.widget.resize(width, height)
        self.map = self.widget.addPlot()
        self.hatch = Hatch(0, 0, 3, 3)
        self.image = pg.ImageItem(VALUES)
        self.image.setColorMap(theme.diverging_map())
        self.image.setLevels((-1, 1))
        self.map.addItem(self.hatch)
        self.map.addItem(self.image)
        self.map.setRange(xRange=(0, 3), yRange=(0, 3), padding=0)
        self.plot = self.widget.addPlot()
        self.plot.addLegend()
        self.softmax = self.plot.plot(CURVE, CURVE * 5e-4, name="softmax")
        self.points = pg.ScatterPlotItem(x=[0.3, 0.6], y=[4e-4, 4.5e-4], size=9)
        self.plot.addItem(self.points)
        self.words = pg.TextItem("breakdown 9 %")
        self.plot.addItem(self.words)
        self.words.setPos(0.05, 3e-4)
        self.plot.setLabel("left", "‖<i>h</i>‖")
        self.plot.setRange(xRange=(0, 0.8), yRange=(0, 5e-4), padding=0)
        theme.style_plot(self.map)
        theme.style_plot(self.plot)
        self.words.setFont(theme.font(theme.AXIS_PX))
        self.recolour()
        theme.theme().changed.connect(self.recolour)

    def recolour(self) -> None:
        self.softmax.setPen(theme.softmax_pen())
        self.points.setPen(theme.pen(theme.RPC))
        self.points.setBrush(theme.clean_brush(theme.RPC))
        self.words.setColor(theme.scheme().text)

    @property
    def panel(self) -> Panel:
        return Panel(self.widget.ci, "Both, for Ω")


def settle() -> None:
    for _ in range(4):
        QApplication.processEvents()


def pixels(data: bytes) -> np.ndarray:
    """Return (rows, columns, 3) from any bitmap."""
    read = QImage.fromData(data).convertToFormat(QImage.Format.Format_RGB32)
    return as_array(read)


def as_array(picture: QImage) -> np.ndarray:
    rows = np.frombuffer(picture.constBits(), np.uint8).reshape(picture.height(), -1, 4)
    return rows[:, : picture.width(), 2::-1].astype(int)


def run(*command: str | Path, data: bytes = b"") -> bytes:
    tool = shutil.which(str(command[0]))
    if tool is None:
        pytest.skip(f"{command[0]} is not installed")
    return subprocess.run([tool, *map(str, command[1:])], input=data, capture_output=True, check=True).stdout


def rasterised(kind: str, data: bytes, dpi: int = 200) -> np.ndarray:
    """Return what another program draws of a file."""
    if kind == "png":
        return pixels(data)
    if kind == "pdf":
        return pixels(run("pdftoppm", "-r", str(dpi), "-png", "-", data=data))
    return pixels(run("rsvg-convert", "-d", str(dpi), "-p", str(dpi), data=data))


WRITERS: dict[str, Callable[[Sequence[Panel], Figure, About], bytes]] = {"png": png, "pdf": pdf, "svg": svg}
EACH = pytest.mark.parametrize("kind", WRITERS)


def cell_corners(drawn: np.ndarray) -> tuple[int, int, int, int]:
    """Return the rectangle of the heat map, found by its darkest cells: −1 at bottom left, 1 at top right."""
    low, high = (np.array(color_of(value)) for value in (-1.0, 1.0))
    rows, columns = np.nonzero(np.abs(drawn - low).max(-1) <= 2)
    upper, rights = np.nonzero(np.abs(drawn - high).max(-1) <= 2)
    return upper.min(), rows.max() + 1, columns.min(), rights.max() + 1


def color_of(value: float) -> tuple[int, int, int]:
    return theme.diverging_map().map([(value + 1) / 2])[0][:3].tolist()
