"""What the model says: softmax and another attention, clean and contaminated, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QBrush, QPen
from PySide6.QtWidgets import QWidget

from explorer.answers import ATTENTIONS, Answer, Answers, Attention
from explorer.ui.theme import (
    PCP,
    RPC,
    SOFTMAX,
    clean_brush,
    contaminated_brush,
    pcp_pen,
    pen,
    rpc_pen,
    scheme,
    secondary_pen,
    softmax_pen,
)
from explorer.views.answer_bars import AnswerBars, Bars
from explorer.views.exchange_chooser import ExchangeChooser
from explorer.views.picture import Picture, Provenance, Table
from explorer.views.strip import Part, Strip
from explorer.views.words import figure, percent

CASES = ((False, False), (False, True), (True, False), (True, True))
"""(contaminated, exchanged), from left to right."""
NOTHING = "Nothing is asked yet. Open a model or the sample: what it says appears here."


def attention_colour(attention: Attention) -> str:
    """Return the colour that an attention has everywhere; grey for the two without a meaning of their own."""
    return {"rpc": RPC, "pcp": PCP}.get(attention, scheme().secondary)


def attention_pen(attention: Attention, width: float = 1.75) -> QPen:
    """Return the line that an attention has everywhere."""
    if attention == "rpc":
        return rpc_pen(width)
    if attention == "pcp":
        return pcp_pen(width)
    return pen(scheme().secondary, width, Qt.PenStyle.DashDotLine)


class PredictionsView(Picture):
    """Four columns of bars, and above them what was asked and what the comparison is worth."""

    name = "predictions"
    wide = True
    title = "What the model says"
    help = (
        "The same question to the model four times: with softmax and with the attention chosen above in the "
        "chosen layers, on the clean and on the contaminated input. Bars are probabilities of classes or "
        "tokens, or the cosine with clean softmax's embedding where the model has no head. › marks what is "
        "true, where it is known. A checkpoint trained with softmax was not trained for RPC: that RPC "
        "answers worse then says nothing against RPC as a way to train. "
        "Source of RPC: Teo and Nguyen, arXiv 2406.13762."
    )

    def __init__(self) -> None:
        super().__init__()
        self.chooser = ExchangeChooser()
        self.chooser.changed.connect(lambda: self.option_changed.emit(self.options()))
        self._attention: Attention = "rpc"
        self._from = Provenance("", {}, "")
        self.furnish(NOTHING)

    def build(self) -> None:
        """Make the items, once."""
        self._asked, self._label = Strip(), Strip()
        self.canvas.addItem(self._asked, 0, 0, 1, 4)
        self.canvas.addItem(self._label, 1, 0, 1, 4)
        self._strips = [Strip() for _ in CASES]
        self.columns = [AnswerBars() for _ in CASES]
        layout = self.canvas.ci.layout
        for i, (strip, column) in enumerate(zip(self._strips, self.columns, strict=True)):
            self.canvas.addItem(strip, 2, i)
            self.canvas.addItem(column, 3, i)
            layout.setColumnStretchFactor(i, 1)
            layout.setColumnPreferredWidth(i, 1)
        self.plot_items = list(self.columns)
        self.recolour()

    def header_controls(self) -> QWidget:
        """Return the choosers of attention and layers."""
        return self.chooser

    def options(self) -> dict[str, Any]:
        """Return the attention and the layers."""
        return self.chooser.options()

    def set_options(self, options: Mapping[str, Any]) -> None:
        """Choose attention and layers."""
        self.chooser.set_options(options)
        self.chooser.changed.emit()

    def recolour(self) -> None:
        """Take pens and brushes of the scheme again."""
        for case, column in zip(CASES, self.columns, strict=True):
            column.style(*self._look(*case), secondary_pen())

    def _look(self, dirty: bool, exchanged: bool) -> tuple[QPen, QBrush]:
        colour = attention_colour(self._attention) if exchanged else SOFTMAX
        line = attention_pen(self._attention, 1.25) if exchanged else softmax_pen(1.25)
        return line, contaminated_brush() if dirty else clean_brush(colour)

    def show_answers(self, answers: Answers, attention: Attention, source: Provenance) -> None:
        """Draw what is known so far."""
        self.result, self._attention, self._from = answers, attention, source
        self.recolour()
        self.redraw()
        self.show_picture()

    def redraw(self) -> None:
        """Draw the same answers again."""
        answers: Answers | None = self.result
        if answers is None:
            return
        rows = max((len(_bars(answer, answers).names) for answer in answers.answers.values()), default=1)
        lowest = _lowest(answers)
        for case, column in zip(CASES, self.columns, strict=True):
            answer = answers.answers.get(case)
            column.show_bars(None if answer is None else _bars(answer, answers), rows, lowest)
        self._say(answers)

    def _say(self, answers: Answers) -> None:
        dirty = f"contaminated: {answers.contamination}" if answers.contamination else ""
        self._asked.say(
            f"Asked: {answers.question}", *_true(answers), f"softmax exchanged for {answers.exchange}", dirty
        )
        self._label.say(answers.label, *answers.notes)
        for case, strip in zip(CASES, self._strips, strict=True):
            line, brush = self._look(*case)
            title = Part(_title(*case, self._attention), symbol="s", pen=line, brush=brush)
            strip.say(title, _summary(case, answers))

    def reading_at(self, at: QPointF) -> str:
        """Return an answer in full."""
        for case, column in zip(CASES, self.columns, strict=True):
            row = column.row_at(at)
            if row >= 0 and column.shown is not None:
                bars = column.shown
                true = ", which is true" if bars.names[row] == bars.true else ""
                title = _title(*case, self._attention)
                return f"{title}: “{bars.names[row]}” {bars.figure(row)}{true}"
        return ""

    def provenance(self) -> Provenance:
        """Return the source and the parameters of the answers."""
        return self._from

    def numbers(self, answers: Answers) -> Table:
        """Return every bar, one a row."""
        rows: list[tuple[str, str, float, str]] = []
        for case, answer in answers.answers.items():
            bars = _bars(answer, answers)
            title = _title(*case, self._attention)
            rows += [
                (title, name, float(value), "yes" if name == bars.true else "")
                for name, value in zip(bars.names, bars.values, strict=True)
            ]
        titles, names, values, true = zip(*rows, strict=True)
        measure = "cosine" if answers.kind == "embedding" else "probability"
        columns: list[Any] = [list(titles), list(names), np.array(values), list(true)]
        return ["case", "answer", measure, "true"], columns


def _title(dirty: bool, exchanged: bool, attention: Attention) -> str:
    return f"{'contaminated' if dirty else 'clean'}, {ATTENTIONS[attention] if exchanged else 'softmax'}"


def _bars(answer: Answer, answers: Answers) -> Bars:
    if answer.cosine is not None:  # with clean softmax's embedding
        return Bars(("cosine",), np.array([answer.cosine]), shares=False)
    return Bars(answer.names, answer.probabilities, answers.true)


def _lowest(answers: Answers) -> float:
    cosines = [answer.cosine for answer in answers.answers.values() if answer.cosine is not None]
    return -1.0 if min(cosines, default=0.0) < 0 else 0.0


def _true(answers: Answers) -> list[str]:
    return [] if answers.true is None else [f"true: “{answers.true}”"]


def _summary(case: tuple[bool, bool], answers: Answers) -> str:
    answer = answers.answers.get(case)
    if answer is None:
        waits = bool(answers.contamination) or not case[0]
        return "not asked yet" if waits else "nothing is contaminated: raise the level"
    if answer.cosine is not None:
        return f"cosine {figure(answer.cosine)}"
    if answers.true is None or answer.truth is None:
        return f"says “{answer.best}”"
    if answer.best == answers.true:
        return f"says “{answer.best}”, rightly"
    return f"says “{answer.best}”; “{answers.true}” gets {percent(answer.truth, zeros=True)}"
