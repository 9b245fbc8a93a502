"""A study's accuracies as a table: a level a line, a row of models a column."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from explorer.study.table import Answers, Cell, cells
from explorer.study.words import KINDS, points

LINE, PADDING = 22, "   "
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
HOW = "Accuracy in per cent ± deviation over training seeds / over contamination seeds"


class StudyTable(QTableWidget):
    """Means with both spreads, kept apart."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Accuracies")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(LINE)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.horizontalHeader().setToolTip(HOW)
        self.setToolTip(HOW)

    def show_study(self, answers: Answers) -> None:
        """Fill in what is known."""
        rows = answers.setting.rows
        lines: dict[tuple[str, float | None], dict[str, Cell]] = {}
        for cell in cells(answers):
            level = None if math.isnan(cell.level) else cell.level
            lines.setdefault((cell.kind, level), {})[cell.row] = cell
        self.setColumnCount(2 + len(rows))
        for column, name in enumerate(("kind", "level", *rows)):
            head = QTableWidgetItem(PADDING + name)
            head.setTextAlignment(RIGHT if column else LEFT)
            self.setHorizontalHeaderItem(column, head)
        self.setRowCount(len(lines))
        for number, ((kind, level), found) in enumerate(lines.items()):
            self._put(number, 0, KINDS[kind])
            self._put(number, 1, "mean, without 0" if level is None else f"{level:g}")
            for place, row in enumerate(rows):
                self._put(number, 2 + place, accuracy(found[row]) if row in found else "")

    def _put(self, line: int, column: int, words: str) -> None:
        item = QTableWidgetItem(PADDING + words)
        if column:
            item.setTextAlignment(RIGHT)
        self.setItem(line, column, item)


def accuracy(cell: Cell) -> str:
    """Write an accuracy with both spreads, a dash where there is none."""
    return f"{points(cell.mean)} ± {points(cell.training_sd)} / {points(cell.contamination_sd)}"
