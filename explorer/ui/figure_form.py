"""The fields of the figure dialog: a preset, and everything that it fixes."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QFormLayout, QSpinBox, QWidget

from explorer.errors import GramscopeError
from explorer.fields import read
from explorer.settings import settings
from explorer.ui import theme
from explorer.ui.export import FORMATS, Format
from explorer.ui.exporting.figure import Figure
from explorer.ui.exporting.presets import PRESETS, preset_figure

log = logging.getLogger(__name__)

Size = Literal["one column", "two columns", "slide", "my own"]
Paper = Literal["white", "dark"]
SIZES: tuple[Size, ...] = get_args(Size)
PAPERS: dict[Paper, theme.Scheme] = {"white": theme.LIGHT, "dark": theme.DARK}
RANGES = {
    "width_mm": (20.0, 1000.0), "height_mm": (20.0, 1000.0), "dpi": (50.0, 1200.0), "font_pt": (4.0, 40.0),
    "columns": (1.0, 4.0),
}  # fmt: skip
KEY = "figure"


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person chose of a figure; lengths in mm, type in points."""

    size: Size = "two columns"
    kind: Format = "png"
    width_mm: float = 183.0
    height_mm: float = 132.0
    dpi: int = 600
    font_pt: float = 7.0
    columns: int = 2
    paper: Paper = "white"
    titles: bool = True

    @property
    def figure(self) -> Figure:
        """The figure that was chosen."""
        return Figure(
            self.width_mm, self.height_mm, self.dpi, self.font_pt, PAPERS[self.paper], self.columns,
            self.titles,
        )  # fmt: skip


def remembered() -> Choices:
    """Return the choices of the last figure."""
    try:
        return read(Choices, json.loads(str(settings().value(KEY, "{}"))), KEY, RANGES)
    except (ValueError, GramscopeError) as error:
        log.warning("the remembered figure is left alone: %s", error)
        return Choices()


class FigureForm(QWidget):
    """Chooses a size, a look and a format.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self, wide: Sequence[bool]) -> None:
        super().__init__()
        self._wide = wide
        self.preset = _choice(SIZES, "A column of a journal, a page's full width, a slide, or your own.")
        self.kind = _choice(
            FORMATS, "PNG: pixels. SVG, PDF: shapes and text that other programs edit. CSV, JSON: numbers."
        )
        self.wide = _number("width_mm", " mm", "The whole figure's width.")
        self.high = _number("height_mm", " mm", "The whole figure's height.")
        self.dpi = _whole("dpi", " dpi", "Pixels per inch of a PNG.")
        self.font_size = _number(
            "font_pt", " pt", "Type of the axes; all else, lines too, keeps its proportion to it."
        )
        self.columns = _whole("columns", "", "How many panels stand side by side.")
        self.paper = _choice(tuple(PAPERS), "White for print, dark for a dark slide.")
        self.titles = QCheckBox("Titles above the panels")
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        fields: dict[str, QWidget] = {
            "Size": self.preset, "Format": self.kind, "Width": self.wide, "Height": self.high,
            "Resolution": self.dpi, "Type": self.font_size, "Side by side": self.columns,
            "Paper": self.paper,
        }  # fmt: skip
        for text, field in fields.items():
            field.setAccessibleName(text)
            form.addRow(text, field)
        form.addRow("", self.titles)
        self._show(remembered())
        self.set_panels(wide)
        self.preset.currentIndexChanged.connect(self._take_preset)
        for spin in (self.wide, self.high, self.dpi, self.font_size, self.columns):
            spin.valueChanged.connect(self._leave_preset)
        for combo in (self.paper, self.kind):
            combo.currentIndexChanged.connect(self.changed)
        self.titles.toggled.connect(self.changed)

    def choices(self) -> Choices:
        """Return what is chosen."""
        return Choices(
            size=SIZES[self.preset.currentIndex()],
            kind=FORMATS[self.kind.currentIndex()],
            width_mm=self.wide.value(),
            height_mm=self.high.value(),
            dpi=self.dpi.value(),
            font_pt=self.font_size.value(),
            columns=self.columns.value(),
            paper=tuple(PAPERS)[self.paper.currentIndex()],
            titles=self.titles.isChecked(),
        )

    def set_panels(self, wide: Sequence[bool]) -> None:
        """Fit a preset to other panels, each wide or not."""
        self._wide = wide
        self._take_preset()

    def remember(self) -> None:
        """Keep the choices for the next figure."""
        settings().setValue(KEY, json.dumps(asdict(self.choices())))

    def _show(self, choices: Choices) -> None:
        self.preset.setCurrentIndex(SIZES.index(choices.size))
        self.kind.setCurrentIndex(FORMATS.index(choices.kind))
        self.paper.setCurrentIndex(tuple(PAPERS).index(choices.paper))
        self.titles.setChecked(choices.titles)
        self._show_figure(choices.figure)

    def _show_figure(self, figure: Figure) -> None:
        with ExitStack() as stack:
            for spin in (self.wide, self.high, self.dpi, self.font_size, self.columns):
                stack.enter_context(QSignalBlocker(spin))
            self.wide.setValue(figure.width_mm)
            self.high.setValue(figure.height_mm)
            self.dpi.setValue(round(figure.dpi))
            self.font_size.setValue(figure.font_pt)
            self.columns.setValue(figure.columns)

    def _take_preset(self) -> None:
        size = SIZES[self.preset.currentIndex()]
        if size in PRESETS:
            self._show_figure(preset_figure(size, self._wide))
        self.changed.emit()

    def _leave_preset(self) -> None:
        with QSignalBlocker(self.preset):
            self.preset.setCurrentIndex(SIZES.index("my own"))
        self.changed.emit()


def _choice(options: tuple[str, ...], tip: str) -> QComboBox:
    combo = QComboBox()
    combo.addItems([option.upper() if option in FORMATS else option for option in options])
    combo.setToolTip(tip)
    return combo


def _number(name: str, suffix: str, tip: str) -> QDoubleSpinBox:
    spin = QDoubleSpinBox()
    spin.setDecimals(1)
    spin.setRange(*RANGES[name])
    spin.setSuffix(suffix)
    spin.setToolTip(tip)
    return spin


def _whole(name: str, suffix: str, tip: str) -> QSpinBox:
    spin = QSpinBox()
    low, high = RANGES[name]
    spin.setRange(int(low), int(high))
    spin.setSuffix(suffix)
    spin.setToolTip(tip)
    return spin
