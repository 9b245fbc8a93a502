"""Draws the icon: the Gram matrix of two clusters of keys, and the eigenvector that tells them apart.

Run `python resources/icon/make.py` from a checkout; it writes icon.svg, .png, .ico and .icns beside itself.
"""

import os
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pyqtgraph as pg
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

HERE = Path(__file__).parent
PAPER, CURVE = "#1B1E23", "#FFFFFF"
SIZE, MARGIN, CELLS = 512, 72, 6
SIZES = (16, 24, 32, 48, 64, 128, 256, 512, 1024)


def gram() -> np.ndarray:
    """Return exp(k·k') of six keys on a circle, in two clusters."""
    angle = np.deg2rad([-18, 0, 22, 118, 140, 160])
    keys = 0.9 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.exp(keys @ keys.T)


def svg() -> str:
    """Return the mark: cells in viridis, the centred Gram's first eigenvector across them."""
    matrix = gram()
    centring = np.eye(CELLS) - 1 / CELLS
    vector = np.linalg.eigh(centring @ matrix @ centring)[1][:, -1]
    vector *= np.sign(vector[-1])
    shade = (matrix - matrix.min()) / np.ptp(matrix)
    colours = pg.colormap.get("viridis").map(0.08 + 0.84 * shade.ravel(), mode="qcolor")
    step = (SIZE - 2 * MARGIN) / CELLS
    cells = "".join(
        f'<rect x="{MARGIN + step * (index % CELLS) + 3:.1f}" y="{MARGIN + step * (index // CELLS) + 3:.1f}" '
        f'width="{step - 6:.1f}" height="{step - 6:.1f}" rx="8" fill="{colour.name()}"/>'
        for index, colour in enumerate(colours)
    )
    points = [
        (MARGIN + step * (index + 0.5), SIZE / 2 - value / np.abs(vector).max() * step * 1.9)
        for index, value in enumerate(vector)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    stroke = f'fill="none" stroke-linejoin="round" stroke-linecap="round" points="{line}"'
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="20" fill="{CURVE}"/>' for x, y in points)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE}" height="{SIZE}" viewBox="0 0 {SIZE} {SIZE}">'
        f'<rect x="24" y="24" width="{SIZE - 48}" height="{SIZE - 48}" rx="96" fill="{PAPER}"/>{cells}'
        f'<polyline {stroke} stroke="{PAPER}" stroke-width="34"/><polyline {stroke} stroke="{CURVE}" '
        f'stroke-width="16"/>{dots}</svg>\n'
    )


def drawn(source: bytes, size: int) -> Image.Image:
    """Return the mark as pixels."""
    image = QImage(size, size, QImage.Format.Format_RGBA8888)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(source).render(painter)
    painter.end()
    return Image.frombytes("RGBA", (size, size), bytes(image.constBits()))


if __name__ == "__main__":
    application = QGuiApplication([])
    text = svg()
    (HERE / "icon.svg").write_text(text)
    images = [drawn(text.encode(), size) for size in SIZES]
    images[SIZES.index(512)].save(HERE / "icon.png")
    largest = images[SIZES.index(256)]
    largest.save(HERE / "icon.ico", append_images=images[:-3], sizes=[(size, size) for size in SIZES[:-2]])
    images[-1].save(HERE / "icon.icns", append_images=images[:-1])
