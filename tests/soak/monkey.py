"""Works a window at random, the least worked part first, and keeps count of what it touched."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialog,
    QDockWidget,
    QFileDialog,
    QWidget,
)

from explorer.ui.commands import commands
from explorer.ui.window import MainWindow
from tests.soak import parts
from tests.soak.hands import Hands
from tests.soak.parts import Sight, command_name, named, watch

Act = Callable[[], object]
BRINGS = ("drop", "scene", "page")
"""Acts that bring another source or page."""
FLEETING = (
    "QCheckBox: All checkpoints of the series",
    "QPushButton: Cancel",
    "QToolButton: Cancel",
    "QToolButton: Stop",
    "QPushButton: Next",
    "QPushButton: Back",
)
"""What other acts, or time, take away."""
MOST_AT_ONCE, MOST_CHOICES = 200, 8
ENDS = ("File › Quit",)
"""Commands that would end the work."""


class Monkey:
    """Chooses an act among all that are possible now, by how seldom each was chosen.

    Attributes
    ----------
    touched : Counter of str
        How often each command, control, drop, page and view was worked.
    """

    def __init__(
        self, window: MainWindow, drops: Mapping[str, Sequence[Path]], scenes: Mapping[str, Act], seed: int
    ) -> None:
        self._window = window
        self._scenes = scenes
        self._drops = drops
        self._random = random.Random(seed)
        self._hands = Hands(window, self._random)
        self._busy = False
        window.runner.busy_changed.connect(self._on_busy)
        self.touched: Counter[str] = Counter()

    def _on_busy(self, busy: bool) -> None:
        self._busy = busy

    def step(self) -> str:
        """Do one thing and let the window answer; return what it was."""
        acts = self._in_dialog() or self._in_window()
        names = sorted(acts)
        new = [name for name in names if not self.touched[name] or name in self._hands.unfinished]
        leads = sorted(self._pages_with_new().intersection(names)) if self._random.random() < 0.1 else []
        if leads:
            return self._do(acts, self._random.choice(leads))
        if new and self._random.random() < 0.5:
            return self._do(acts, self._random.choice(new))
        return self._do(acts, self._random.choices(names, [1 / (1 + self.touched[n]) ** 2 for n in names])[0])

    def touch(self, name: str) -> None:
        """Work the thing in sight that has this name."""
        self._do(self._in_window(), name)

    def missing(self) -> list[str]:
        """Return what there is to touch in the window as it is now, visible or not, and never was touched."""
        window, row, sight = self._window, self._window.pages.row, Sight(self._window)
        shown = [one for one in commands(window) if one.action.isVisible() and one.path not in ENDS]
        everything = {
            *map(command_name, shown),
            *(f"drop: {what}" for what in self._drops),
            *(f"page: {row.tabText(i)}" for i in range(window.pages.count)),
            *(named(widget) for widget in [*sight.controls, *sight.views] if parts.is_own(widget)),
        }
        return sorted(everything - self.touched.keys())

    def sweep(self, patience: float) -> None:
        """Go through every scene, drop, page and panel, touch what chance has left out, and try every choice.

        A choice or a switch can bring further fields into sight; these come first.

        Parameters
        ----------
        patience : float
            How long to wait at each place, in seconds, for what it computes.
        """
        turned: Counter[str] = Counter()
        for name in [f"scene: {what}" for what in self._scenes] + [f"drop: {what}" for what in self._drops]:
            parts.close_dialogs()
            self._window.state.update(device="auto")
            self.touch(name)
            self._rest(patience)
            self._finish(self._window.pages.place, turned)
            for place in range(self._window.pages.count):
                self.touch(f"page: {self._window.pages.row.tabText(place)}")
                self._finish(place, turned)
                for show in self._panels():
                    show()
                    self._finish(place, turned)

    def seek(self, patience: float) -> None:
        """Go once more to every place for what is missing, as long as something is."""
        for bring in self._brought().values():
            if not self.missing():
                return
            parts.close_dialogs()
            self._window.state.update(device="auto")
            bring()
            self._rest(patience)
            for place in range(self._window.pages.count):
                self.touch(f"page: {self._window.pages.row.tabText(place)}")
                self._rest(patience)
                for show in self._panels():
                    show()
                    self._finish(place, None)

    def _panels(self) -> Iterator[Act]:
        """Yield what raises each panel and each tab of the page, and first what leaves all as it is."""
        sight = Sight(self._page())
        yield lambda: None
        for dock in sight.docks:
            yield partial(_raise, dock)
        for row in sight.tabs:
            for i in range(row.count()):
                yield partial(row.setCurrentIndex, i)

    def _rest(self, patience: float) -> None:
        """Wait until nothing opens, however long that takes, and then, within `patience`, for the picture."""
        watch(0.05)
        while any("opening" in thread.name for thread in threading.enumerate()):
            watch(0.05)
        waited = 0.0
        while self._busy and waited < patience:
            watch(0.05)
            waited += 0.05

    def _finish(self, place: int, turned: Counter[str] | None) -> None:
        """Touch what is in sight and new; then every choice of lists and switches, counted by `turned`."""
        for _ in range(MOST_AT_ONCE):
            acts = self._in_dialog() or self._in_window()
            untouched = [name for name in acts if not self.touched[name] and not name.startswith(BRINGS)]
            new = sorted(untouched, key=self._urgency)
            if not new and turned is not None:
                new = [name for name, count in sorted(self._choices().items()) if turned[name] < count]
            if not new:
                return
            if turned is not None:
                turned[new[0]] += 1
            self._do(acts, new[0])
            parts.close_dialogs()
            self._window.pages.show_page(place)

    @staticmethod
    def _urgency(name: str) -> int:
        later = len(FLEETING) + (not name.startswith("command: Edit"))
        return FLEETING.index(name) if name in FLEETING else later

    def _choices(self) -> dict[str, int]:
        """Return how many choices each list and each switch in sight has."""
        return {
            named(control): min(control.count(), MOST_CHOICES) if isinstance(control, QComboBox) else 2
            for control in Sight(self._page()).usable
            if isinstance(control, QComboBox)
            or (isinstance(control, QAbstractButton) and control.isCheckable())
        }

    def _do(self, acts: Mapping[str, Act], name: str) -> str:
        acts[name]()
        self.touched[name] += 1
        for _ in range(3):
            QApplication.processEvents()
        if self._random.random() < 0.1:
            watch(0.2)
        return name

    def _page(self) -> QWidget:
        return self._window.pages.page(self._window.pages.place)

    def _pages_with_new(self) -> set[str]:
        pages = self._window.pages
        return {
            f"page: {pages.row.tabText(i)}"
            for i in range(pages.count)
            if any(not self.touched[named(widget)] for widget in Sight(pages.page(i)).controls)
        }

    def _in_dialog(self) -> dict[str, Act]:
        dialog = parts.asked_first()
        if dialog is None:
            return {}
        close: dict[str, Act] = {f"close {type(dialog).__name__}": dialog.close}
        if isinstance(dialog, QFileDialog) or not isinstance(dialog, QDialog) or self._random.random() < 0.2:
            return close
        return close | {
            f"in {type(dialog).__name__}: {named(control)}": partial(self._hands.work, control)
            for control in Sight(dialog).usable
        }

    def _brought(self) -> dict[str, Act]:
        return {f"scene: {what}": scene for what, scene in self._scenes.items()} | {
            f"drop: {what}": partial(self._hands.drop, paths) for what, paths in self._drops.items()
        }

    def _in_window(self) -> dict[str, Act]:
        window, hands, sight = self._window, self._hands, Sight(self._window)
        acts: dict[str, Act] = {
            command_name(command): command.action.trigger
            for command in commands(window)
            if command.path not in ENDS and command.action.isEnabled()
        }
        acts |= self._brought()
        acts |= {f"panel: {dock.windowTitle()}": partial(_raise, dock) for dock in sight.docks}
        acts |= {
            f"tabs: {row.accessibleName() or row.tabText(0)}": partial(hands.turn, row) for row in sight.tabs
        }
        acts |= {
            f"page: {window.pages.row.tabText(i)}": partial(window.pages.row.setCurrentIndex, i)
            for i in range(window.pages.count)
        }
        acts |= {named(view): partial(hands.point, view) for view in sight.views if view.isVisible()}
        acts |= {named(control): partial(hands.work, control) for control in sight.usable}
        return acts | {"keys": hands.press, "size": hands.resize}


def _raise(dock: QDockWidget) -> None:
    dock.show()
    dock.raise_()
