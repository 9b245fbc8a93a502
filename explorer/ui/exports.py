"""The window's side of exporting: where to, with what said afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QWidget

from explorer.errors import GramscopeError
from explorer.settings import atomic_write
from explorer.tasks import Progress, ShouldStop
from explorer.ui import export
from explorer.ui.errands import Errands
from explorer.ui.exporting.figure import Figure, Numbers
from explorer.ui.exporting.numbers import PER_SECOND, count, encode
from explorer.ui.figure_dialog import FigureDialog
from explorer.ui.messages import info, report
from explorer.views.picture import Picture

ROW = 100
"""Panels whose upper edges differ by less stand in one row."""


class Exports(QObject):
    """Asks where to, writes, and tells what was done.

    Parameters
    ----------
    window : QWidget
        Above which the dialog appears.
    errands : Errands
        Write the files.
    views : callable
        Gives all panels; those that are visible are the whole figure.
    """

    def __init__(self, window: QWidget, errands: Errands, views: Callable[[], Sequence[Picture]]) -> None:
        super().__init__(window)
        self._window, self._errands = window, errands
        self._views = views

    def ask(self, views: Sequence[Picture] | None = None) -> None:
        """Let the person compose a figure of this page, at first of `views` (None: all in sight)."""
        offered = sorted((view for view in self._views() if view.isVisible()), key=self._place)
        if not any(view.result is not None for view in offered):
            report(GramscopeError("There is no picture to export yet. Open a model or the sample first."))
            return
        dialog = FigureDialog(self._window, offered, self._shown(views))
        dialog.save_asked.connect(self.try_save)
        dialog.copied.connect(info)
        dialog.open()

    def save(self, views: Sequence[Picture] | None, path: Path, figure: Figure | None = None) -> None:
        """Write the panels to `path`.

        Raises
        ------
        GramscopeError
            As `explorer.ui.export.save`.
        """
        export.save(self._shown(views), path, figure)

    def try_save(self, views: Sequence[Picture] | None, path: Path, figure: Figure | None = None) -> None:
        """Write the panels to `path`, and tell that it was done or why not."""
        try:
            kind, shown = export.format_of(path), self._shown(views)
            if kind in ("csv", "json"):
                self._write_numbers(export.numbers(shown), kind, path)
            else:
                self._errands.write_and_tell({path: export.export_bytes(shown, kind, figure)})
        except GramscopeError as error:
            report(error)

    def _write_numbers(self, parts: Sequence[Numbers], kind: str, path: Path) -> None:
        def work(progress: Progress, should_stop: ShouldStop) -> str:
            atomic_write(path, encode(parts, kind, progress, should_stop), should_stop)
            return f"Saved {path.name} in {path.parent}."

        many = count(parts)
        what = f"Writing {path.name}" + (f" ({many / 1e6:.0f} million numbers)" if many > 1e6 else "")
        self._errands.run(str(path.absolute()), what, work, info, seconds=many / PER_SECOND)

    def copy(self, views: Sequence[Picture] | None = None) -> None:
        """Put a picture on the clipboard."""
        try:
            export.copy_picture(self._shown(views))
        except GramscopeError as error:
            report(error)
        else:
            info("The picture is on the clipboard.")

    def copy_numbers(self, views: Sequence[Picture] | None = None) -> None:
        """Put the numbers on the clipboard."""
        try:
            export.copy_numbers(self._shown(views))
        except GramscopeError as error:
            report(error)
        else:
            info("The numbers are on the clipboard, as CSV.")

    def _shown(self, views: Sequence[Picture] | None) -> Sequence[Picture]:
        if views is not None:
            return views
        return sorted(filter(_is_in_sight, self._views()), key=self._place)

    def _place(self, view: Picture) -> tuple[bool, int, int]:
        """Return where a panel stands in reading order, row by row; behind another one's tab: last."""
        at = view.mapTo(self._window, QPoint())
        return not _is_in_sight(view), at.y() // ROW, at.x()


def _is_in_sight(view: Picture) -> bool:
    """Whether a panel is shown and not behind the tab of another one."""
    return view.isVisible() and not view.visibleRegion().isEmpty()
