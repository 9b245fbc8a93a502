"""The window's side of exporting: where to, with what said afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from explorer.errors import GramscopeError
from explorer.ui import export
from explorer.ui.messages import info, report
from explorer.views.picture import Picture

FILTERS = {
    "PNG picture (*.png)": ".png",
    "SVG drawing (*.svg)": ".svg",
    "PDF document (*.pdf)": ".pdf",
    "CSV numbers (*.csv)": ".csv",
    "JSON numbers (*.json)": ".json",
}


class Exports(QObject):
    """Asks where to, writes, and tells what was done.

    Parameters
    ----------
    window : QWidget
        Above which the dialog appears.
    views : callable
        Gives all panels; those that are visible are the whole figure.
    """

    def __init__(self, window: QWidget, views: Callable[[], Sequence[Picture]]) -> None:
        super().__init__(window)
        self._window = window
        self._views = views

    def ask(self, views: Sequence[Picture] | None = None) -> None:
        """Ask for a file and write the panels (None: the figure of all) to it."""
        dialog = QFileDialog(self._window, "Export")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setNameFilters(list(FILTERS))
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(FILTERS[chosen]))
        dialog.setDefaultSuffix(".png")
        dialog.selectFile("figure" if views is None else views[0].name)
        dialog.fileSelected.connect(lambda name: self.try_save(views, Path(name)))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def save(self, views: Sequence[Picture] | None, path: Path) -> None:
        """Write the panels to `path`.

        Raises
        ------
        GramscopeError
            As `explorer.ui.export.save`.
        """
        export.save(self._shown(views), path)

    def try_save(self, views: Sequence[Picture] | None, path: Path) -> None:
        """Write the panels to `path`, and tell that it was done or why not."""
        try:
            self.save(views, path)
        except GramscopeError as error:
            report(error)
        else:
            info(f"Saved {path.name} in {path.parent}.")

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
        return [view for view in self._views() if view.isVisible()] if views is None else views
