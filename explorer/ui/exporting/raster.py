"""Pictures made of pixels: PNG, and the image that is copied."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage, QImageWriter

from explorer.errors import GramscopeError
from explorer.ui.exporting.figure import MM_PER_INCH, About, Figure, Panel
from explorer.ui.exporting.paint import draw

MOST_PIXELS = 200_000_000


def image(panels: Sequence[Panel], figure: Figure) -> QImage:
    """Return the figure as pixels.

    Raises
    ------
    GramscopeError
        It would have more than `MOST_PIXELS`, or there is nothing to draw.
    """
    size = figure.pixels
    if size.width() * size.height() > MOST_PIXELS:
        raise GramscopeError(
            f"A picture of {size.width()} × {size.height()} pixels is too large. Lower its size or its DPI, "
            "or export SVG or PDF."
        )
    result = QImage(size, QImage.Format.Format_RGB32)
    result.fill(figure.scheme.background)
    draw(result, panels, figure, vector=False)
    per_metre = round(figure.dpi / MM_PER_INCH * 1000)
    result.setDotsPerMeterX(per_metre)
    result.setDotsPerMeterY(per_metre)
    return result


def png(panels: Sequence[Panel], figure: Figure, about: About) -> bytes:
    """Return the figure as a PNG file that says its physical size and where it comes from."""
    picture = image(panels, figure)
    picture.setText("Title", about.what)
    picture.setText("Software", f"Gramscope {about.version}")
    picture.setText("Description", "\n".join(about.lines()))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not QImageWriter(buffer, QByteArray(b"PNG")).write(picture):
        raise GramscopeError("The picture could not be written as PNG. Try SVG or PDF.")
    return bytes(buffer.data().data())
