"""A study's figure in as many formats as asked for, without a window."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from explorer.ui import export
from explorer.ui.exporting.figure import Figure
from explorer.ui.headless import off_screen
from explorer.views.study import COLUMNS, StudyView

if TYPE_CHECKING:
    from explorer.study.table import Answers

WIDTH, ROW, LEGEND = 960, 250, 72
"""Pixels of the whole, of a row of plots, and of what stands above and around them."""


def study_figure(kinds: int) -> Figure:
    """Return a figure that suits as many kinds."""
    return Figure.of_pixels(WIDTH, ROW * -(-kinds // COLUMNS) + LEGEND)


def write_study(answers: Answers, paths: Iterable[Path]) -> None:
    """Draw a study as the window does, and write it in the formats that the paths' endings name.

    Raises
    ------
    GramscopeError
        As `explorer.ui.export.save`.
    """
    with off_screen([StudyView()]) as views:
        views[0].show_study(answers)
        QApplication.processEvents()
        for path in paths:
            export.save(views, path, study_figure(len(answers.setting.kinds)))
