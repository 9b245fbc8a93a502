"""Figures without a window: the same views, off the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication

from explorer.state import State
from explorer.ui import export
from explorer.ui.explore import PANELS
from explorer.views.picture import Picture

if TYPE_CHECKING:
    from explorer.result import Result

T = TypeVar("T", bound=Picture)


def write_figure(
    result: Result,
    panel: str,
    path: Path,
    width_mm: float | None = None,
    height_mm: float | None = None,
    dpi: float | None = None,
) -> None:
    """Draw a result as the window would, and write it.

    Parameters
    ----------
    panel : str
        A view's name, or "figure" for all.
    path : Path
        Its ending names the format.
    width_mm, height_mm, dpi : float, optional
        None: what suits as many panels.

    Raises
    ------
    GramscopeError
        As `explorer.ui.export.save`.
    """
    state = State()
    with off_screen([kind(state) for kind in PANELS if panel in ("figure", kind.name)]) as views:
        state.show(result)
        QApplication.processEvents()
        figure = export.default_figure(views)
        figure = replace(
            figure,
            width_mm=width_mm or figure.width_mm,
            height_mm=height_mm or figure.height_mm,
            dpi=dpi or figure.dpi,
        )
        export.save(views, path, figure)


@contextmanager
def off_screen(views: Sequence[T]) -> Iterator[Sequence[T]]:
    """Lay panels out as if they were shown, for the time of the context."""
    for view in views:
        view.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        view.resize(QSize(560, 360))
        view.show()
    try:
        yield views
    finally:
        for view in views:
            view.close()
            view.deleteLater()
