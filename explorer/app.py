"""The application: Qt, exception hooks, wiring; nothing else."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

from pyqtgraph.util.garbage_collector import GarbageCollector
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from explorer import __version__, fallback, logs, screen, threads
from explorer.preload import map_libraries
from explorer.runner import Evaluate, Runner
from explorer.state import State
from explorer.ui import messages, theme
from explorer.ui.compare import ComparePage, offer_pinning
from explorer.ui.evidence import EvidencePage
from explorer.ui.lab import LabPage
from explorer.ui.model_page import ModelPage
from explorer.ui.opener import Opener
from explorer.ui.overview import OverviewPage
from explorer.ui.robustness import RobustnessPage
from explorer.ui.study_page import StudyPage
from explorer.ui.window import MainWindow


def _load() -> Evaluate:
    map_libraries()
    from explorer.analysis import Evaluator

    if not gc.get_freeze_count():  # what was imported stays: a full collection need not walk through it
        gc.freeze()
    return Evaluator()


def application() -> QApplication:
    """Return the application, made and styled once."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        with screen.platform():
            app = QApplication(sys.argv[:1])
        app.setApplicationName("gramscope")
        app.setApplicationDisplayName("Gramscope")
        app.setApplicationVersion(__version__)
        theme.apply(app, theme.chosen())
    return app


def build(*, inline: bool = False) -> MainWindow:
    """Make a window and what works behind it.

    Parameters
    ----------
    inline : bool
        Compute on the calling thread; for tests.
    """
    fallback.tell_to(messages.warning)
    state = State()
    runner = Runner(state, _load, inline=inline)
    window = MainWindow(state, runner, Opener(state, inline=inline))
    for part in (state, runner, window.opener):
        part.setParent(window)
    window.add_page("Overview", partial(_overview, window, inline))
    window.add_page("Compare", partial(ComparePage, state))
    offer_pinning(window)
    window.add_page("Robustness", partial(_robustness, window, inline))
    window.add_page("Model", partial(_model, window, inline))
    window.add_page("Study", partial(_study, window, inline))
    window.add_page("Evidence", partial(_evidence, window, inline))
    _offer_report(window, window.pages.count - 1)
    window.add_page("Laboratory", partial(_laboratory, window, inline))
    _pass_tables_on(window, window.pages.count - 1)
    return window


def _evidence(window: MainWindow, inline: bool) -> EvidencePage:
    page = EvidencePage(window.state, window.runner, window.opener, inline=inline)
    page.head_opened.connect(lambda: window.pages.show_page(0))
    window.closing.connect(page.stop)
    return page


def _offer_report(window: MainWindow, place: int) -> None:
    def write() -> None:
        window.pages.show_page(place)
        page = window.pages.page(place)
        assert isinstance(page, EvidencePage)
        page.ask_where_to_report()

    window.menus.add(window.menus.file, "Write report…", write, before="Save captured heads…")


def _pass_tables_on(window: MainWindow, place: int) -> None:
    def use(path: Path) -> None:
        window.pages.show_page(place)
        page = window.pages.page(place)
        assert isinstance(page, LabPage)
        page.tables.take(path)

    window.table_dropped.connect(use)


def _model(window: MainWindow, inline: bool) -> ModelPage:
    page = ModelPage(window.state, window.runner, inline=inline)
    window.closing.connect(page.stop)
    return page


def _study(window: MainWindow, inline: bool) -> StudyPage:
    page = StudyPage(inline=inline)
    window.closing.connect(page.stop)
    return page


def _overview(window: MainWindow, inline: bool) -> OverviewPage:
    page = OverviewPage(window.state, window.runner, inline=inline)
    page.opened.connect(lambda: window.pages.show_page(0))
    window.closing.connect(page.stop)
    return page


def _robustness(window: MainWindow, inline: bool) -> RobustnessPage:
    page = RobustnessPage(window.state, window.runner, inline=inline)
    window.closing.connect(page.stop)
    return page


def _laboratory(window: MainWindow, inline: bool) -> LabPage:
    page = LabPage(window.state, inline=inline)
    window.closing.connect(page.stop)
    return page


def run(paths: Sequence[str] = ()) -> int:
    """Show the window, then open `paths` or the sample behind it; return Qt's exit status."""
    app = application()
    record = logs.start()
    restore = messages.install_hooks()
    collector = GarbageCollector()  # on this thread alone: freeing Qt's objects on another one crashes
    window = build()
    window.show()
    if record.last_crash:
        messages.warning(
            "Gramscope ended unexpectedly the last time. The trace of it is in the details.",
            record.last_crash,
        )
    begin = partial(window.workbench.begin, [Path(path) for path in paths])
    window.painted.connect(lambda: QTimer.singleShot(0, window, begin))
    try:
        status = app.exec()
    finally:
        collector.timer.stop()
        restore()
        record.stop()
    if threads.left():  # in a read that never returns, perhaps: Python could not end around it
        os._exit(status)
    return status
