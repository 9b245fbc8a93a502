"""Sizes that figures commonly have: a paper's column, its full width, a slide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from explorer.ui.exporting.figure import GAP, MARGIN, MM_PER_INCH, PT_PER_INCH, Figure, rows_of
from explorer.ui.theme import AXIS_PX

Preset = Literal["one column", "two columns", "slide"]
PRESETS: tuple[Preset, ...] = get_args(Preset)


ROW_PX = 290
"""Height of a row, in pixels of which the type takes `AXIS_PX`, in which the lowest panel is legible."""
LEAST_PT = 5.0
KEYS_MM = 18.0
"""More height for rows of one column where several plots stand side by side: their keys break into lines."""
CROWD = 4
"""More panels on a slide stand in three columns."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a preset fixes; its height grows with the rows of panels where `row_mm` says so.

    Attributes
    ----------
    width_mm, dpi : float
    font_pt : float
        The size of type, or the most that it may be: it gets smaller where many rows share a page.
    columns : int
        Panels side by side, at most.
    row_mm : float
        Height of a row of panels; 0: all rows share `height_mm`.
    height_mm : float
        The height, or the most that it may be.
    """

    width_mm: float
    dpi: float
    font_pt: float
    columns: int
    row_mm: float
    height_mm: float


_PAGES: dict[Preset, Page] = {
    "one column": Page(width_mm=89, dpi=600, font_pt=6, columns=1, row_mm=62, height_mm=234),
    "two columns": Page(width_mm=183, dpi=600, font_pt=7, columns=2, row_mm=66, height_mm=234),
    "slide": Page(width_mm=338.7, dpi=144, font_pt=12, columns=2, row_mm=0, height_mm=190.5),
}


def preset_figure(preset: Preset, wide: Sequence[bool], like: Figure | None = None) -> Figure:
    """Return the figure of a preset for panels, each wide or not; colours and titles are those of `like`.

    A column is 89 mm and a page 183 mm wide, as in many journals; type is 5 to 7 pt, the least that they
    print. A slide is 13⅓ × 7½ inches.
    """
    page = _PAGES[preset]
    most = page.columns + (preset == "slide" and len(wide) > CROWD)
    columns = min(most, max(len(wide), 1))
    rows = max(len(rows_of(wide, columns)), 1)
    row_mm = page.row_mm + (KEYS_MM if page.columns == 1 and any(wide) else 0.0)
    height = min(row_mm * rows, page.height_mm) if page.row_mm else page.height_mm
    pixels = ROW_PX * rows + GAP * (rows - 1) + 2 * MARGIN
    fitting = height / MM_PER_INCH * PT_PER_INCH * AXIS_PX / pixels
    font_pt = round(min(page.font_pt, max(fitting, LEAST_PT)), 1)
    return replace(
        like or Figure(),
        width_mm=page.width_mm, height_mm=height, dpi=page.dpi, font_pt=font_pt, columns=columns,
    )  # fmt: skip
