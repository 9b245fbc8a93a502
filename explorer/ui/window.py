"""The main window: one bar, the pages, one sentence of truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QMainWindow,
    QVBoxLayout,
    QWidget,
)

from explorer.errors import GramscopeError
from explorer.models.recipes import Recipe
from explorer.params import Input
from explorer.result import Result
from explorer.runner import Runner
from explorer.state import State
from explorer.tasks import Progress, ShouldStop
from explorer.ui.controls import Controls
from explorer.ui.drop import DropZone
from explorer.ui.errands import Errands
from explorer.ui.explore import ExplorePage
from explorer.ui.exports import Exports
from explorer.ui.long_work import LongWork
from explorer.ui.menus import Menus
from explorer.ui.messages import MessageArea, info, report
from explorer.ui.opener import Opener
from explorer.ui.panel import Panel
from explorer.ui.sentence import sentence, small_print
from explorer.ui.source_bar import SourceBar
from explorer.ui.tabs import Tabs
from explorer.ui.workbench import Workbench
from explorer.views.base import NOTHING_YET
from explorer.views.picture import Picture

LINES = 2
"""Room that the sentence always has: the panels above stay where they are when it gets longer."""
NOTHING = "Drop a checkpoint here, or open the sample."


class MainWindow(QMainWindow):
    """Everything a person sees.

    Attributes
    ----------
    state : State
    runner : Runner
    opener : Opener
    explore : ExplorePage
    pages : Tabs
        The explore page first; `add_page` adds others.
    messages : MessageArea

    Signals
    -------
    painted()
        After the first paint.
    table_dropped(Path)
        A table of numbers, which no model reads.
    closing()
        Before it closes: whatever runs for a page stops now.
    """

    painted = Signal()
    table_dropped = Signal(object)
    closing = Signal()

    def __init__(self, state: State, runner: Runner, opener: Opener) -> None:
        super().__init__()
        self.state, self.runner, self.opener = state, runner, opener
        self.setWindowTitle("Gramscope")
        self.setAcceptDrops(True)
        self.resize(1280, 800)
        self.setMinimumSize(1088, 680)
        self.explore: ExplorePage = ExplorePage(state)
        self.pages = Tabs()
        self.errands = Errands(inline=self.opener.task.inline, parent=self)
        self.exports = Exports(self, self.errands, lambda: self.views)
        self.messages = MessageArea()
        self.setCentralWidget(self._centre())
        self.menus = Menus(self)
        self.bar = SourceBar(state, self.menus.sources, opener.task)
        self.addToolBar(self.bar)
        self.drop_zone = DropZone(self)
        self._painted = False
        self.pages.made.connect(self._on_page)
        self.pages.changed.connect(self.menus.show_page)
        self.pages.changed.connect(self._on_page_shown)
        self.add_page("Explore", lambda: self.explore)
        self.explore.controls.level.slider.setFocus()
        self.workbench = Workbench(self)
        self.pages.made.connect(self.workbench.furnish)
        self._connect()
        self.explore.panels["attention"].view.show_nothing(NOTHING_YET, self.menus.actions["Sample: digits"])

    @property
    def views(self) -> list[Picture]:
        """The panels of every page made so far."""
        return self.findChildren(Picture)

    def add_page(self, title: str, make: Callable[[], QWidget]) -> QAction:
        """Add a page to the row of tabs and to the View menu, and return the menu's action.

        Parameters
        ----------
        title : str
        make : callable
            Makes the page when it is first shown. Its panels are connected then; what it runs in the
            background must stop at `closing`.
        """
        place = self.pages.count
        action = self.menus.add_page(title, partial(self.pages.show_page, place), place)
        self.pages.add(title, make)
        return action

    def _centre(self) -> QWidget:
        self.sentence = QLabel(NOTHING)
        self.sentence.setObjectName("sentence")
        self.sentence.setWordWrap(True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        self.sentence.setMinimumHeight(LINES * self.sentence.fontMetrics().lineSpacing())
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.small_print = QLabel()
        self.small_print.setProperty("role", "secondary")
        self.small_print.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.notes = QLabel()
        self.notes.setObjectName("notes")
        self.notes.setWordWrap(True)
        self.notes.setProperty("role", "secondary")
        self.notes.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.notes.hide()
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.sentence)
        words.addWidget(self.notes)
        self.truth = QWidget()
        self.truth.setObjectName("truth")
        row = QHBoxLayout(self.truth)
        row.setContentsMargins(16, 8, 16, 8)
        row.addLayout(words, 1)
        row.addWidget(self.small_print)
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.messages)
        column.addWidget(self.pages, 1)
        column.addWidget(self.truth)
        return centre

    def _connect(self) -> None:
        self.state.result_changed.connect(self._on_result)
        self.runner.busy_changed.connect(self._on_busy)
        LongWork(self)
        self.opener.failed.connect(report)
        self.opener.opened.connect(self._on_opened)
        self.opener.heads_needed.connect(self._ask_heads)
        self.drop_zone.dropped.connect(self.take)

    def _on_page_shown(self, place: int) -> None:
        """Keep the sentence to pages that are of the opened source; others say what they show themselves."""
        self.truth.setVisible(getattr(self.pages.page(place), "of_source", True))

    def _on_page(self, page: QWidget) -> None:
        for panel in page.findChildren(Panel):
            panel.asked.connect(self._serve)
        for controls in page.findChildren(Controls):
            controls.recipe.changed.connect(self.open_recipe)

    def take(self, what: str, paths: Sequence[Path]) -> None:
        """Open what was dropped as a session or checkpoint, read it as the model's input, or pass it on."""
        if what == "open":
            self.workbench.sessions.open_paths(list(paths))
            return
        if what == "table":
            self.table_dropped.emit(paths[0])
            return
        source = self.state.source
        if source is None or source.kind in ("synthetic", "heads"):
            report(GramscopeError(f"{paths[0].name} is an input. Open a model that reads one first."))
            return
        self.state.update(input=_input_of(paths), query=None)

    def _serve(self, what: str, view: Picture) -> None:
        """Explain, export or copy, as a panel's header was asked to."""
        exports = self.exports
        serve = {"export": exports.ask, "copy": exports.copy, "copy numbers": exports.copy_numbers}
        if what == "help":
            self.workbench.explain(view)
        else:
            serve[what]([view])

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tell of the first paint."""
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            self.painted.emit()

    def open_recipe(self, recipe: Recipe) -> None:
        """Make and show a synthetic head."""
        self.opener.open_recipe(recipe)

    def _on_opened(self) -> None:
        self.setWindowTitle(f"{self.bar.source.text()} — Gramscope")

    def _on_result(self, result: Result) -> None:
        self.sentence.setText(sentence(result))
        self.notes.setText(" ".join(result.notes))
        self.notes.setVisible(bool(result.notes))
        self.small_print.setText(small_print(result))

    def ask_where_to_save_heads(self) -> None:
        """Ask for a file and write the heads of every layer on the present input to it."""
        dialog = QFileDialog(self, "Save captured heads")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(["Tensors (*.safetensors)", "NumPy (*.npz)"])
        dialog.setDefaultSuffix(".safetensors")
        dialog.fileSelected.connect(lambda name: self.save_captured(Path(name)))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def save_captured(self, path: Path) -> None:
        """Write the heads of every layer on the present input, to be opened again or elsewhere."""
        source, params = self.state.source, self.state.params
        if source is None:
            report(GramscopeError("There are no heads to save yet. Open a model or the sample first."))
            return

        layers = range(source.first_layer, source.layers)

        def work(progress: Progress, should_stop: ShouldStop) -> str:
            from explorer.devices import choose
            from explorer.models.save_heads import save_heads

            progress(0, 0, "reading")
            capture = source.capture(layers, params.input, choose(params.device), should_stop)
            progress(0, 0, "writing")
            save_heads(capture, path, name=source.name, should_stop=should_stop)
            return f"Saved the heads of {len(layers)} layers as {path.name} in {path.parent}."

        what = f"Saving the heads of {len(layers)} layers as {path.name}"
        self.errands.run(str(path.absolute()), what, work, info)

    def _on_busy(self, busy: bool) -> None:
        for view in self.explore.views:
            view.working(busy)

    def _ask_heads(self, paths: Sequence[Path], error: GramscopeError) -> None:
        dialog = QInputDialog(self)
        dialog.setWindowTitle("How many heads?")
        dialog.setLabelText(str(error))
        dialog.setComboBoxItems([str(choice) for choice in getattr(error, "choices", ())])
        dialog.textValueSelected.connect(lambda heads: self.opener.open_paths(paths, heads=int(heads)))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Say what a drop would do."""
        self.drop_zone.enter(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Go on saying it."""
        self.drop_zone.move_(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Go dark again."""
        self.drop_zone.leave(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Take what was dropped."""
        self.drop_zone.drop(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what runs, then close."""
        self.closing.emit()
        self.workbench.close()
        self.errands.close()
        self.opener.task.close()
        self.runner.close()
        self.messages.close_messages()
        super().closeEvent(event)


def _input_of(paths: Sequence[Path]) -> Input:
    """Return files as one input after another, by name."""
    first, *more = map(str, sorted(paths))
    return Input(path=first, more=tuple(more))
