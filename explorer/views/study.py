"""A study's picture: accuracy over the level, a plot a kind of contamination."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
from PySide6.QtCore import QPointF

from explorer.study.table import Answers, Cell, cells
from explorer.study.words import KINDS, LEVELS, points
from explorer.ui.theme import secondary_pen
from explorer.views.accuracy_plot import STYLES, AccuracyPlot, styles
from explorer.views.picture import Picture, Provenance, Table
from explorer.views.strip import Part, Strip
from explorer.views.words import figure

COLUMNS = 3
NOTHING_YET = "Choose kinds of contamination and start. Each model answers every image at every level."


class StudyView(Picture):
    """One plot a kind; what the lines are, above them."""

    name = "study"
    title = "Accuracy under contamination"
    help = (
        "The share of labelled images that a model names rightly, over the level of contamination of its "
        "pixels. Line: mean over training seeds, contamination seeds and images; band: range over models "
        "trained with different seeds; whiskers: deviation over contamination seeds within one model, which "
        "blur and FGSM do not have. Dotted: always giving the commonest class. Do not read one model's curve "
        "as its architecture's: the band shows how much another training seed moves it, and a few seeds show "
        "little of that. FGSM and PGD use the gradient of the model's own loss, so each model meets attacks "
        "of its own, and a gradient that is hard to follow makes a model look robust. "
        "Source of RPC: Teo and Nguyen, arXiv 2406.13762."
    )

    def __init__(self) -> None:
        super().__init__()
        self._kinds: tuple[str, ...] = ()
        self._plots: dict[str, AccuracyPlot] = {}
        self._titles: dict[str, Strip] = {}
        self.furnish(NOTHING_YET)

    def build(self) -> None:
        """Make the legend; plots come with the kinds."""
        self._strip = Strip()
        self.canvas.addItem(self._strip, 0, 0, 1, COLUMNS)

    def show_study(self, answers: Answers) -> None:
        """Draw what is known of a study."""
        self.result = answers
        setting = answers.setting
        if setting.kinds != self._kinds:
            self._arrange(setting.kinds)
        found: dict[str, dict[str, list[Cell]]] = {
            kind: {row: [] for row in setting.rows} for kind in setting.kinds
        }
        for cell in cells(answers):
            if not math.isnan(cell.level):
                found[cell.kind][cell.row].append(cell)
        for kind, plot in self._plots.items():
            levels = (0.0, *setting.levels_of(kind))
            plot.draw(found[kind], levels, answers.chance, LEVELS[kind])
        dotted = secondary_pen()
        dotted.setStyle(STYLES.DotLine)
        self._strip.say(
            *(
                Part(row, line=style.pen, symbol=style.symbol, pen=style.pen, brush=style.brush)
                for row, style in styles(setting.rows).items()
            ),
            Part("always the commonest class", line=dotted),
            "band: training seeds; whiskers: contamination seeds",
        )
        self.show_picture()

    def _arrange(self, kinds: tuple[str, ...]) -> None:
        for item in (*self._plots.values(), *self._titles.values()):
            self.canvas.removeItem(item)
        self._kinds = kinds
        self._plots = {kind: AccuracyPlot() for kind in kinds}
        self._titles = {kind: Strip() for kind in kinds}
        self.plot_items = list(self._plots.values())
        for place, kind in enumerate(kinds):
            row, column = divmod(place, COLUMNS)
            self._titles[kind].say(KINDS[kind])
            self.canvas.addItem(self._titles[kind], 1 + 2 * row, column)
            self.canvas.addItem(self._plots[kind], 2 + 2 * row, column)
        self.recolour()

    def recolour(self) -> None:
        """Take pens, brushes and colours of the scheme again."""
        for plot in self._plots.values():
            plot.recolour()

    def redraw(self) -> None:
        """Draw the same again."""
        if self.result is not None:
            self.show_study(self.result)

    def reading_at(self, at: QPointF) -> str:
        """Return the accuracies at the level under the pointer."""
        for kind, plot in self._plots.items():
            if plot.vb.sceneBoundingRect().contains(at):
                found = plot.cells_at(plot.vb.mapSceneToView(at).x())
                lines = [f"{row} {points(cell.mean)} %{_range(cell)}" for row, cell in found.items()]
                level = next(iter(found.values())).level if found else 0.0
                return f"{KINDS[kind]} {figure(level, 2)}: " + ", ".join(lines)
        return ""

    def numbers(self, result: Answers) -> Table:
        """Return the accuracies, a level of a kind and row a line; an empty level is the mean over levels."""
        found = [asdict(cell) for cell in cells(result)]
        names = list(found[0]) if found else []
        columns = [[cell[name] for cell in found] for name in names]
        return names, [
            np.array(column) if isinstance(column[0], float) else [str(value) for value in column]
            for column in columns
        ]

    def provenance(self) -> Provenance:
        """Return where the numbers come from."""
        setting = self.result.setting
        source = ", ".join(dict.fromkeys(model.path for model in setting.models))
        return Provenance(source, asdict(setting), f"on {setting.device}")


def _range(cell: Cell) -> str:
    if cell.trainings < 2:
        return ""
    return f" ({points(cell.low)} to {points(cell.high)} over {cell.trainings} trainings)"
