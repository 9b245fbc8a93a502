"""Sessions in the window: save, open, keep while working, bring back after a crash."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from explorer.errors import GramscopeError
from explorer.lab import stored
from explorer.session import SUFFIX, Options, Session, dump, load
from explorer.settings import directory
from explorer.tasks import Progress, ShouldStop
from explorer.ui import theme
from explorer.ui.autosave import Autosave, left_behind
from explorer.ui.lab import LabPage
from explorer.ui.lab_state import remember, remembered
from explorer.ui.messages import info, offer, report
from explorer.ui.pins import Pins, pin_of
from explorer.ui.recents import Recents
from explorer.views.picture import Picture

if TYPE_CHECKING:
    from explorer.ui.window import MainWindow

READING = "read a session"
"""The errand's key: of two sessions, and of a session and a checkpoint, the one asked for last is opened."""
FILTER = f"Gramscope session (*{SUFFIX})"


def last_session() -> Path:
    """Return where the session is kept that was on screen when the program last closed."""
    return directory("data") / f"last{SUFFIX}"


class Sessions(QObject):
    """Ties sessions, their files and the list of recent ones to a window.

    Attributes
    ----------
    path : Path or None
        The file that `save` writes to; None: it asks.
    recents : Recents
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._opening: Session | None = None
        self.path: Path | None = None
        self._path_opening: Path | None = None
        self._waiting: Options = {}
        self.recents = Recents(window)
        self.recents.chosen.connect(self.open_paths)
        self._autosave = Autosave(self.snapshot, self)
        self.pins = Pins(window)
        window.opener.opened.connect(self._on_opened)
        window.opener.failed.connect(self._on_failed)
        window.opener.task.running_changed.connect(self._on_opening)
        window.pages.made.connect(self._on_page)

    def _on_opening(self, running: bool) -> None:
        if running:
            self._window.errands.cancel(READING)

    def snapshot(self) -> Session | None:
        """Return what is on screen; None while nothing is open."""
        window, state = self._window, self._window.state
        if state.source is None:
            return None
        page = window.findChild(LabPage)
        shown = {view.name: view.options() for view in window.views if view.options()}
        return Session(
            origin=window.opener.origin,
            params=state.params,
            selection=state.selection,
            options={**self._waiting, **shown},
            layout=window.explore.layout_state(),
            theme=theme.chosen(),
            laboratory=stored.write(remembered() if page is None else page.state.setting),
            pin=None if state.reference is None else pin_of(state.reference),
        )

    def save(self) -> None:
        """Write the session to its file, or ask for one."""
        if self.path is None:
            self.ask_save()
        else:
            self.save_to(self.path)

    def ask_save(self) -> None:
        """Ask for a file and write the session to it."""
        dialog = self._dialog("Save the session", QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(SUFFIX)
        dialog.selectFile(f"session{SUFFIX}" if self.path is None else str(self.path))
        dialog.fileSelected.connect(lambda name: self.save_to(Path(name)))
        dialog.open()

    def save_to(self, path: Path) -> None:
        """Write the session to `path`, and tell that it was done or why not."""
        session = self.snapshot()
        if session is None:
            report(GramscopeError("There is nothing to save yet. Open a model or the sample first."))
            return
        path = path.absolute()

        def saved() -> None:
            self.path = path
            self.recents.add([str(path)])
            info(f"Saved {path.name} in {path.parent}.")

        self._window.errands.write({path: dump(session, path.parent)}, saved)

    def ask_open(self) -> None:
        """Ask for a session and open it."""
        dialog = self._dialog("Open a session", QFileDialog.AcceptMode.AcceptOpen)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda name: self.open(Path(name)))
        dialog.open()

    def _dialog(self, title: str, mode: QFileDialog.AcceptMode) -> QFileDialog:
        dialog = QFileDialog(self._window, title)
        dialog.setAcceptMode(mode)
        dialog.setNameFilter(FILTER)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return dialog

    def open_paths(self, paths: list[Path]) -> None:
        """Open a session, or a checkpoint."""
        if paths[0].suffix == SUFFIX:
            self.open(paths[0])
        else:
            self._window.opener.open_paths(paths)

    def open(self, path: Path) -> None:
        """Open a session, its source first, and save to the same file from then on; what is wrong is told."""
        self._open(path, path)

    def open_last(self) -> None:
        """Open what was on screen when the program last closed."""
        self._open(last_session(), None)

    def offer_recovery(self) -> None:
        """Offer the session of a run that never closed; it is kept as the last one."""
        found = left_behind()
        if not found:
            return
        found[0].replace(last_session())
        for path in found[1:]:
            path.unlink(missing_ok=True)
        offer("Gramscope did not close properly last time.", "Restore the session", self.open_last)

    def _open(self, path: Path, save_to: Path | None) -> None:
        def read(progress: Progress, should_stop: ShouldStop) -> Session:
            session = load(path, should_stop)
            stored.read(session.laboratory or {})
            return session

        def done(session: Session) -> None:
            self._opening, self._path_opening = session, save_to
            self._window.opener.open(session.origin, session.params)

        def failed(error: Exception) -> None:
            self.recents.remove([str(path.absolute())])
            report(error)

        self._window.errands.run(READING, f"Reading {path.name}", read, done, failed)

    def _on_opened(self) -> None:
        session, path = self._opening, self._path_opening
        self._opening = self._path_opening = self.path = None
        origin = self._window.opener.origin
        if session is None or session.params is not self._window.state.params:
            paths = origin.paths
        else:
            self._restore(session)
            self.path = path
            paths = () if path is None else (str(path.absolute()),)
        if paths:
            self.recents.add(paths)

    def _on_failed(self) -> None:
        self._opening = self._path_opening = None

    def _restore(self, session: Session) -> None:
        window = self._window
        window.state.select(session.selection)
        self._waiting = session.options
        self._on_page(window)
        if session.layout:
            window.explore.restore_layout(session.layout)
        window.menus.choose_appearance(session.theme)
        if session.laboratory is not None:
            page = window.findChild(LabPage)
            (remember if page is None else page.state.begin_at)(stored.read(session.laboratory))
        self.pins.restore(session.pin)

    def _on_page(self, page: QWidget) -> None:
        """Give the panels of a page, made by now, what the session says of them; the others' waits."""
        views = page.findChildren(Picture)
        for view in views:
            view.set_options(same_kinds(view.options(), self._waiting.get(view.name, {})))
        there = {view.name for view in views}
        self._waiting = {name: kept for name, kept in self._waiting.items() if name not in there}

    def close(self) -> None:
        """Keep the session for the next start; nothing is left to recover."""
        session = self.snapshot()
        if session is not None:
            try:
                path = last_session()
            except GramscopeError as error:
                report(error)
            else:
                self._window.errands.write({path: dump(session, path.parent)}, lambda: None)
        self._autosave.close()


def same_kinds(present: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return of `wanted` what a view has, where the value is of the kind that the view's own is."""
    return {key: value for key, value in wanted.items() if key in present and _alike(value, present[key])}


def _alike(value: Any, present: Any) -> bool:
    if isinstance(value, list) and isinstance(present, list) and present:
        return {type(item) for item in value} <= {type(item) for item in present}
    return type(value) is type(present)
