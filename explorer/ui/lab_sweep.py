"""Sweeps in the window: what to vary, run or cancel, and the files that the command line would write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QPushButton, QToolButton, QWidget

from explorer.errors import GramscopeError
from explorer.lab.experiments import DEFAULTS, THETAS, Phase, Sweep
from explorer.lab.files import phase_files, sweep_files
from explorer.lab.setting import IN_CONTEXT, Setting
from explorer.streams import ShouldStop, Stream
from explorer.ui.errands import Errands
from explorer.ui.messages import report
from explorer.views.lab_sweep import Found, SweepView

OVER = [
    ("L", "L"),
    ("θ", "theta"),
    ("d", "d"),
    ("ν", "nu"),
    ("λ", "lambda"),
    ("level", "level"),
    ("(c, θ)", "phase"),
]


class SweepBar(QWidget):
    """The choices in the panel's header.

    Attributes
    ----------
    over : QComboBox
    go : QPushButton
        Sweep, or cancel.
    save : QToolButton
    """

    def __init__(self) -> None:
        super().__init__()
        self.over = QComboBox()
        self.over.setAccessibleName("Vary")
        self.over.setToolTip(
            "What to vary, everything else as set in the column; (c, θ): the phase diagram, with c = d/n."
        )
        for label, key in OVER:
            self.over.addItem(label, key)
        self.go = QPushButton("Sweep")
        self.go.setToolTip("Train heads from scratch over the values, seed by seed; again: cancel")
        self.save = QToolButton()
        self.save.setText("Save…")
        self.save.setAccessibleName("Save the sweep")
        self.save.setToolTip("Write the CSV and the figure that gramscope pca-lab would")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for widget in (self.over, self.go, self.save):
            row.addWidget(widget)


class Sweeps(QObject):
    """Runs sweeps behind the panel.

    Signals
    -------
    running_changed(bool)
    """

    running_changed = Signal(bool)

    def __init__(self, view: SweepView, bar: SweepBar, *, inline: bool, parent: QObject) -> None:
        super().__init__(parent)
        self._view, self._bar = view, bar
        self.running = False
        self._stream = Stream("lab-sweep", inline=inline, parent=self)
        self._errands = Errands(inline=inline, parent=self)
        self._stream.item.connect(view.show_found)
        self._stream.failed.connect(report)
        self._stream.running_changed.connect(self._on_running)
        bar.save.clicked.connect(self.ask_where)

    def run(self, setting: Setting, seeds: int, steps: int) -> None:
        """Start the sweep that the bar asks for, everything else as in `setting`."""
        plan = self.plan(setting, seeds, steps)
        self._view.show_nothing("The first heads are being trained.")

        def produce(should_stop: ShouldStop) -> Iterator[Found]:
            from explorer.lab.sweep import run_phase, run_sweep
            from explorer.lab.threads import one_thread

            rows: list[object] = []
            with one_thread():
                runs = (
                    run_phase(plan, should_stop) if isinstance(plan, Phase) else run_sweep(plan, should_stop)
                )
                for row in runs:
                    rows.append(row)
                    yield Found(plan, tuple(rows))  # type: ignore[arg-type]

        self._stream.run(produce)

    def plan(self, setting: Setting, seeds: int, steps: int) -> Sweep | Phase:
        """Return what would be run."""
        over = self._bar.over.currentData()
        if over == "phase":
            return Phase(setting.kind, setting.data.d, DEFAULTS["phase"], THETAS, seeds, steps)
        if over == "nu" and setting.data.family not in IN_CONTEXT:
            setting = setting.with_data(family="wishart")
        return Sweep(setting, over, DEFAULTS[over], ("softmax", "linear"), seeds, steps)

    def cancel(self) -> None:
        """Stop; what is found so far stays."""
        self._stream.cancel()

    def close(self) -> None:
        """Stop and wait."""
        self._stream.close()
        self._errands.close()

    def _on_running(self, running: bool) -> None:
        if running == self.running:
            return
        self.running = running
        self._view.working(running)
        self._bar.go.setText("Cancel" if running else "Sweep")
        if not running and self._view.result is None:
            self._view.show_nothing("The sweep was stopped before a head was trained.")
        self.running_changed.emit(running)

    def ask_where(self) -> None:
        """Ask for a name and write the CSV and the figure."""
        if self._view.result is None:
            report(GramscopeError("There is no sweep to save yet. Press Sweep first."))
            return
        dialog = QFileDialog(self._view, "Save the sweep")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter("CSV numbers, with the figure beside (*.csv)")
        dialog.setDefaultSuffix(".csv")
        dialog.selectFile("sweep.csv")
        dialog.fileSelected.connect(lambda name: self.save(Path(name)))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def save(self, path: Path) -> None:
        """Write NAME.csv and NAME.svg (of a phase diagram NAME-kind.svg), and tell."""
        found = self._view.result
        if found is None:
            return
        if isinstance(found.plan, Phase):
            files = phase_files([(found.plan, found.rows)])  # type: ignore[list-item]
        else:
            files = sweep_files(found.plan, found.rows)  # type: ignore[arg-type]
        named = {path.with_name(path.stem + suffix): text.encode() for suffix, text in files.items()}
        self._errands.write_and_tell(named)
