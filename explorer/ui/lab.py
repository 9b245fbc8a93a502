"""The laboratory: attention heads trained without labels, step by step, against what mathematics says."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QHideEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMainWindow, QTabBar, QVBoxLayout, QWidget

from explorer.errors import GramscopeError
from explorer.lab.script import script
from explorer.lab.setting import Setting
from explorer.lab.snapshot import Snapshot
from explorer.state import State
from explorer.ui.drop import DropZone, paths_of
from explorer.ui.lab_controls import LabControls
from explorer.ui.lab_state import LabState
from explorer.ui.lab_story import Story
from explorer.ui.lab_sweep import SweepBar, Sweeps
from explorer.ui.lab_tables import ENDINGS, Tables, intent
from explorer.ui.lab_training import Training
from explorer.ui.messages import report
from explorer.ui.panel import Panel
from explorer.views.lab_alignment import AlignmentView, main_curve, reads_out
from explorer.views.lab_loss import LossView
from explorer.views.lab_maps import MapView
from explorer.views.lab_spectrum import EigenvalueView
from explorer.views.lab_sphere import SphereView
from explorer.views.lab_sweep import SweepView
from explorer.views.lab_view import LabView
from explorer.views.lab_weights import WeightsView
from explorer.views.picture import Picture

TITLES = {"rows": "Open a table of tokens", "covariance": "Open a covariance"}


class LabPage(QWidget):
    """Settings on the left, what is proved and measured above, the panels under it.

    Training runs on a thread of its own, and only while the page is shown.

    Parameters
    ----------
    state : State
        Of the window: opening another source there pauses training here.
    inline : bool
        Sweep on the calling thread; for tests. Training always has its thread.

    Attributes
    ----------
    state : LabState
    controls : LabControls
    training : Training
    sweeps : Sweeps
    tables : Tables
    story : Story
    panels : dict of str to Panel
        By the views' names.
    of_source : bool
        False: what the window says of the opened source does not belong here.
    history : History
        What undo and redo act on while this page is shown.
    """

    of_source = False

    def __init__(self, state: State, *, inline: bool = False) -> None:
        super().__init__()
        self.state = LabState(self)
        self.history = self.state.history
        self.controls = LabControls(self.state)
        self.story = Story()
        self.alignment, self.loss, self.spectrum = AlignmentView(), LossView(), EigenvalueView()
        self.map, self.weights, self.sphere = MapView(), WeightsView(), SphereView()
        self.bar = SweepBar()
        self.sweep = SweepView(self.bar)
        self.panels = {view.name: Panel(view) for view in self.views}
        self.training = Training(self)
        self._latest: Snapshot | None = None
        self.sweeps = Sweeps(self.sweep, self.bar, inline=inline, parent=self)
        self.tables = Tables(self.state, inline=inline, parent=self)
        self._lay_out()
        self.setAcceptDrops(True)
        self.drop_zone = DropZone(self, intent)
        self._connect(state)

    @property
    def views(self) -> list[Picture]:
        """The views of all panels."""
        return [*self.live_views, self.sweep]

    @property
    def live_views(self) -> list[LabView]:
        """The views that follow training."""
        return [self.alignment, self.loss, self.spectrum, self.map, self.weights, self.sphere]

    def _lay_out(self) -> None:
        docks = QMainWindow()
        docks.setWindowFlags(Qt.WindowType.Widget)
        docks.setDockNestingEnabled(True)
        alignment, loss, spectrum, maps, weights, sphere, sweep = self.panels.values()
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        docks.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, alignment)
        docks.splitDockWidget(alignment, weights, down)
        docks.splitDockWidget(alignment, loss, across)
        docks.splitDockWidget(loss, spectrum, across)
        docks.splitDockWidget(weights, maps, across)
        docks.splitDockWidget(maps, sweep, across)
        docks.tabifyDockWidget(weights, sphere)
        for tabs in docks.findChildren(QTabBar):
            tabs.setAccessibleName("Panels of one place")
        weights.raise_()
        docks.resizeDocks([alignment, loss, spectrum], [1100, 1000, 1100], across)
        docks.resizeDocks([weights, maps, sweep], [1000, 1000, 1200], across)
        docks.resizeDocks([alignment, weights], [1000, 1000], down)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.story)
        right.addWidget(docks, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.controls)
        row.addLayout(right, 1)

    def _connect(self, state: State) -> None:
        controls, training = self.controls, self.training
        controls.start.clicked.connect(lambda: training.run(not training.running))
        controls.step.clicked.connect(training.step)
        controls.reset.clicked.connect(training.reset)
        controls.speed.changed.connect(training.pace)
        controls.table_asked.connect(self.ask_table)
        controls.spectrum_refused.connect(_no_spectrum)
        self.state.changed.connect(training.change)
        training.snapshot.connect(self.show_snapshot)
        training.refused.connect(self._on_refused)
        training.running_changed.connect(controls.show_running)
        self.spectrum.grabbed.connect(self.history.begin)
        self.spectrum.released.connect(self.history.end)
        self.spectrum.released.connect(self._show_latest)
        self.spectrum.drawn.connect(lambda values: self.state.update_data(family="drawn", spectrum=values))
        self.sphere.three.triggered.connect(self._set_three)
        self.bar.go.clicked.connect(self._sweep)
        self.drop_zone.dropped.connect(lambda _, paths: self.tables.take(paths[0]))
        state.source_changed.connect(lambda: training.run(False))

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Draw a moment of training: in panels that can be seen while it runs, and in all when it stands.

        While a bar is dragged the words above the panels wait: a line more or less would move the bar from
        under the pointer.
        """
        self._latest = snapshot
        for view in self.live_views:
            if not (self.training.running and view.visibleRegion().isEmpty()):
                view.show_snapshot(snapshot)
        curves = snapshot.curves
        self.controls.show_snapshot(snapshot, float(main_curve(curves)[-1]), reads_out(curves))
        if not self.spectrum.held:
            self.story.show_snapshot(snapshot)

    def _show_latest(self) -> None:
        if self._latest is not None:
            self.show_snapshot(self._latest)

    def script(self) -> str:
        """Return a Python program that trains as many steps under the present setting."""
        return script(self.state.setting, 0 if self._latest is None else self._latest.step)

    def ask_table(self, what: str) -> None:
        """Ask for a CSV or NPY file."""
        dialog = QFileDialog(self, TITLES[what])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["Tables (*.csv *.tsv *.txt *.npy)", "All files (*)"])
        dialog.fileSelected.connect(lambda name: self.open_table(what, Path(name)))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def open_table(self, what: str, path: Path) -> None:
        """Take a file as "rows" of tokens or as a "covariance"; what is wrong with it is told."""
        self.state.update_data(family=what, path=str(path))

    def _on_refused(self, error: Exception, setting: Setting | None) -> None:
        report(error)
        self.history.refuse(setting or Setting())

    def _set_three(self) -> None:
        known = self.state.setting.data.family in ("spiked", "power", "flat", "wishart", "per-prompt")
        self.state.update_data(d=3, **({} if known else {"family": "drawn", "spectrum": (4.0, 2.0, 1.0)}))
        self.panels["lab-sphere"].raise_()

    def _sweep(self) -> None:
        if self.sweeps.running:
            self.sweeps.cancel()
        else:
            self.sweeps.run(self.state.setting, self.controls.seeds.value(), self.controls.steps.value())

    def stop(self) -> None:
        """Stop everything that runs, wait for it, and keep the setting."""
        self.training.close()
        self.sweeps.close()
        self.tables.close()
        self.state.remember()

    def showEvent(self, event: QShowEvent) -> None:
        """Get ready to train."""
        super().showEvent(event)
        self.training.begin(self.state.setting, self.controls.pace)

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave off."""
        super().hideEvent(event)
        self.training.run(False)
        self.sweeps.cancel()

    # Tables that are dropped.

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Say what a drop of a table would do; anything else is the window's."""
        paths = paths_of(event.mimeData())
        if len(paths) == 1 and paths[0].suffix.lower() in ENDINGS:
            self.drop_zone.enter(event)
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Go on saying it."""
        self.drop_zone.move_(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Go dark again."""
        self.drop_zone.leave(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the table."""
        self.drop_zone.drop(event)


def _no_spectrum(text: str) -> None:
    report(GramscopeError(f"“{text[:40]}” is no list of eigenvalues. Give numbers with commas, as 4, 2, 1."))
