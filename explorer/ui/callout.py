"""A card that points at a part of the window, and a ring around that part; everything else goes on."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from explorer.ui.theme import scheme

WIDTH, ARROW, GAP = 320, 12, 4


class Ring(QWidget):
    """Frames what is pointed at, and lets the mouse through."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw two pixels of the accent."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(scheme().accent), 2))
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -2, -2), 4, 4)


class Callout(QWidget):
    """Says something beside a widget of its window.

    Attributes
    ----------
    next, back, skip : QPushButton, QPushButton, QToolButton

    Signals
    -------
    closed()
        By its cross or Escape.
    """

    closed = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._target: QWidget | None = None
        self._tip: QPoint | None = None
        self.ring = Ring(window)
        self.setFixedWidth(WIDTH + 2 * ARROW)
        self.title = QLabel()
        self.title.setProperty("role", "heading")
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.RichText)
        self.place = QLabel()
        self.place.setProperty("role", "secondary")
        self.skip = QToolButton()
        self.skip.setText("Skip")
        self.skip.setToolTip("End the tour; the Help menu has it again.")
        self.back, self.next = QPushButton("Back"), QPushButton("Next")
        self.next.setDefault(True)
        self.skip.clicked.connect(self.closed)
        self._lay_out()
        window.installEventFilter(self)
        self.hide()

    def _lay_out(self) -> None:
        top, bottom = QHBoxLayout(), QHBoxLayout()
        top.addWidget(self.title, 1)
        top.addWidget(self.place)
        for widget in (self.skip, self.back, self.next):
            bottom.addWidget(widget)
        bottom.insertStretch(1)
        column = QVBoxLayout(self)
        margin = ARROW + 16
        column.setContentsMargins(margin, margin, margin, margin - 4)
        column.setSpacing(8)
        column.addLayout(top)
        column.addWidget(self.text)
        column.addLayout(bottom)

    def point_at(self, target: QWidget) -> None:
        """Come up beside `target`."""
        self._target = target
        self.show()
        self._move()
        self.next.setFocus()

    def dismiss(self) -> None:
        """Go away."""
        self._target = None
        self.hide()
        self.ring.hide()

    def _move(self) -> None:
        """Stand on the side of the target that has most room, inside the window."""
        if self._target is None:
            return
        area = QRect(self._target.mapTo(self._window, QPoint()), self._target.size())
        self.ring.setGeometry(area.adjusted(-GAP, -GAP, GAP, GAP))
        self.ring.setVisible(self._target.isVisible())
        self.resize(self.width(), self.heightForWidth(self.width()) if self.hasHeightForWidth() else 0)
        size, inside = self.size(), self._window.rect()
        room = {
            "right": inside.right() - area.right(),
            "left": area.left(),
            "below": inside.bottom() - area.bottom(),
            "above": area.top(),
        }
        fits = [side for side in ("right", "left") if room[side] >= size.width()]
        fits += [side for side in ("below", "above") if room[side] >= size.height()]
        side = fits[0] if fits else max(room, key=lambda name: room[name])
        corner = {
            "right": QPoint(area.right() + GAP, area.center().y() - size.height() // 2),
            "left": QPoint(area.left() - GAP - size.width(), area.center().y() - size.height() // 2),
            "below": QPoint(area.center().x() - size.width() // 2, area.bottom() + GAP),
            "above": QPoint(area.center().x() - size.width() // 2, area.top() - GAP - size.height()),
        }[side]
        corner.setX(max(0, min(corner.x(), inside.right() - size.width())))
        corner.setY(max(0, min(corner.y(), inside.bottom() - size.height())))
        self.move(corner)
        self._tip = self.mapFrom(self._window, area.center()) if fits else None
        self.ring.raise_()
        self.raise_()
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's size."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._move()
        return False

    def event(self, event: QEvent) -> bool:
        """Close at Escape, which would else reach the window's own actions."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.KeyPress:
                self.closed.emit()
            event.accept()
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the card, with an arrow towards the target."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(scheme().accent), 1))
        painter.setBrush(QColor(scheme().raised))
        card = self.rect().adjusted(ARROW, ARROW, -ARROW, -ARROW)
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(card), 6, 6)
        if self._tip is not None:
            arrow = QPainterPath()
            arrow.addPolygon(_arrow(card, self._tip, self.size()))
            arrow.closeSubpath()
            shape = shape.united(arrow)
        painter.drawPath(shape)


def _arrow(card: QRect, tip: QPoint, size: QSize) -> QPolygonF:
    """Return a triangle on the edge of the card that faces `tip`."""
    x = float(max(card.left() + 16, min(tip.x(), card.right() - 16)))
    y = float(max(card.top() + 16, min(tip.y(), card.bottom() - 16)))
    if not card.left() <= tip.x() <= card.right():
        left = tip.x() < card.left()
        base, point = (card.left() + 1, 1) if left else (card.right(), size.width() - 1)
        return QPolygonF([QPointF(base, y - 8), QPointF(point, y), QPointF(base, y + 8)])
    above = tip.y() < card.top()
    base, point = (card.top() + 1, 1) if above else (card.bottom(), size.height() - 1)
    return QPolygonF([QPointF(x - 8, base), QPointF(x, point), QPointF(x + 8, base)])
