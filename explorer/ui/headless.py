"""Figures without a window: the same views, off the screen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication

from explorer.state import State
from explorer.ui import export
from explorer.ui.explore import PANELS

if TYPE_CHECKING:
    from explorer.result import Result


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
    views = [kind(state) for kind in PANELS if panel in ("figure", kind.name)]
    for view in views:
        view.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        view.resize(QSize(560, 360))
        view.show()
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
    for view in views:
        view.close()
        view.deleteLater()
