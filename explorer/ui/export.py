"""Export of panels: what to draw, in which format, into a file or onto the clipboard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from PySide6.QtGui import QGuiApplication, QImage

from explorer.errors import GramscopeError
from explorer.settings import atomic_write
from explorer.ui.exporting.figure import About, Figure, Numbers, Panel, rows_of
from explorer.ui.exporting.numbers import count, encode
from explorer.ui.exporting.pdf import pdf
from explorer.ui.exporting.raster import image, png
from explorer.ui.exporting.svg import svg
from explorer.views.picture import Picture

Format = Literal["png", "svg", "pdf", "csv", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)
MOST_COPIED = 1_000_000
"""Numbers that a clipboard takes without trouble."""


def export_bytes(views: Sequence[Picture], kind: Format, figure: Figure | None = None) -> bytes:
    """Return what a file of the panels would hold: one picture of all, or the numbers behind each.

    Raises
    ------
    GramscopeError
        No panel shows anything yet, or the figure cannot be drawn at its size.
    """
    if kind in ("csv", "json"):
        return encode(numbers(views), kind)
    shown = _shown(views)
    write = {"png": png, "svg": svg, "pdf": pdf}[kind]
    figure = figure or default_figure(shown)
    return write(_panels(shown, figure), figure, _about(shown))


def save(views: Sequence[Picture], path: Path, figure: Figure | None = None) -> None:
    """Write the panels to `path`, whole or not at all, in the format that its ending names.

    Raises
    ------
    GramscopeError
        As `export_bytes`; the ending is unknown; or the system refuses.
    """
    atomic_write(path, export_bytes(views, format_of(path), figure))


def format_of(path: Path) -> Format:
    """Return the format that a file's ending names.

    Raises
    ------
    GramscopeError
        None does.
    """
    for kind in FORMATS:
        if path.suffix.lower() == f".{kind}":
            return kind
    endings = ", ".join(f".{kind}" for kind in FORMATS)
    raise GramscopeError(f"“{path.name}” names no format. End it in one of {endings}.")


def copy_picture(views: Sequence[Picture], figure: Figure | None = None) -> None:
    """Put a picture of the panels on the clipboard.

    Raises
    ------
    GramscopeError
        As `export_bytes`.
    """
    QGuiApplication.clipboard().setImage(drawn(views, figure))


def drawn(views: Sequence[Picture], figure: Figure | None = None) -> QImage:
    """Return a picture of the panels.

    Raises
    ------
    GramscopeError
        As `export_bytes`.
    """
    shown = _shown(views)
    figure = figure or default_figure(shown)
    return image(_panels(shown, figure), figure)


def copy_numbers(views: Sequence[Picture]) -> None:
    """Put the numbers behind the panels on the clipboard, as CSV.

    Raises
    ------
    GramscopeError
        No panel shows anything yet, or there are too many numbers.
    """
    parts = numbers(views)
    if count(parts) > MOST_COPIED:
        raise GramscopeError(
            f"These are {count(parts) / 1e6:.0f} million numbers, too many for the clipboard. Export the "
            "panel as CSV."
        )
    QGuiApplication.clipboard().setText(encode(parts, "csv").decode())


def numbers(views: Sequence[Picture]) -> list[Numbers]:
    """Return the numbers behind the panels as they are now, to be written by `encode` on any thread.

    Raises
    ------
    GramscopeError
        No panel shows anything yet.
    """
    return [Numbers(_about([view]), view.table()) for view in _shown(views)]


def default_figure(views: Sequence[Picture]) -> Figure:
    """Return a size that suits as many panels: one column of a paper for one, its full width for more."""
    if len(views) == 1:
        return Figure(width_mm=120.0, height_mm=90.0, columns=1)
    rows = rows_of([view.wide for view in views], 2)
    return Figure(width_mm=240.0, height_mm=90.0 * len(rows))


def _shown(views: Sequence[Picture]) -> list[Picture]:
    shown = [view for view in views if view.result is not None]
    if not shown:
        raise GramscopeError("There is no picture to export yet. Open a model or the sample first.")
    return shown


def _panels(views: list[Picture], figure: Figure) -> list[Panel]:
    return [Panel(view.canvas.ci, view.title if figure.titles else "", view.wide) for view in views]


def _about(views: list[Picture]) -> About:
    return About.of(views[0].provenance(), ", ".join(view.title for view in views))
