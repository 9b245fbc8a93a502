"""The page that measures how accurate classifiers stay under contamination."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QPlainTextEdit, QSplitter, QWidget

from explorer.errors import GramscopeError
from explorer.settings import directory
from explorer.streams import ShouldStop, Stream
from explorer.study.script import script
from explorer.study.table import comparisons
from explorer.study.words import sentences
from explorer.ui.messages import report
from explorer.ui.panel import Panel
from explorer.ui.robustness import paced
from explorer.ui.study_controls import StudyControls, Wanted
from explorer.ui.study_table import StudyTable
from explorer.views.picture import Picture
from explorer.views.study import StudyView

if TYPE_CHECKING:
    from explorer.study.run import Step

PACE_S = 0.5
MOST_IMAGES = 500
"""Taken of a folder of images."""


class StudyPage(QWidget):
    """Choices, the curves, the table, and what the comparisons say.

    Answers are kept in the cache: a study that was cancelled, or whose page was left, goes on from there.

    Parameters
    ----------
    inline : bool
        Compute on the calling thread; for tests.

    Attributes
    ----------
    controls : StudyControls
    study : StudyView
    table : StudyTable
    says : QPlainTextEdit
    panels : dict of str to Panel
    history : None
        Nothing here is undone, nor what cannot be seen here.
    of_source : bool
        False: what the window says of the opened source does not belong here.
    """

    history = None
    of_source = False

    def __init__(self, *, inline: bool = False) -> None:
        super().__init__()
        self.controls, self.study, self.table = StudyControls(), StudyView(), StudyTable()
        self.says = QPlainTextEdit()
        self.says.setReadOnly(True)
        self.says.setAccessibleName("What the comparisons say")
        self.says.setPlaceholderText("What the comparisons say stands here once all seeds are done.")
        self.panels = {self.study.name: Panel(self.study)}
        self._lay_out()
        self._left: Wanted | None = None
        self._wanted: Wanted | None = None
        self._stream = Stream("study", inline=inline, parent=self)
        self._stream.item.connect(self._show)
        self._stream.failed.connect(self._fail)
        self._stream.finished.connect(self._finish)
        self._stream.running_changed.connect(self.study.working)
        self._stream.running_changed.connect(self.controls.working)
        self.controls.started.connect(self.start)
        self.controls.cancelled.connect(self.cancel)

    @property
    def views(self) -> list[Picture]:
        """The views of all panels."""
        return [self.study]

    def _lay_out(self) -> None:
        docks = QMainWindow()
        docks.setWindowFlags(Qt.WindowType.Widget)
        docks.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.panels[self.study.name])
        below = QSplitter(Qt.Orientation.Horizontal)
        below.addWidget(self.table)
        below.addWidget(self.says)
        whole = QSplitter(Qt.Orientation.Vertical)
        whole.addWidget(docks)
        whole.addWidget(below)
        whole.setSizes([600, 260])
        below.setSizes([620, 380])
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.controls)
        row.addWidget(whole, 1)

    def start(self, wanted: Wanted) -> None:
        """Study what is wanted, from where it was left."""
        self._wanted = wanted

        def produce(should_stop: ShouldStop) -> Iterator[tuple[Step, list[str]]]:
            from explorer.study.models import models_of
            from explorer.study.plan import Setting, Swap
            from explorer.study.run import steps
            from explorer.units import Store

            if not wanted.kinds:
                raise GramscopeError("No kind of contamination is chosen. Tick one at least.")
            setting = Setting(
                models_of(wanted.paths, Swap() if wanted.swap else None), wanted.data,
                MOST_IMAGES if wanted.data else None, wanted.kinds, seeds=wanted.seeds, steps=wanted.steps,
            )  # fmt: skip
            store = Store(directory("cache") / "study")
            for step in paced(steps(setting, store, should_stop), PACE_S):
                yield step, sentences(comparisons(step.answers))

        self._stream.run(produce)

    def cancel(self) -> None:
        """Leave off; what is done stays."""
        self._wanted = None
        self._stream.cancel()

    def is_complete(self) -> bool:
        """Whether a study was carried through."""
        return self._wanted is None and self.study.result is not None

    def script(self) -> str:
        """Return a Python program that makes the study that is shown.

        Raises
        ------
        GramscopeError
            If none is.
        """
        if self.study.result is None:
            raise GramscopeError("Nothing is studied yet. Begin a study first.")
        return script(self.study.result.setting)

    def stop(self) -> None:
        """Stop, and wait for it."""
        self._stream.close()

    def showEvent(self, event: QShowEvent) -> None:
        """Go on with what was left."""
        super().showEvent(event)
        if self._left is not None:
            wanted, self._left = self._left, None
            self.start(wanted)

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave off while another page is shown."""
        super().hideEvent(event)
        if self._wanted is not None:
            self._left = self._wanted
            self.cancel()

    def _show(self, news: tuple[Step, list[str]]) -> None:
        step, says = news
        answers = step.answers
        self.study.show_study(answers)
        self.table.show_study(answers)
        self.says.setPlainText("\n\n".join((*answers.notes, *says)))
        self.controls.tell(len(answers.right), answers.wanted, step.name, step.left)

    def _finish(self) -> None:
        self._wanted = None

    def _fail(self, error: Exception) -> None:
        self._wanted = None
        if self.study.result is None and isinstance(error, GramscopeError):
            self.study.show_nothing(str(error))
        else:
            report(error)
