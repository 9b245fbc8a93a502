"""One or two lines above a plot: what the symbols mean, and what the picture says in words."""

from __future__ import annotations

from dataclasses import dataclass

import pyqtgraph as pg
from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGraphicsSceneResizeEvent

from explorer.ui.theme import AXIS_PX, GRID, font, scheme

LINE, SAMPLE = 16, 24


@dataclass(frozen=True)
class Part:
    """A phrase with, before it, the line or the symbol that it explains.

    Attributes
    ----------
    text : str
    line : QPen or None
    symbol : str
        A pyqtgraph symbol, or empty.
    pen, brush
        Of the symbol.
    """

    text: str
    line: QPen | None = None
    symbol: str = ""
    pen: QPen | None = None
    brush: QBrush | None = None

    @property
    def sample_width(self) -> float:
        """Pixels that the sample takes."""
        if self.line is not None:
            return SAMPLE + 4
        return GRID + 6 if self.symbol else 0


@dataclass(frozen=True)
class Run:
    """What of a part stands in one line.

    Attributes
    ----------
    part : Part
    text : str
    place : QPointF
        Where the line begins, its sample included.
    first : bool
        Whether the sample stands here.
    """

    part: Part
    text: str
    place: QPointF
    first: bool


class Strip(pg.GraphicsWidget):
    """Phrases that flow from left to right and break between them, those that are too long between words."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: tuple[Part, ...] = ()
        self.runs: list[Run] = []
        self.setFixedHeight(LINE)

    @property
    def text(self) -> str:
        """All phrases, as read."""
        return " · ".join(part.text for part in self.parts)

    def say(self, *parts: Part | str) -> None:
        """Show these; a plain string is a phrase without a sample."""
        said = tuple(Part(part) if isinstance(part, str) else part for part in parts if part)
        if said != self.parts:
            self.parts = said
            self._flow()
            self.update()

    def _flow(self) -> None:
        metrics = QFontMetricsF(font(AXIS_PX))
        x, y = 0.0, 0.0
        self.runs = []
        for part in self.parts:
            width = part.sample_width + metrics.horizontalAdvance(part.text)
            if x and x + width > self.width():
                x, y = 0.0, y + LINE
            lines = _lines(part.text, self.width() - part.sample_width, metrics)
            for i, line in enumerate(lines):
                self.runs.append(Run(part, line, QPointF(x, y + i * LINE), i == 0))
            y += (len(lines) - 1) * LINE
            x += part.sample_width + metrics.horizontalAdvance(lines[-1]) + 2 * GRID
        height = y + LINE
        if self.minimumHeight() != height:
            self.setFixedHeight(height)

    def resizeEvent(self, event: QGraphicsSceneResizeEvent) -> None:
        """Flow again."""
        super().resizeEvent(event)
        self._flow()

    def boundingRect(self) -> QRectF:
        """Return the strip's own rectangle."""
        return QRectF(0, 0, self.width(), self.height())

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw samples and words."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for run in self.runs:
            part, place = run.part, run.place
            if run.first:
                self._sample(painter, part, QPointF(place.x(), place.y() + LINE / 2))
            left = place.x() + part.sample_width
            rect = QRectF(left, place.y(), max(0.0, self.width() - left) + 1, LINE)
            explains = part.line is not None or bool(part.symbol)
            painter.setFont(font(AXIS_PX))
            painter.setPen(scheme().secondary if explains else scheme().text)
            painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, run.text)

    def _sample(self, painter: QPainter, part: Part, middle: QPointF) -> None:
        if part.line is not None:
            painter.setPen(part.line)
            painter.drawLine(middle, middle + QPointF(SAMPLE, 0))
        if part.symbol:
            painter.save()
            painter.translate(middle + QPointF(SAMPLE / 2 if part.line is not None else GRID / 2, 0))
            drawSymbol(
                painter, part.symbol, GRID, part.pen or QPen(Qt.PenStyle.NoPen), part.brush or QBrush()
            )
            painter.restore()


def _lines(text: str, room: float, metrics: QFontMetricsF) -> list[str]:
    """Break a phrase between words, so that each line has room; a word is never broken."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and metrics.horizontalAdvance(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
