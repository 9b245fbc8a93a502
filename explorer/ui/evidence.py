"""The page that settles whether V is V*: every head beside its nulls, and what the numbers say in words."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QMainWindow,
    QSplitter,
    QTabWidget,
    QWidget,
)

from explorer import programs, threads
from explorer.errors import GramscopeError
from explorer.pace import LONG_S
from explorer.params import Input, Params
from explorer.runner import Runner
from explorer.script import Program
from explorer.state import State
from explorer.streams import ShouldStop, Stream
from explorer.tasks import Progress, Task
from explorer.ui.evidence_fields import EvidenceFields
from explorer.ui.evidence_verdict import Verdict
from explorer.ui.messages import info, offer, report
from explorer.ui.opener import Opener
from explorer.ui.panel import Panel
from explorer.ui.progress import TaskProgress
from explorer.ui.robustness import paced
from explorer.views.evidence_base import EvidencePicture
from explorer.views.evidence_gamma import EvidenceGamma
from explorer.views.evidence_heads import EvidenceHeads
from explorer.views.evidence_lines import EvidenceInputs, EvidenceSeries
from explorer.views.evidence_map import EvidenceMap
from explorer.views.evidence_norms import EvidenceNorms
from explorer.views.evidence_pair import EvidencePair

if TYPE_CHECKING:
    from explorer.evidence import Findings, Pair
    from explorer.models.base import Source
    from explorer.report.collect import Drawn
    from explorer.report.compute import Record

REST_MS = 300
PACE_S = 0.3
KEPT = 512
"""Layers whose numbers are kept for going back."""
VERDICT_PX = 141
"""Whole lines, at the usual size of type."""


class EvidencePage(QWidget):
    """Fields, a verdict, and panels under three tabs; it measures only while it is shown.

    Parameters
    ----------
    opener : Opener
        Which says where the source comes from.
    inline : bool
        Compute on the calling thread; for tests.

    Attributes
    ----------
    fields : EvidenceFields
    verdict : Verdict
    tabs : QTabWidget
    findings : Findings or None
        What is known.
    of_source : bool
        False: the window's sentence, which is about one head's output, does not belong here.

    Signals
    -------
    head_opened()
        The chosen head should be looked at closely.
    """

    of_source = False
    head_opened = Signal()

    def __init__(self, state: State, runner: Runner, opener: Opener, *, inline: bool = False) -> None:
        super().__init__()
        self._state, self._opener = state, opener
        self.findings: Findings | None = None
        self._kept: dict[str, Record] = {}
        self._drawn: dict[str, Drawn] = {}
        self._of: Hashable = None
        self._pair_of: Hashable = None
        self._read_from: Input | None = None
        self.map, self.heads = EvidenceMap(), EvidenceHeads()
        self.gamma, self.norms, self.pair = EvidenceGamma(), EvidenceNorms(), EvidencePair()
        self.series, self.inputs = EvidenceSeries(), EvidenceInputs()
        self.stream = Stream("evidence", inline=inline, parent=self)
        self._pairs = Stream("values", inline=inline, parent=self)
        self.reporting = Task("report", inline=inline, parent=self)
        self._progress = TaskProgress(self.stream, "Stop, and keep what is measured.")
        self._report_progress = TaskProgress(self.reporting, "Stop, and keep the parts that are written.")
        self.fields = EvidenceFields(self._progress, self._report_progress)
        self._rest = QTimer(self, interval=REST_MS, singleShot=True)
        self._lay_out()
        self._connect(runner)

    @property
    def pictures(self) -> list[EvidencePicture]:
        """The panels that draw findings."""
        return [self.map, self.heads, self.gamma, self.norms, self.series, self.inputs]

    def _lay_out(self) -> None:
        self.verdict = Verdict()
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self._docks(), "Heads")
        self.tabs.addTab(self._alone(self.series), "Series")
        self.tabs.addTab(self._alone(self.inputs), "Inputs")
        right = QSplitter(Qt.Orientation.Vertical)
        right.setChildrenCollapsible(False)
        right.addWidget(self.verdict)
        right.addWidget(self.tabs)
        right.setStretchFactor(1, 1)
        right.setSizes([VERDICT_PX, VERDICT_PX])
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.fields)
        row.addWidget(right, 1)

    def _docks(self) -> QMainWindow:
        docks = QMainWindow()
        docks.setWindowFlags(Qt.WindowType.Widget)
        docks.setDockNestingEnabled(True)
        above, beside, gamma, norms, pair = (
            Panel(view) for view in (self.map, self.heads, self.gamma, self.norms, self.pair)
        )
        docks.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, above)
        docks.splitDockWidget(above, gamma, Qt.Orientation.Vertical)
        docks.splitDockWidget(above, beside, Qt.Orientation.Horizontal)
        docks.splitDockWidget(gamma, norms, Qt.Orientation.Horizontal)
        docks.splitDockWidget(norms, pair, Qt.Orientation.Horizontal)
        docks.resizeDocks([above, beside], [1000, 1000], Qt.Orientation.Horizontal)
        docks.resizeDocks([gamma, norms, pair], [800, 1000, 1300], Qt.Orientation.Horizontal)
        docks.resizeDocks([above, gamma], [1000, 1000], Qt.Orientation.Vertical)
        return docks

    @staticmethod
    def _alone(view: EvidencePicture) -> QMainWindow:
        docks = QMainWindow()
        docks.setWindowFlags(Qt.WindowType.Widget)
        docks.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, Panel(view))
        return docks

    def _connect(self, runner: Runner) -> None:
        state = self._state
        self._rest.timeout.connect(lambda: self._begin())
        self.fields.changed.connect(lambda: self._rest.start())
        self.fields.again.clicked.connect(self._begin_again)
        self.fields.report.clicked.connect(self.ask_where_to_report)
        self.fields.series_wanted.connect(
            lambda paths: self._opener.open_paths([Path(path) for path in paths])
        )
        self.map.head_chosen.connect(lambda layer, head: state.update(layer=layer, head=head, query=None))
        self.map.head_opened.connect(self._open_head)
        self.map.measure_changed.connect(self.heads.show_measure)
        self.stream.item.connect(self._show)
        self.stream.failed.connect(report)
        self.stream.running_changed.connect(self._on_running)
        self._pairs.item.connect(self._show_pair)
        self._pairs.failed.connect(report)
        self._pairs.running_changed.connect(self.pair.working)
        for stream in (self.stream, self._pairs):
            runner.busy_changed.connect(stream.hold)
        self.reporting.done.connect(self._reported)
        self.reporting.failed.connect(report)
        self._report_progress.cancel.clicked.connect(
            lambda: info("Stopped. Writing the report into the same folder goes on from there.")
        )
        state.source_changed.connect(self._on_source)
        state.params_changed.connect(self._on_params)
        if state.source is not None:
            self._on_source(state.source)
        self._on_params(state.params)

    def is_complete(self) -> bool:
        """Whether all that is asked for is measured, and the chosen head's values are there."""
        waits = self._rest.isActive() or not self.fields.again.isEnabled()
        measured = self.findings is not None and self.findings.complete
        return measured and not waits and self.pair.result is not None

    def program(self) -> Program:
        """Return what measures all that is asked for again."""
        return programs.evidence(self._opener.origin, self.fields.asked)

    def stop(self) -> None:
        """Stop everything that runs, and wait for it."""
        self._rest.stop()
        self.stream.close()
        self._pairs.close()
        self.reporting.close()

    def showEvent(self, event: QShowEvent) -> None:
        """Measure what the page shows."""
        super().showEvent(event)
        self._begin()
        self._begin_pair()

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave off."""
        super().hideEvent(event)
        self._rest.stop()
        self._of = None
        self.stream.cancel()
        self._pairs.cancel()

    def _on_source(self, source: Source) -> None:
        self.findings = None
        self._of = self._pair_of = None
        self.stream.cancel()
        for view in self.pictures:
            view.show_nothing("Measuring the first layer.")
        self.pair.show_nothing("Choose a head in the map, and its values stand here beside V*.")
        self._say()
        self.fields.nulls["untrained"].setEnabled(hasattr(source, "untrained"))
        self.fields.offer_series(0)
        self.fields.offer_within(())
        self._read_from = None

    def _on_params(self, params: Params) -> None:
        source = self._state.source
        if source is not None and params.input != self._read_from:
            self._read_from = params.input
            self.fields.offer_inputs(_inputs_left(source, params.input))
        if self.map.place != (params.layer, params.head):
            for view in self.pictures:
                view.choose(params.layer, params.head)
            self._say()
        if self.isVisible():
            self._rest.start()
            self._begin_pair()

    def _begin_again(self) -> None:
        self._of = None
        self._begin(agreed=math.inf)

    def _begin(self, agreed: float = LONG_S) -> None:
        """Measure what is asked for, unless that runs or is there already, or takes longer than agreed."""
        state = self._state
        source, params, asked, origin = state.source, state.params, self.fields.asked, self._opener.origin
        of = (source, params.input, params.device, asked)
        if source is None or not self.isVisible() or of == self._of:
            return
        self._of = of
        kept, drawn = self._kept, self._drawn

        def produce(should_stop: ShouldStop) -> Iterator[Findings]:
            from explorer import evidence

            work = evidence.plan(source, origin, params, asked, drawn)
            yield from paced(evidence.measure(work, kept, should_stop, agreed), PACE_S)

        self._progress.announce("Measuring")
        self.stream.run(produce)

    def _show(self, findings: Findings) -> None:
        self.findings = findings
        self.fields.offer_series(findings.series)
        self.fields.offer_within(findings.within)
        if findings.waits:
            self._progress.announce("Measuring without nulls")
        elif findings.done == 0 and findings.seconds is not None:
            self._progress.announce(f"Measuring {findings.total} layers", findings.seconds)
        else:
            done, total = findings.done, findings.total
            self.stream.progressed.emit(done, total, f"{done} of {total} layers")
        for view in self.pictures:
            view.show_findings(findings)
            if findings.waits and not findings.whole.records:
                view.show_nothing("Not measured yet.")
        self._say()
        for kept in (self._kept, self._drawn):
            while len(kept) > KEPT:
                kept.pop(next(iter(kept)))

    def _on_running(self, running: bool) -> None:
        self.fields.again.setEnabled(not running)
        for view in self.pictures:
            view.working(running)

    def _say(self) -> None:
        self.verdict.tell(self.findings, self._state.params)

    def _begin_pair(self) -> None:
        source, params = self._state.source, self._state.params
        of = (source, params.input, params.layer, params.head, params.device)
        if source is None or not self.isVisible() or of == self._pair_of:
            return
        self._pair_of = of

        def produce(should_stop: ShouldStop) -> Iterator[Pair]:
            from explorer import evidence

            yield evidence.pair(source, params, should_stop)

        self._pairs.run(produce)

    def _show_pair(self, pair: Pair) -> None:
        source = self._state.source
        self.pair.show_pair(pair, source.name if source is not None else "")

    def _open_head(self, layer: int, head: int) -> None:
        self._state.update(layer=layer, head=head, query=None)
        self.head_opened.emit()

    def ask_where_to_report(self) -> None:
        """Ask for a folder, and write the report into it."""
        if self._state.source is None:
            report(GramscopeError("There is nothing to report on yet. Open a model or the sample first."))
            return
        dialog = QFileDialog(self, "Write the report into a folder")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda name: self.write_report(Path(name)))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def write_report(self, folder: Path) -> None:
        """Write the report of what is asked for into a folder, with what is measured already."""
        source, params, origin = self._state.source, self._state.params, self._opener.origin
        asked, kept = self.fields.asked, dict(self._kept)
        if source is None:
            return

        def work(progress: Progress, should_stop: ShouldStop) -> Any:
            from explorer import evidence

            return evidence.report(source, origin, params, asked, folder, kept, progress, should_stop)

        found = self.findings
        left = None if found is None or found.complete else found.seconds
        self._report_progress.announce("Writing the report", left)
        self.reporting.run(work)

    def _reported(self, outcome: Any) -> None:
        if outcome.exit_code:
            report(GramscopeError(outcome.message))
            return
        page = outcome.folder / "report.html"
        offer(
            f"The report is in {outcome.folder}.", "Open it",
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(page))),
        )  # fmt: skip


def _inputs_left(source: Source, given: Input) -> int:
    """Return how many inputs there are from the present one on; 1 where that cannot be read at once."""

    def count() -> int:
        try:
            return 1 if given.text else source.count(given) - given.index
        except GramscopeError:
            return 1

    return threads.within(threads.GLANCE_S, count, 1)
