"""Where contamination enters and of which kind, as far as the source can take it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QLabel, QVBoxLayout, QWidget

from explorer.params import ENTERS, LEVEL_MAX, Contamination, Entry, Params
from explorer.state import State

if TYPE_CHECKING:
    from explorer.models.base import Source

PLACES: dict[str, tuple[Entry, ...]] = {
    "Keys of this head": ("keys",),
    "Input": ("pixels", "text"),
    "Gradient attack": ("attack",),
}
NAMES: dict[Contamination, str] = {
    "sparse": "sparse entries",
    "tokens": "whole tokens",
    "gaussian": "Gaussian noise",
    "replace": "replaced entries",
    "pixel noise": "Gaussian pixel noise",
    "salt and pepper": "salt and pepper",
    "blur": "blur",
    "occlusion": "occlusion",
    "swap": "words swapped",
    "mask": "words masked",
    "delete": "words deleted",
    "fgsm": "FGSM, one step",
    "pgd": "PGD, several steps",
}
UNITS: dict[Contamination, str] = {
    "sparse": "of the entries of K",
    "tokens": "of the tokens",
    "gaussian": "of K's deviation",
    "replace": "of the entries of K",
    "pixel noise": "of the range, as deviation",
    "salt and pepper": "of the pixels",
    "blur": "deviation of the kernel",
    "occlusion": "of the area",
    "swap": "of the words",
    "mask": "of the words",
    "delete": "of the words",
    "fgsm": "of the range: budget ε (L∞)",
    "pgd": "of the range: budget ε (L∞)",
}


def level_text(level: float, kind: Contamination) -> str:
    """Return a level as the large figures show it: pixels for a blur, else percent."""
    value, unit = (level, "px") if kind == "blur" else (level * 100, "%")
    return f"{value:.2f}".rstrip("0").rstrip(".") + f" {unit}"


class EntryForm(QWidget):
    """Two choosers: where contamination enters, and of which kind it is.

    Attributes
    ----------
    place, kind : QComboBox
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self._entries: tuple[Entry, ...] = ("keys",)
        self._last: dict[str, Contamination] = {}
        self.place = QComboBox()
        self.place.setAccessibleName("Where it enters")
        self.place.setToolTip(
            "Where contamination enters. Keys of this head: at once, without the model. Input: pixels or "
            "words change and the model reads them again. Gradient attack: pixels move within a budget, so "
            "as to mislead the model most. Only what this source can take is offered."
        )
        self.kind = QComboBox()
        self.kind.setAccessibleName("Kind of contamination")
        self.kind.setToolTip(
            "What happens: to the keys K of this head (V and Q follow the switches below), or to the input, "
            "from which Q, K and V of the contaminated picture are then read."
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        label = QLabel("Where it enters")
        label.setProperty("role", "secondary")
        label.setBuddy(self.place)
        layout.addWidget(label)
        layout.addWidget(self.place)
        layout.addWidget(self.kind)
        state.params_changed.connect(self._follow)
        self.place.currentIndexChanged.connect(self._choose_place)
        self.kind.currentIndexChanged.connect(self._choose_kind)
        self._follow(state.params)

    def offer(self, source: Source) -> None:
        """Offer what a source can take."""
        self._entries = source.entries
        self._last.clear()
        self._follow(self._state.params)

    def _places(self) -> list[str]:
        return [name for name, entries in PLACES.items() if set(entries) & set(self._entries)]

    def _kinds(self, place: str) -> list[Contamination]:
        entries = set(PLACES[place]) & set(self._entries)
        return [kind for kind, entry in ENTERS.items() if entry in entries]

    def _follow(self, params: Params) -> None:
        place = next(name for name, entries in PLACES.items() if ENTERS[params.contamination] in entries)
        places, kinds = self._places(), self._kinds(place)
        self._last[place] = params.contamination
        with QSignalBlocker(self.place), QSignalBlocker(self.kind):
            _fill(self.place, [(name, name) for name in places])
            _fill(self.kind, [(NAMES[kind], kind) for kind in kinds])
            self.place.setCurrentIndex(self.place.findData(place))
            self.kind.setCurrentIndex(self.kind.findData(params.contamination))

    def _choose_place(self) -> None:
        place = self.place.currentData()
        self._choose(self._last.get(place) or self._kinds(place)[0])

    def _choose_kind(self) -> None:
        self._choose(self.kind.currentData())

    def _choose(self, kind: Contamination) -> None:
        self._state.update(contamination=kind, level=min(self._state.params.level, LEVEL_MAX[kind]))


def _fill(combo: QComboBox, items: list[tuple[str, str]]) -> None:
    """Give a chooser these items, where it has others."""
    if [combo.itemData(i) for i in range(combo.count())] == [data for _, data in items]:
        return
    combo.clear()
    for label, data in items:
        combo.addItem(label, data)
