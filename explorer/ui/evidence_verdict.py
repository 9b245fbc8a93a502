"""What the numbers say in words, of all heads and of the chosen one: what matters first, then figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QScrollArea

from explorer.pace import duration
from explorer.params import Params
from explorer.ui.formula import strong
from explorer.ui.theme import scheme, theme

if TYPE_CHECKING:
    from explorer.evidence import Findings

SENTENCE_END = re.compile(r"(?:(?<=\.)|(?<=\.\)))\s+(?=[A-Z(])")


class Verdict(QScrollArea):
    """Two columns above the panels, as high as a person makes them.

    Attributes
    ----------
    label : QLabel
    """

    def __init__(self) -> None:
        super().__init__()
        self._told: tuple[Findings | None, Params] = (None, Params())
        self.label = QLabel()
        self.label.setWordWrap(True)
        self.label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.label.setContentsMargins(16, 8, 16, 8)
        self.label.setAccessibleName("Verdict")
        self.label.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setWidgetResizable(True)
        self.setMinimumHeight(72)
        self.setWidget(self.label)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        theme().changed.connect(self._write)

    def tell(self, findings: Findings | None, params: Params) -> None:
        """Say what is known of all heads and of the chosen one."""
        self._told = findings, params
        self._write()

    def text(self) -> str:
        """Return all that is said, as rich text."""
        return self.label.text()

    def _write(self) -> None:
        self.label.setText(_text(*self._told))


def _text(findings: Findings | None, params: Params) -> str:
    if findings is not None and findings.waits and findings.seconds is not None:
        takes = f"Measuring {findings.total - findings.done} layers takes {duration(findings.seconds)}."
        shown = " What is shown is not compared with all nulls yet." if findings.whole.records else ""
        return f"{strong(takes)} Press Measure to begin, or ask for fewer draws or nulls first.{shown}"
    if findings is None or not findings.whole.records:
        return "Measuring: what the numbers say appears here."
    columns = [_of_all(findings)]
    own = findings.verdict_of(params.layer, params.head)
    if own:
        first = "" if findings.whole.samples == 1 else ", on the first input"
        columns.append(_column(f"Layer {params.layer}, head {params.head}{first}.", *_conclusion_first(own)))
    width = 100 // len(columns)
    cells = "".join(f"<td width='{width}%' style='padding-right: 16px'>{column}</td>" for column in columns)
    return f"<table width='100%'><tr>{cells}</tr></table>"


def _of_all(findings: Findings) -> str:
    *parts, conclusion = findings.sentences
    heads = len(findings.whole.heads())
    title = f"All {heads} heads." if findings.complete else f"So far, {heads} heads."
    return _column(title, conclusion, [*parts, *findings.whole.notes()])


def _conclusion_first(verdict: str) -> tuple[str, list[str]]:
    """Return what one head's figures allow, which follows the count of draws in brackets; and the rest."""
    sentences = SENTENCE_END.split(verdict)
    draws = next((i for i, sentence in enumerate(sentences) if sentence.startswith("(")), -1)
    conclusion = sentences.pop(draws + 1)
    return conclusion, sentences


def _column(title: str, first: str, figures: Sequence[str]) -> str:
    """Return what matters, and under it the figures behind it, one an item."""
    items = "".join(f"<li>{escape(figure)}</li>" for figure in figures).replace("</li><li>(", " (")
    style = f"margin: 4px 0 0 16px; -qt-list-indent: 0; color: {scheme().secondary}"
    listed = f"<ul style='{style}'>{items}</ul>" if items else ""
    return f"{strong(title)} {escape(first)}{listed}"
