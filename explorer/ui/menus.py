"""The menus, with the platform's own shortcuts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu

from explorer.models.recipes import Recipe
from explorer.settings import settings
from explorer.ui import theme
from explorer.ui.recipe import CONTROLS, KINDS

if TYPE_CHECKING:
    from explorer.ui.window import MainWindow

Shortcut = QKeySequence.StandardKey | str | None


class Menus(QObject):
    """Builds the menu bar of a window.

    Attributes
    ----------
    sources : QMenu
        Everything that can be opened, also under the source button.
    file, edit, view, go, help : QMenu
    actions : dict of str to QAction
        By their text, for tests and for finding them.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.actions: dict[str, QAction] = {}
        self.sources = QMenu("Open")
        bar = window.menuBar()
        self.file, self.edit, self.view, self.go, self.help = (
            bar.addMenu(f"&{name}") for name in ("File", "Edit", "View", "Go", "Help")
        )
        self._file(self.file)
        self._view(self.view)
        self._go(self.go)

    def add(
        self, menu: QMenu, text: str, do: Callable[[], object], shortcut: Shortcut = None, before: str = ""
    ) -> QAction:
        """Add an action to a menu: at its end, or before the action with the text `before`."""
        action = QAction(text, self._window)
        if shortcut is not None:
            action.setShortcut(QKeySequence(shortcut))
        action.triggered.connect(lambda: do())
        menu.insertAction(self.actions.get(before), action)  # type: ignore[arg-type]
        self.actions[text] = action
        return action

    def choose_appearance(self, choice: theme.Choice) -> None:
        """Choose light, dark or the system's, as the menu does."""
        self._appearances[choice].trigger()

    def _file(self, menu: QMenu) -> None:
        window, opener = self._window, self._window.opener
        self.add(menu, "Open folder…", self._ask_folder, QKeySequence.StandardKey.Open)
        self.add(menu, "Open file…", self._ask_files, "Ctrl+Shift+O")
        menu.addSeparator()
        self.add(menu, "Sample: digits", opener.open_sample)
        synthetic = menu.addMenu("Synthetic data")
        for label, kind in KINDS:
            self.add(synthetic, label, partial(window.open_recipe, Recipe(kind=kind)))
        controls = menu.addMenu("Controls: values that are V*, or are not")
        for label, recipe in CONTROLS:
            self.add(controls, label, partial(window.open_recipe, recipe))
        self.sources.addActions(menu.actions())
        menu.addSeparator()
        self.add(menu, "Export figure…", lambda: window.exports.ask(), "Ctrl+E")
        self.add(menu, "Save captured heads…", window.ask_where_to_save_heads)
        self.add(menu, "Copy figure", lambda: window.exports.copy(), "Ctrl+Shift+C")
        menu.addSeparator()
        self.add(menu, "Quit", window.close, "Ctrl+Q")

    def _ask_folder(self) -> None:
        self._ask(QFileDialog.FileMode.Directory, "Open a checkpoint's folder")

    def _ask_files(self) -> None:
        self._ask(QFileDialog.FileMode.ExistingFiles, "Open a checkpoint")

    def _ask(self, mode: QFileDialog.FileMode, title: str) -> None:
        dialog = QFileDialog(self._window, title)
        dialog.setFileMode(mode)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(
            lambda names: self._window.opener.open_paths([Path(name) for name in names])
        )
        dialog.open()

    def add_page(self, title: str, show: Callable[[], object], place: int) -> QAction:
        """Add a page to the top of the View menu, with Alt and its number."""
        before = self.view.actions()[place]
        action = self.add(self.view, title, show, f"Alt+{place + 1}")
        action.setCheckable(True)
        self._pages.addAction(action)
        self.view.insertAction(before, action)
        return action

    def show_page(self, place: int) -> None:
        """Check the page that is shown."""
        self._pages.actions()[place].setChecked(True)

    def _view(self, menu: QMenu) -> None:
        self._pages = QActionGroup(self)
        menu.addSeparator()
        for panel in self._window.explore.panels.values():
            menu.addAction(panel.toggleViewAction())
        self.add(menu, "Reset layout", self._window.explore.reset_layout)
        menu.addSeparator()
        self._appearance(menu.addMenu("Appearance"))

    def _appearance(self, menu: QMenu) -> None:
        group = QActionGroup(self)
        self._appearances: dict[theme.Choice, QAction] = {}
        chosen = theme.chosen()
        choices: tuple[tuple[str, theme.Choice], ...]
        choices = ("As the system", "system"), ("Light", "light"), ("Dark", "dark")
        for label, choice in choices:
            action = self.add(menu, label, partial(self._set_appearance, choice))
            action.setCheckable(True)
            action.setChecked(choice == chosen)
            group.addAction(action)
            self._appearances[choice] = action

    @staticmethod
    def _set_appearance(choice: theme.Choice) -> None:
        settings().setValue("appearance", choice)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, choice)

    def _go(self, menu: QMenu) -> None:
        bar = lambda: self._window.bar  # noqa: E731 - the bar is made after the menus
        self.add(menu, "Next head", lambda: bar().head.stepUp(), "Ctrl+Right")
        self.add(menu, "Previous head", lambda: bar().head.stepDown(), "Ctrl+Left")
        self.add(menu, "Next layer", lambda: bar().layer.stepUp(), "Ctrl+Up")
        self.add(menu, "Previous layer", lambda: bar().layer.stepDown(), "Ctrl+Down")
        self.add(menu, "Next input", lambda: bar().sample.stepUp(), "Ctrl+PgDown")
        self.add(menu, "Previous input", lambda: bar().sample.stepDown(), "Ctrl+PgUp")
        menu.addSeparator()
        self.add(menu, "Select nothing", lambda: self._window.state.select(frozenset()), "Escape")
