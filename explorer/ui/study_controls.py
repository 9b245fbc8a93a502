"""The column on the left of the study: which models and images, which contamination, and start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QLabel,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from explorer.pace import LONG_S, duration
from explorer.study.plan import DIGITS, KINDS
from explorer.study.words import KINDS as NAMES

SHIPPED = "Shipped digit models: softmax, symmetric, RPC, three training seeds each"
TEST_IMAGES = "The digits’ 360 test images, never trained on"
WIDTH = 264


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person wants to be studied; the models are opened later, where it may take a while.

    Attributes
    ----------
    paths : tuple of str
        As `explorer.study.models.models_of` takes them.
    data : str
        A folder or table of labelled images; empty: the digits' test images.
    kinds : tuple of str
    seeds, steps : int
        Contamination seeds; steps of PGD.
    swap : bool
        Add rows with RPC swapped in.
    """

    paths: tuple[str, ...] = (DIGITS,)
    data: str = ""
    kinds: tuple[str, ...] = KINDS
    seeds: int = 5
    steps: int = 10
    swap: bool = False


class StudyControls(QScrollArea):
    """Choices, and one button that starts and cancels.

    Signals
    -------
    started(Wanted)
    cancelled()
    """

    started = Signal(object)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._paths: tuple[str, ...] = (DIGITS,)
        self._data = ""
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedWidth(WIDTH)
        body = QWidget()
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(16, 16, 16, 16)
        self._column.setSpacing(8)
        self.button = QPushButton()
        self.button.setDefault(True)
        self.button.clicked.connect(self._press)
        self._column.addWidget(self.button)
        self.progress = self._words("")
        self._add_models()
        self._add_images()
        self.kinds = self._add_kinds()
        usual = Wanted()
        self.seeds = self._spin("Contamination seeds", 1, 50, usual.seeds, "Seeds 0, 1, … of what is drawn")
        self.steps = self._spin("Steps of PGD", 1, 100, usual.steps, "Each costs a gradient a batch")
        self.swap = QCheckBox("RPC swapped in")
        self.swap.setToolTip("Add rows with RPC in models that were not trained for it")
        self._column.addWidget(self.swap)
        self._column.addStretch()
        self.setWidget(body)
        self.working(False)

    def _heading(self, text: str) -> None:
        label = QLabel(text)
        label.setProperty("role", "heading")
        self._column.addWidget(label)

    def _words(self, text: str) -> QLabel:
        label = QLabel(text)
        label.setWordWrap(True)
        label.setProperty("role", "secondary")
        self._column.addWidget(label)
        return label

    def _choice(self, text: str, tip: str, act: Callable[[], None]) -> None:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.clicked.connect(act)
        self._column.addWidget(button)

    def _add_models(self) -> None:
        self._heading("Models")
        self.models = self._words(SHIPPED)
        self._choice("Classifier files…", "Checkpoints of image classifiers, each a row", self._ask_files)
        self._choice("Classifier folder…", "A Hugging Face folder, or one of checkpoints", self._ask_folder)
        self._choice("Shipped digit models", "The digit models again", lambda: self.use_models([DIGITS]))

    def _add_images(self) -> None:
        self._heading("Images")
        self.images = self._words(TEST_IMAGES)
        self._choice("Labelled folder…", "A folder with a subfolder for each class", self._ask_images)
        self._choice("Digits’ test images", "For digit models only", lambda: self.use_data(""))

    def _add_kinds(self) -> dict[str, QCheckBox]:
        self._heading("Contamination")
        boxes = {kind: QCheckBox(NAMES[kind]) for kind in KINDS}
        for kind, box in boxes.items():
            box.setChecked(kind != "pgd")
            self._column.addWidget(box)
        boxes["pgd"].setToolTip("Takes many gradients: minutes for the shipped models")
        return boxes

    def _spin(self, name: str, low: int, high: int, value: int, tip: str) -> QSpinBox:
        label = QLabel(name)
        spin = QSpinBox()
        spin.setRange(low, high)
        spin.setValue(value)
        spin.setToolTip(tip)
        spin.setAccessibleName(name)
        label.setBuddy(spin)
        self._column.addWidget(label)
        self._column.addWidget(spin)
        return spin

    def use_models(self, paths: list[str]) -> None:
        """Study these checkpoints."""
        self._paths = tuple(paths)
        shown = ", ".join(Path(path).name for path in paths)
        self.models.setText(SHIPPED if self._paths == (DIGITS,) else shown)

    def use_data(self, path: str) -> None:
        """Study them on these images; empty: the digits' test images."""
        self._data = path
        self.images.setText(Path(path).name if path else TEST_IMAGES)

    def _ask_files(self) -> None:
        self._ask("Image classifiers", QFileDialog.FileMode.ExistingFiles, self.use_models)

    def _ask_folder(self) -> None:
        self._ask("Image classifier", QFileDialog.FileMode.Directory, self.use_models)

    def _ask_images(self) -> None:
        title = "Labelled images, a subfolder for each class"
        self._ask(title, QFileDialog.FileMode.Directory, lambda chosen: self.use_data(chosen[0]))

    def _ask(self, title: str, mode: QFileDialog.FileMode, use: Callable[[list[str]], None]) -> None:
        dialog = QFileDialog(self, title)
        dialog.setFileMode(mode)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(use)
        dialog.open()

    @property
    def wanted(self) -> Wanted:
        """What is chosen."""
        return Wanted(
            self._paths, self._data, tuple(kind for kind, box in self.kinds.items() if box.isChecked()),
            self.seeds.value(), self.steps.value(), self.swap.isChecked(),
        )  # fmt: skip

    def working(self, on: bool) -> None:
        """Let the button cancel while something runs."""
        self._running = on
        self.button.setText("Cancel" if on else "Start")

    def tell(self, done: int, total: int, name: str, left: float | None) -> None:
        """Say how far it is and, where it takes long, how many seconds are left."""
        long = f" {duration(left).capitalize()} left." if left is not None and left > LONG_S else ""
        self.progress.setText(f"{done} of {total} parts.{long} {name}" if total else "")

    def _press(self) -> None:
        if self._running:
            self.cancelled.emit()
        else:
            self.started.emit(self.wanted)
