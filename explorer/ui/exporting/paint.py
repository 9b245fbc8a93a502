"""Lays panels out at a figure's size and draws them, leaving the screen as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QGuiApplication,
    QImage,
    QPaintDevice,
    QPainter,
    QTransform,
)
from PySide6.QtWidgets import (
    QApplication,
    QGraphicsItem,
    QGraphicsScene,
    QGraphicsWidget,
    QStyleOptionGraphicsItem,
)

from explorer.errors import GramscopeError
from explorer.ui import theme
from explorer.ui.exporting.figure import Figure, Panel

MOST_PAINTS = 10
SMALLEST_CELL = 40
FINEST_CELL = 4
LARGEST_SIDE = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """A panel laid out: `title` and `picture` are rectangles in the figure's layout.

    Attributes
    ----------
    scene : QGraphicsScene
        The panel's own.
    source : QRectF
        Where the panel lies in its scene, as large as `picture`.
    """

    panel: Panel
    title: QRectF
    picture: QRectF
    scene: QGraphicsScene
    source: QRectF


def screen_dpi() -> int:
    """Return the resolution that a vector device must have: recorded pictures are replayed relative to it."""
    return round(QGuiApplication.primaryScreen().logicalDotsPerInchX())


@contextmanager
def laid_out(panels: Sequence[Panel], figure: Figure, scale: float, vector: bool) -> Iterator[list[Place]]:
    """Give `panels` the sizes, the scheme and the line widths that the figure asks for, for a while.

    Parameters
    ----------
    scale : float
        Device pixels per pixel of the layout.
    vector : bool
        Whether the file keeps shapes: heat maps are then enlarged by whole factors, so that a viewer that
        smooths does not blur their cells.

    Raises
    ------
    GramscopeError
        There is no panel, or no room for them.
    """
    if not panels:
        raise GramscopeError("There is no picture to export yet. Open a model or the sample first.")
    cells = figure.cells(list(panels))
    if any(min(picture.width(), picture.height()) < SMALLEST_CELL for _, picture in cells):
        raise GramscopeError("The figure is too small for its panels. Make it larger, or its type smaller.")
    places = []
    with ExitStack() as stack:
        stack.enter_context(theme.theme().using(figure.scheme, scale))
        for panel, (title, picture) in zip(panels, cells, strict=True):
            scene = panel.item.scene()
            assert scene is not None, "a panel's item must be in a scene"
            stack.enter_context(_resized(panel.item, scene, picture))
            stack.enter_context(_exporting(panel.item, scale))
            stack.enter_context(_enlarged_images(panel.item, vector))
            places.append(Place(panel, title, picture, scene, panel.item.sceneBoundingRect()))
        yield places


def draw(device: QPaintDevice, panels: Sequence[Panel], figure: Figure, vector: bool) -> None:
    """Draw `panels` over the whole of `device`.

    Raises
    ------
    GramscopeError
        As `laid_out`; or the device refuses.
    """
    layout = figure.size
    with laid_out(panels, figure, device.width() / layout.width(), vector) as places:
        painter = QPainter()
        if not painter.begin(device):
            raise GramscopeError("The picture could not be drawn at this size. Make it smaller.")
        hints = QPainter.RenderHint
        painter.setRenderHints(hints.Antialiasing | hints.TextAntialiasing | hints.LosslessImageRendering)
        painter.scale(device.width() / layout.width(), device.height() / layout.height())
        try:
            painter.fillRect(QRectF(0, 0, layout.width(), layout.height()), QColor(figure.scheme.background))
            for place in places:
                draw_title(place, painter)
                place.scene.render(painter, place.picture, place.source, _EXACTLY)
        finally:
            painter.end()


_EXACTLY = Qt.AspectRatioMode.IgnoreAspectRatio


def draw_title(place: Place, painter: QPainter) -> None:
    """Draw a panel's title, shortened where it is too long."""
    if not place.panel.title:
        return
    font = theme.font(theme.BODY_PX, theme.Weight.Medium)
    width = place.title.width()
    text = QFontMetricsF(font).elidedText(place.panel.title, Qt.TextElideMode.ElideRight, width)
    painter.setFont(font)
    painter.setPen(QColor(theme.scheme().text))
    painter.drawText(place.title, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, text)


@contextmanager
def _resized(item: QGraphicsWidget, scene: pg.GraphicsScene, cell: QRectF) -> Iterator[None]:
    before = item.geometry()
    item.setGeometry(QRectF(before.topLeft(), cell.size()))
    try:
        _settle(item, scene)
        yield
    finally:
        item.setGeometry(before)


def _settle(item: QGraphicsWidget, scene: pg.GraphicsScene) -> None:
    """Paint the axes, which find the width of their numbers so, until nothing moves any more."""
    parts = [part for part in below(item) if isinstance(part, QGraphicsWidget)]
    axes = [part for part in parts if isinstance(part, pg.AxisItem) and part.isVisible()]
    nowhere = QImage(1, 1, QImage.Format.Format_RGB32)
    for _ in range(MOST_PAINTS):
        before = [part.geometry() for part in parts]
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        scene.prepareForPaint()
        painter = QPainter(nowhere)
        for axis in axes:
            axis.paint(painter, QStyleOptionGraphicsItem(), None)
        painter.end()
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        if [part.geometry() for part in parts] == before:
            return


def below(item: QGraphicsItem) -> Iterator[QGraphicsItem]:
    """Yield an item and everything in it."""
    yield item
    for child in item.childItems():
        yield from below(child)


@contextmanager
def _exporting(item: QGraphicsItem, scale: float) -> Iterator[None]:
    """Let items draw for a file: symbols as shapes, not cached bitmaps, and legends as large as the rest."""
    items = [part for part in below(item) if hasattr(part, "setExportMode")]
    fixed = [part for part in below(item) if part.flags() & _FIXED and _is_only_moved(part)]
    try:
        for part in items:
            part.setExportMode(True, {"antialias": True, "resolutionScale": scale})
        for part in fixed:
            part.setFlag(_FIXED, False)
        yield
    finally:
        for part in items:
            part.setExportMode(False)
        for part in fixed:
            part.setFlag(_FIXED, True)


_FIXED = QGraphicsItem.GraphicsItemFlag.ItemIgnoresTransformations


def _is_only_moved(item: QGraphicsItem) -> bool:
    parent = item.parentItem()
    kinds = QTransform.TransformationType
    return parent is None or parent.sceneTransform().type() in (kinds.TxNone, kinds.TxTranslate)


@contextmanager
def _enlarged_images(item: QGraphicsItem, wanted: bool) -> Iterator[None]:
    images = [part for part in below(item) if isinstance(part, pg.ImageItem)] if wanted else []
    images = [image for image in images if image.image is not None and image.isVisible()]
    originals = [_enlarge(image) for image in images]
    try:
        yield
    finally:
        for image, original in zip(images, originals, strict=True):
            image.qimage = original


def _enlarge(item: pg.ImageItem) -> QImage:
    """Repeat each cell of a heat map a whole number of times, on the same rectangle; return the original."""
    item.render()
    original = item.qimage
    shown = item.sceneTransform().mapRect(item.boundingRect())
    columns, rows = original.width(), original.height()
    across, down = _times(shown.width(), columns), _times(shown.height(), rows)
    item.qimage = original.scaled(columns * across, rows * down)
    return original


def _times(pixels: float, cells: int) -> int:
    """Return how often to repeat a cell: until a smoothing viewer blurs a quarter of a pixel only."""
    return max(1, min(-(-int(FINEST_CELL * pixels) // cells), LARGEST_SIDE // cells))
