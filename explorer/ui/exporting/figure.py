"""What an export is of, how large, and what it says about itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, QSizeF
from PySide6.QtWidgets import QGraphicsWidget

from explorer import __version__
from explorer.ui.theme import AXIS_PX, GRID, LIGHT, Scheme

if TYPE_CHECKING:
    from explorer.views.picture import Provenance, Table

MM_PER_INCH, PT_PER_INCH, SCREEN_DPI = 25.4, 72.0, 96.0
MARGIN, GAP, TITLE = GRID, 2 * GRID, 3 * GRID


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture of a figure.

    Attributes
    ----------
    item : QGraphicsWidget
        A plot or a layout of plots, in a scene of its own.
    title : str
        Drawn above it; empty: none.
    wide : bool
        Whether it takes a whole row.
    """

    item: QGraphicsWidget
    title: str = ""
    wide: bool = False


def rows_of(wide: Sequence[bool], columns: int) -> list[list[int]]:
    """Return the panels of each row, in order: `columns` side by side, but a wide one alone."""
    rows: list[list[int]] = []
    for index, alone in enumerate(wide):
        if not rows or alone or len(rows[-1]) == columns or wide[rows[-1][0]]:
            rows.append([])
        rows[-1].append(index)
    return rows


@dataclass(frozen=True, slots=True)
class Figure:
    """Size and look of a picture, whatever the screen.

    Attributes
    ----------
    width_mm, height_mm : float
    dpi : float
        Pixels per inch, for PNG.
    font_pt : float
        The size of the axes' type; everything else, lines too, keeps its proportion to it.
    scheme : Scheme
        White paper unless another is chosen.
    columns : int
        Panels side by side.
    titles : bool
        Whether each panel's title stands above it.
    """

    width_mm: float = 180.0
    height_mm: float = 120.0
    dpi: float = 300.0
    font_pt: float = AXIS_PX * PT_PER_INCH / SCREEN_DPI
    scheme: Scheme = LIGHT
    columns: int = 2
    titles: bool = True

    @classmethod
    def of_pixels(cls, width: int, height: int, dpi: float = SCREEN_DPI, scheme: Scheme = LIGHT) -> Figure:
        """Return a figure that is `width` × `height` pixels as PNG, with the type as large as on a screen."""
        pt = AXIS_PX * PT_PER_INCH / dpi
        return cls(width / dpi * MM_PER_INCH, height / dpi * MM_PER_INCH, dpi, pt, scheme)

    @property
    def points(self) -> QSizeF:
        """The size in points, 1/72 inch."""
        return QSizeF(self.width_mm, self.height_mm) * (PT_PER_INCH / MM_PER_INCH)

    @property
    def size(self) -> QSizeF:
        """The size in pixels of the layout, of which `AXIS_PX` are `font_pt`."""
        return self.points * (AXIS_PX / self.font_pt)

    @property
    def pixels(self) -> QSize:
        """The size of the PNG."""
        size = QSizeF(self.width_mm, self.height_mm) * (self.dpi / MM_PER_INCH)
        return QSize(max(1, round(size.width())), max(1, round(size.height())))

    def cells(self, panels: list[Panel]) -> list[tuple[QRectF, QRectF]]:
        """Return, for each panel, the places of its title and of its picture, in the layout's pixels."""
        columns = min(self.columns, len(panels))
        rows = rows_of([panel.wide for panel in panels], columns)
        whole = self.size.width() - 2 * MARGIN
        narrow = (whole - (columns - 1) * GAP) / columns
        height = (self.size.height() - 2 * MARGIN - (len(rows) - 1) * GAP) / len(rows)
        above = TITLE if any(panel.title for panel in panels) else 0
        places = []
        for row, indices in enumerate(rows):
            for column, index in enumerate(indices):
                width = whole if panels[index].wide else narrow
                left, top = MARGIN + column * (width + GAP), MARGIN + row * (height + GAP)
                picture = QRectF(left, top + above, width, height - above)
                places.append((QRectF(left, top, width, above), picture))
        return places


@dataclass(frozen=True, slots=True)
class About:
    """What a file says about where its contents come from.

    Attributes
    ----------
    what : str
        Of what it is: the titles of the panels.
    source : str
    params : str
        Every parameter, as JSON.
    computed : str
        Device and dtype.
    version : str
    """

    what: str
    source: str = ""
    params: str = "{}"
    computed: str = ""
    version: str = __version__

    @classmethod
    def of(cls, provenance: Provenance, what: str) -> About:
        """Return what there is to say of a picture with this provenance."""
        params = json.dumps(provenance.params, ensure_ascii=False)
        return cls(what, provenance.source, params, provenance.computed)

    def lines(self) -> list[str]:
        """Return it as lines of text."""
        return [
            f"Gramscope {self.version}",
            f"of: {self.what}",
            f"source: {self.source}",
            f"parameters: {self.params}",
            f"computed: {self.computed}",
        ]


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers behind one panel.

    Attributes
    ----------
    about : About
    table : (list of str, list of columns)
        Names, and as many columns of equal length: ndarrays or lists of str.
    """

    about: About
    table: Table
