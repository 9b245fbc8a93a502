"""Pictures for the web and for drawing programs: SVG, with text as text.

Qt's generator loses track of which clip belongs to what, and writes shapes in the coordinates of the data
with strokes that no transform may scale, which many viewers ignore. So each item is drawn by itself, under
the clip that it has in the scene, and its transform is applied to its coordinates (`flatten`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from xml.etree import ElementTree

from PySide6.QtCore import QBuffer, QIODevice, QRectF, Qt
from PySide6.QtGui import QPainter, QTransform
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem

from explorer.ui.exporting.figure import About, Figure, Panel
from explorer.ui.exporting.flatten import SVG, flattened, short, tag
from explorer.ui.exporting.paint import Place, below, draw_title, laid_out, screen_dpi

Element = ElementTree.Element


def svg(panels: Sequence[Panel], figure: Figure, about: About) -> bytes:
    """Return the figure as an SVG file."""
    document = _Document(figure, about)
    with laid_out(panels, figure, 1.0, vector=True) as places:
        for place in places:
            document.add(partial(draw_title, place), None)
            for item in _in_order(place):
                document.add(partial(_paint, item, place), _clip(item, place))
    return document.to_bytes()


def _in_order(place: Place) -> Iterator[QGraphicsItem]:
    """Yield the visible items of a panel, what is drawn first first."""
    mine = set(below(place.panel.item))
    for item in place.scene.items(Qt.SortOrder.AscendingOrder):
        hidden = item.flags() & QGraphicsItem.GraphicsItemFlag.ItemHasNoContents
        if item in mine and item.isVisible() and not hidden:
            yield item


def _to_layout(place: Place) -> QTransform:
    offset = place.picture.topLeft() - place.source.topLeft()
    return QTransform.fromTranslate(offset.x(), offset.y())


def _paint(item: QGraphicsItem, place: Place, painter: QPainter) -> None:
    option = QStyleOptionGraphicsItem()
    option.exposedRect = item.boundingRect()
    painter.setOpacity(item.effectiveOpacity())
    painter.setTransform(item.sceneTransform() * _to_layout(place))
    item.paint(painter, option, None)


def _clip(item: QGraphicsItem, place: Place) -> QRectF | None:
    if not item.isClipped():
        return None
    return (item.sceneTransform() * _to_layout(place)).mapRect(item.clipPath().boundingRect())


class _Document:
    def __init__(self, figure: Figure, about: About) -> None:
        size = figure.size
        view = f"0 0 {short(size.width())} {short(size.height())}"
        width, height = f"{figure.width_mm:g}mm", f"{figure.height_mm:g}mm"
        self._root = Element(
            tag("svg"), {"width": width, "height": height, "viewBox": view, "version": "1.1"}
        )
        ElementTree.SubElement(self._root, tag("title")).text = about.what
        ElementTree.SubElement(self._root, tag("desc")).text = "\n".join(about.lines())
        self._defs = ElementTree.SubElement(self._root, tag("defs"))
        fill = {"width": "100%", "height": "100%", "fill": figure.scheme.background}
        ElementTree.SubElement(self._root, tag("rect"), fill)
        self._clips: dict[tuple[str, ...], str] = {}
        self._parts = 0

    def add(self, paint: Callable[[QPainter], None], clip: QRectF | None) -> None:
        """Add what `paint` draws, in the layout's pixels, cut off outside `clip`."""
        self._parts += 1
        defs, groups = flattened(_drawn(paint), f"p{self._parts}")
        self._defs.extend(defs)
        if not groups:
            return
        parent = self._root
        if clip is not None:
            reference = {"clip-path": f"url(#{self._clip_id(clip)})"}
            parent = ElementTree.SubElement(self._root, tag("g"), reference)
        parent.extend(groups)

    def _clip_id(self, clip: QRectF) -> str:
        numbers = tuple(short(value) for value in (clip.x(), clip.y(), clip.width(), clip.height()))
        if numbers not in self._clips:
            self._clips[numbers] = f"clip{len(self._clips) + 1}"
            path = ElementTree.SubElement(self._defs, tag("clipPath"), {"id": self._clips[numbers]})
            attributes = dict(zip(("x", "y", "width", "height"), numbers, strict=True))
            ElementTree.SubElement(path, tag("rect"), attributes)
        return self._clips[numbers]

    def to_bytes(self) -> bytes:
        ElementTree.register_namespace("", SVG)
        ElementTree.indent(self._root, "")
        return ElementTree.tostring(self._root, encoding="utf-8", xml_declaration=True)


def _drawn(paint: Callable[[QPainter], None]) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(screen_dpi())
    painter = QPainter(generator)
    paint(painter)
    painter.end()
    return bytes(buffer.data().data())
