"""Pictures for print: PDF, with shapes as shapes, embedded type and exact colours."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QSizeF
from PySide6.QtGui import QPageSize, QPdfWriter

from explorer.ui.exporting.figure import About, Figure, Panel
from explorer.ui.exporting.paint import draw, screen_dpi

_XMP = """<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">{title}</rdf:li></rdf:Alt></dc:title>
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">{description}</rdf:li></rdf:Alt></dc:description>
<xmp:CreatorTool>{tool}</xmp:CreatorTool>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end='w'?>"""


def pdf(panels: Sequence[Panel], figure: Figure, about: About) -> bytes:
    """Return the figure as a PDF file of one page, its size rounded to whole points."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(screen_dpi())
    points = QSizeF(figure.points.toSize())
    exact = QPageSize.SizeMatchPolicy.ExactMatch
    writer.setPageSize(QPageSize(points, QPageSize.Unit.Point, "", exact))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    tool = f"Gramscope {about.version}"
    writer.setTitle(about.what)
    writer.setCreator(tool)
    fields = {"title": about.what, "description": "\n".join(about.lines()), "tool": tool}
    metadata = _XMP.format(**{name: escape(text) for name, text in fields.items()})
    writer.setDocumentXmpMetadata(QByteArray(metadata.encode()))
    draw(writer, panels, figure, vector=True)
    return bytes(buffer.data().data())
