"""What the panels of evidence share: they draw what is known so far, and mark the head that is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from explorer.views.picture import Picture, Provenance

if TYPE_CHECKING:
    from explorer.evidence import Findings

WIDEST, WIDEST_LIST = 184, 260
"""Of a chooser in a header: characters, and pixels closed and open."""
NULL_NAMES = {
    "permutation": "shuffled tokens",
    "gaussian": "Gaussian values",
    "projection": "random projection",
    "rotation": "rotated W_V",
    "untrained": "untrained model",
}
"""Nulls, in few words."""
NOTHING_YET = "Nothing is measured yet. Open a model, and this panel fills in."


class EvidencePicture(Picture):
    """A panel of findings; a subclass draws them with `draw`.

    Attributes
    ----------
    result : Findings or None
    place : (int, int)
        Layer and head that are chosen.
    """

    result: Findings | None

    def __init__(self) -> None:
        super().__init__()
        self.place = (0, 0)
        self.furnish(NOTHING_YET)

    def draw(self, findings: Findings) -> None:
        """Put the numbers of `findings` into the items."""
        raise NotImplementedError

    def why_not(self, findings: Findings) -> str:
        """Return why there is no such picture yet, in a sentence; empty: there is."""
        return "" if findings.whole.records else "Measuring the first layer."

    def show_findings(self, findings: Findings) -> None:
        """Draw what is known so far, or say why there is nothing to draw."""
        reason = self.why_not(findings)
        if reason:
            self.show_nothing(reason)
            return
        self.result = findings
        self.draw(findings)
        self.show_picture()

    def choose(self, layer: int, head: int) -> None:
        """Mark another head."""
        if (layer, head) != self.place:
            self.place = (layer, head)
            self.redraw()

    def redraw(self) -> None:
        """Draw the same again."""
        if self.result is not None:
            self.show_findings(self.result)

    def provenance(self) -> Provenance:
        """Return the checkpoints, and what was asked for."""
        assert self.result is not None
        whole = self.result.whole
        return Provenance(whole.name, whole.parameters(), "float64")

    def _chosen_again(self) -> None:
        self.redraw()
        self.option_changed.emit(self.options())

    def _chooser(self, choices: dict[str, str], name: str, tip: str) -> QComboBox:
        box = QComboBox()
        box.setMaximumWidth(WIDEST)
        box.view().setMinimumWidth(WIDEST_LIST)
        for key, words in choices.items():
            box.addItem(words, key)
        box.setAccessibleName(name)
        box.setToolTip(tip)
        box.currentIndexChanged.connect(self._chosen_again)
        return box


def row_of(*widgets: QWidget) -> QWidget:
    """Return widgets side by side, for a header."""
    box = QWidget()
    row = QHBoxLayout(box)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(4)
    for widget in widgets:
        row.addWidget(widget)
    return box


def restore(box: QComboBox, options: Any, key: str) -> None:
    """Choose what `options` names, where the box has it."""
    place = box.findData(options.get(key))
    if place >= 0:
        box.setCurrentIndex(place)
