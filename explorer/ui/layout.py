"""Reads where a window's docks are, and puts them there again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar

from explorer.session import Area, Place

AREAS: dict[Area, Qt.DockWidgetArea] = {
    "left": Qt.DockWidgetArea.LeftDockWidgetArea,
    "right": Qt.DockWidgetArea.RightDockWidgetArea,
    "top": Qt.DockWidgetArea.TopDockWidgetArea,
    "bottom": Qt.DockWidgetArea.BottomDockWidgetArea,
}
SLACK = 8
"""How far docks may seem to overlap: the height of their tabs is only known nearly."""
ACROSS, DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical

Tile = tuple[QDockWidget, QRect]


def describe(window: QMainWindow) -> dict[str, Place]:
    """Return the place of every dock of a window, by its object name."""
    found: dict[str, Place] = {}
    for dock in window.findChildren(QDockWidget):
        group = _group(window, dock)
        inside = [other for other in group if window.rect().intersects(other.geometry())]
        front = inside[0] if inside else dock
        side: Area = next((name for name in AREAS if AREAS[name] == window.dockWidgetArea(dock)), "left")
        found[dock.objectName()] = Place(
            shown=dock.isFloating() or (bool(inside) and not dock.isHidden()),
            floating=dock.isFloating(),
            area=side,
            tab="" if front is dock else front.objectName(),
            x=front.x(),
            y=front.y(),
            width=front.width(),
            height=front.height() + (_tab_height(window) if len(group) > 1 else 0),
        )
    return found


def _group(window: QMainWindow, dock: QDockWidget) -> list[QDockWidget]:
    """Return a dock and those that share its place; Qt keeps all but one of them outside the window."""
    if dock.isFloating() or dock.isHidden():
        return [dock]
    others = window.tabifiedDockWidgets(dock)
    return [dock, *(other for other in others if not other.isHidden() and not other.isFloating())]


def _tab_height(window: QMainWindow) -> int:
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    return max((bar.height() for bar in window.findChildren(QTabBar, options=direct)), default=0)


def arrange(window: QMainWindow, layout: Mapping[str, Place]) -> None:
    """Put the docks where `describe` found them; docks that the layout does not name stay."""
    docks = {dock.objectName(): dock for dock in window.findChildren(QDockWidget)}
    known = {name: (docks[name], place) for name, place in layout.items() if name in docks}
    for dock, place in known.values():
        dock.setFloating(False)
        dock.setVisible(place.shown)
    settled = [pair for pair in known.values() if pair[1].shown and not pair[1].floating]
    for area in AREAS:
        tiles = [(dock, _rect(place)) for dock, place in settled if place.area == area and not place.tab]
        if tiles:
            tiles.sort(key=_from_corner)
            window.addDockWidget(AREAS[area], tiles[0][0])
            _split(window, tiles)
    own = [(dock, place) for dock, place in settled if not place.tab]
    fronts = {dock.objectName(): dock for dock, _ in own}
    for dock, place in settled:
        if place.tab in fronts:
            window.tabifyDockWidget(fronts[place.tab], dock)
    rects = [_rect(place) for _, place in own]
    window.resizeDocks([dock for dock, _ in own], [rect.width() for rect in rects], ACROSS)
    window.resizeDocks([dock for dock, _ in own], [rect.height() for rect in rects], DOWN)
    for dock, _ in own:
        dock.raise_()
    for dock, place in known.values():
        if place.shown and place.floating:
            _float(dock, _rect(place))


def hide_forgotten_tabs(window: QMainWindow) -> None:
    """Hide the rows of tabs that Qt leaves behind panels when docks are moved out of them."""
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    bars = window.findChildren(QTabBar, options=direct)
    used: set[QTabBar] = set()
    for dock in window.findChildren(QDockWidget, options=direct):
        place = dock.geometry()
        if dock.isVisible() and not dock.isFloating():
            under = [bar for bar in bars if _is_under(bar.geometry(), place)]
            used.update(under[-1:])
    for bar in bars:
        if bar not in used:
            bar.hide()


def _is_under(tabs: QRect, dock: QRect) -> bool:
    return (tabs.x(), tabs.width()) == (dock.x(), dock.width()) and abs(tabs.y() - dock.bottom() - 1) <= 1


def _rect(place: Place) -> QRect:
    return QRect(place.x, place.y, max(place.width, 1), max(place.height, 1))


def _from_corner(tile: Tile) -> int:
    """Order tiles so that the one in the upper left corner, which lies before every cut, comes first."""
    return tile[1].left() + tile[1].top()


def _split(window: QMainWindow, tiles: Sequence[Tile]) -> None:
    """Share the room of the first dock among all, by straight cuts."""
    if len(tiles) < 2:
        return
    first, second, direction = _cut(tiles)
    window.splitDockWidget(first[0][0], second[0][0], direction)
    _split(window, first)
    _split(window, second)


def _cut(tiles: Sequence[Tile]) -> tuple[Sequence[Tile], Sequence[Tile], Qt.Orientation]:
    """Return the tiles before and behind a straight line that crosses none."""
    for direction in (ACROSS, DOWN):
        across = direction == ACROSS
        inner = [rect.adjusted(SLACK, SLACK, -SLACK, -SLACK) for _, rect in tiles]
        span = [(rect.left(), rect.right()) if across else (rect.top(), rect.bottom()) for rect in inner]
        for line in sorted({end for _, end in span})[:-1]:
            if all(end <= line or begin >= line for begin, end in span):
                before = [tile for tile, (_, end) in zip(tiles, span, strict=True) if end <= line]
                behind = [tile for tile, (_, end) in zip(tiles, span, strict=True) if end > line]
                return before, behind, direction
    return tiles[:1], tiles[1:], ACROSS


def _float(dock: QDockWidget, rect: QRect) -> None:
    """Let a dock float, where a screen still is."""
    dock.setFloating(True)
    screen = QGuiApplication.screenAt(rect.center()) or QGuiApplication.primaryScreen()
    room = screen.availableGeometry()
    size = rect.size().boundedTo(room.size()).expandedTo(dock.minimumSizeHint())
    corner = QPoint(
        max(room.left(), min(rect.left(), room.right() - size.width())),
        max(room.top(), min(rect.top(), room.bottom() - size.height())),
    )
    dock.setGeometry(QRect(corner, size))
