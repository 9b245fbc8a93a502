"""What makes the window a place to work in: undo, sessions, palette, help, tour, and what is remembered."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QComboBox, QLineEdit, QSlider, QWidget

from explorer.errors import GramscopeError
from explorer.history import History, history_of
from explorer.script import HEAD, Program, script
from explorer.session import read_layout
from explorer.settings import settings
from explorer.ui.definitions import DEFINITIONS
from explorer.ui.explain import HelpWindow
from explorer.ui.health import HealthPanel
from explorer.ui.messages import info, report
from explorer.ui.pages import ALL, about_page, definition_of, definition_page, symbols_page
from explorer.ui.palette import Palette
from explorer.ui.sessions import Sessions
from explorer.ui.shortcuts import show_shortcuts
from explorer.ui.tour import Tour
from explorer.views.picture import Picture

if TYPE_CHECKING:
    from explorer.ui.window import MainWindow

log = logging.getLogger(__name__)

Standard = QKeySequence.StandardKey


class FieldKeys(QObject):
    """Settles which keys are a field's own, and which the window's.

    A field undoes what is being typed and nothing else; Ctrl+arrows stay the window's, but for a field of
    words; Home is the field's.
    """

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Decide who gets a key that is also a shortcut."""
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        if event.key() == Qt.Key.Key_Home:
            event.accept()
            return True
        field = watched if isinstance(watched, QLineEdit) else watched.findChild(QLineEdit)
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        declined = field is not None and (
            (event.matches(Standard.Undo) and not field.isUndoAvailable())
            or (event.matches(Standard.Redo) and not field.isRedoAvailable())
            or (control and field is not watched and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right))
        )
        if declined:
            event.ignore()
        return declined


class Workbench(QObject):
    """Adds itself to a window: its menus, its panels, its memory.

    Attributes
    ----------
    history : History or None
        Of the page that is shown: its own `history` where it has that attribute (None: nothing on it can be
        undone), else that of the explorer's parameters.
    sessions : Sessions
    palette : Palette
    tour : Tour
    help : HelpWindow
    health : HealthPanel
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._explored = history_of(window.state, self)
        self.sessions = Sessions(window)
        self.palette = Palette(window)
        self.tour = Tour(window)
        self.health = HealthPanel(window.state)
        self.help = self._make_help()
        self._file()
        self._edit()
        self._view()
        self._go()
        self._help()
        self._keys = FieldKeys(self)
        self._watch_fields(window, self._explored)
        self._remember()

    def begin(self, paths: Sequence[Path]) -> None:
        """Open `paths` or the sample; offer what a crash left, and the tour to who never saw it."""
        self.sessions.offer_recovery()
        if paths:
            self.sessions.open_paths(list(paths))
        elif self.tour.was_seen():
            self._window.opener.open_sample()
        else:
            self.tour.start()

    def close(self) -> None:
        """Keep the session and where everything is for the next start."""
        self.sessions.close()
        self.help.close()
        store = settings()
        store.setValue("window/geometry", self._window.saveGeometry())
        places = {name: asdict(place) for name, place in self._window.explore.layout_state().items()}
        store.setValue("window/layout", json.dumps(places))

    def furnish(self, page: QWidget) -> None:
        """Give a page that was just made what the others have: undo and keys of its fields, help."""
        history = self._history_of(page)
        self._watch_fields(page, history)
        if history is not None and history is not self._explored:
            history.changed.connect(self._show_history)

    @property
    def history(self) -> History | None:
        """What undo and redo act on."""
        pages = self._window.pages
        return self._history_of(pages.page(pages.place))

    def _history_of(self, page: QWidget) -> History | None:
        history: History | None = getattr(page, "history", self._explored)
        return history

    def explain(self, view: Picture) -> None:
        """Open help at a panel's page."""
        self.help.open_at(definition_of(view).title)

    def _remember(self) -> None:
        store = settings()
        geometry = store.value("window/geometry")
        if isinstance(geometry, QByteArray):
            self._window.restoreGeometry(geometry)
        try:
            layout = read_layout(json.loads(str(store.value("window/layout", "{}"))))
        except (ValueError, GramscopeError) as error:
            log.warning("the remembered layout is left alone: %s", error)
        else:
            self._window.explore.restore_layout(layout)

    def _watch_fields(self, root: QWidget, history: History | None) -> None:
        for kind in (QAbstractSpinBox, QComboBox, QSlider, QLineEdit):
            for field in root.findChildren(kind):
                field.installEventFilter(self._keys)
        if history is None:
            return
        for slider in root.findChildren(QSlider):
            slider.sliderPressed.connect(history.begin)
            slider.sliderReleased.connect(history.end)

    def _file(self) -> None:
        menus, sessions = self._window.menus, self.sessions
        first = "Sample: digits"
        for menu in (menus.file, menus.sources):
            before = menus.actions[first]
            menu.insertMenu(before, sessions.recents.menu)
            menu.insertSeparator(before)
        add = partial(menus.add, menus.file, before="Export figure…")
        add("Open session…", sessions.ask_open, "Ctrl+Alt+O")
        add("Save session", sessions.save, Standard.Save)
        add("Save session as…", sessions.ask_save, Standard.SaveAs)
        add("Reopen last session", sessions.open_last)
        menus.file.insertSeparator(menus.actions["Export figure…"])

    def _edit(self) -> None:
        menus = self._window.menus
        self._undo = menus.add(menus.edit, "Undo", self._take_back, Standard.Undo)
        self._redo = menus.add(menus.edit, "Redo", self._bring_back)
        self._redo.setShortcuts([QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")])
        menus.edit.addSeparator()
        menus.add(menus.edit, "Copy as Python", self._copy_script, "Ctrl+Alt+C")
        self._explored.changed.connect(self._show_history)
        self._window.pages.changed.connect(self._show_history)
        self._show_history()

    def _take_back(self) -> None:
        if self.history is not None:
            self.history.undo()

    def _bring_back(self) -> None:
        if self.history is not None:
            self.history.redo()

    def _show_history(self) -> None:
        history = self.history
        undoes, redoes = ("", "") if history is None else (history.undoes, history.redoes)
        for action, word, what in ((self._undo, "Undo", undoes), (self._redo, "Redo", redoes)):
            action.setText(f"{word} {what}" if what else word)
            action.setEnabled(bool(what))

    def _copy_script(self) -> None:
        try:
            text = self._script()
        except GramscopeError as error:
            report(error)
            return
        QGuiApplication.clipboard().setText(text)
        info("A Python program that computes these numbers is on the clipboard.")

    def _script(self) -> str:
        """Return the shown page's own script, where it has one, else what it computes of the source."""
        state, pages = self._window.state, self._window.pages
        page = pages.page(pages.place)
        own: Callable[[], str] | None = getattr(page, "script", None)
        if own is not None:
            return own()
        if state.source is None:
            raise GramscopeError("There is nothing to copy yet. Open a model or the sample first.")
        program: Callable[[], Program] = getattr(page, "program", lambda: HEAD)
        return script(self._window.opener.origin, state.params, state.source.name, program())

    def _view(self) -> None:
        menus, explore = self._window.menus, self._window.explore
        dock = explore.add_aside("health", "Numerical health", self.health, "spectrum")
        toggle = dock.toggleViewAction()
        toggle.triggered.connect(lambda on: dock.raise_() if on else None)
        menus.view.insertAction(menus.actions["Reset layout"], toggle)
        menus.view.insertSeparator(menus.actions["Reset layout"])
        menus.add(menus.view, "Reset views", self.home, "Home", before="Reset layout")
        palette = menus.add(menus.view, "Command palette…", self.palette.open, before="Reset layout")
        palette.setShortcuts([QKeySequence("Ctrl+K"), QKeySequence("Ctrl+Shift+P")])
        self.health.help_asked.connect(lambda: self.help.open_at(DEFINITIONS["health"].title))

    def home(self) -> None:
        """Bring every plot back to its whole picture."""
        for view in self._window.views:
            view.fit()

    def _go(self) -> None:
        menus = self._window.menus
        add = partial(menus.add, menus.go, before="Select nothing")
        add("Select next token", partial(self._select_token, 1), "Alt+Right")
        add("Select previous token", partial(self._select_token, -1), "Alt+Left")
        add("Add next token", partial(self._select_token, 1, True), "Alt+Shift+Right")
        add("Add previous token", partial(self._select_token, -1, True), "Alt+Shift+Left")

    def _select_token(self, step: int, extend: bool = False) -> None:
        """Select the token beside the selection, or the first or last one where nothing is selected."""
        state = self._window.state
        if state.result is None:
            return
        places = state.result.positions.tolist()
        rows = [row for row, place in enumerate(places) if place in state.selection]
        edge = max(rows, default=-1) if step > 0 else min(rows, default=len(places))
        token = frozenset({places[min(max(edge + step, 0), len(places) - 1)]})
        state.select(state.selection | token if extend else token)

    def _make_help(self) -> HelpWindow:
        window = HelpWindow(self._window)
        for definition in ALL.values():
            window.add(definition.title, partial(definition_page, definition))
        window.add("Symbols", symbols_page)
        window.add("About Gramscope", about_page)
        return window

    def _help(self) -> None:
        menus = self._window.menus
        add = partial(menus.add, menus.help)
        add("Help", self._help_here, Standard.HelpContents)
        add("Tour", self.tour.start)
        add("Keyboard shortcuts", partial(show_shortcuts, self._window), "Ctrl+/")
        menus.help.addSeparator()
        for view in self._window.explore.views:
            add(f"About “{view.title}”", partial(self.explain, view))
        add("Symbols", partial(self.help.open_at, "Symbols"))
        menus.help.addSeparator()
        add("About Gramscope", partial(self.help.open_at, "About Gramscope"))

    def _help_here(self) -> None:
        """Open help at the panel that has the keyboard, or at the first one."""
        views = [view for view in self._window.views if view.isVisible()] or self._window.explore.views
        inside: QWidget | None = QApplication.focusWidget()
        while inside is not None and not isinstance(inside, Picture):
            inside = inside.parentWidget()
        self.explain(inside if isinstance(inside, Picture) else views[0])
