"""Pictures of widgets as arrays."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QColor, QImage


def pixels(widget):
    """Return what a widget shows, (height, width, 3)."""
    return array(widget.grab().toImage())


def array(image):
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def count(picture, colour, tolerance=24):
    """Return how many pixels have nearly this colour."""
    wanted = np.array(QColor(colour).getRgb()[:3])
    return int((np.abs(picture.astype(int) - wanted).max(-1) <= tolerance).sum())
