"""Sizes that figures commonly have: a paper's column, its full width, a slide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from explorer.ui.exporting.figure import Figure, rows_of

Preset = Literal["one column", "two columns", "slide"]
PRESETS: tuple[Preset, ...] = get_args(Preset)


@dataclass(frozen=True, slots=True)
class Page:
    """What a preset fixes; its height grows with the rows of panels where `row_mm` says so.

    Attributes
    ----------
    width_mm, dpi, font_pt : float
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

    A column is 89 mm and a page 183 mm wide, as in many journals; type is 6 to 7 pt, the least that they
    print. A slide is 13⅓ × 7½ inches.
    """
    page = _PAGES[preset]
    columns = min(page.columns, max(len(wide), 1))
    rows = max(len(rows_of(wide, columns)), 1)
    height = min(page.row_mm * rows, page.height_mm) if page.row_mm else page.height_mm
    return replace(
        like or Figure(),
        width_mm=page.width_mm, height_mm=height, dpi=page.dpi, font_pt=page.font_pt, columns=columns,
    )  # fmt: skip
