"""Undo and redo of every parameter; a drag is one step."""

from __future__ import annotations

from dataclasses import fields

from PySide6.QtCore import QElapsedTimer, QObject, Signal

from explorer.params import Params
from explorer.state import State

STEPS = 500
RUN_MS = 400
"""Changes of one real number that follow each other faster are one step: a wheel, a held key."""

WORDS = {
    "layer": "layer",
    "head": "head",
    "query": "query token",
    "input": "input",
    "contamination": "kind of contamination",
    "level": "level",
    "magnitude": "magnitude",
    "seed": "seed",
    "contaminate_values": "contaminating V",
    "target": "target of the attack",
    "steps": "steps of the attack",
    "form": "form of RPC",
    "queries": "queries",
    "lam": "λ",
    "mu": "μ",
    "iterations": "iterations",
    "variant": "attention map",
    "axes": "axes",
    "centred": "centring",
    "device": "device",
}


def difference(before: Params, after: Params) -> tuple[str, ...]:
    """Return the names of the parameters that differ."""
    names = (field.name for field in fields(Params))
    return tuple(name for name in names if getattr(before, name) != getattr(after, name))


class History(QObject):
    """Follows a state's parameters and brings earlier ones back. Another source begins another history.

    Signals
    -------
    changed()
        What can be undone or redone is not what it was.
    """

    changed = Signal()

    def __init__(self, state: State, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._clock = QElapsedTimer()
        self._held = False
        self._open: tuple[str, ...] | None = None
        self._steps = [state.params]
        self._at = 0
        state.source_changed.connect(self.clear)
        state.params_changed.connect(self._on_params)

    def clear(self) -> None:
        """Forget everything; the present parameters are the beginning."""
        self._steps, self._at = [self._state.params], 0
        self._settle()
        self.changed.emit()

    def begin(self) -> None:
        """Take everything until `end` as one step: a slider is held."""
        self._settle()
        self._held = True

    def end(self) -> None:
        """Close the step that `begin` opened."""
        self._settle()

    def undo(self) -> None:
        """Bring back the parameters before the last step."""
        self._go(self._at - 1)

    def redo(self) -> None:
        """Take back the last undo."""
        self._go(self._at + 1)

    @property
    def undoes(self) -> str:
        """What `undo` would change, in words; empty: there is nothing to undo."""
        return self._words(self._at - 1)

    @property
    def redoes(self) -> str:
        """What `redo` would change, in words; empty: there is nothing to redo."""
        return self._words(self._at)

    def _words(self, first: int) -> str:
        if not 0 <= first < len(self._steps) - 1:
            return ""
        names = difference(self._steps[first], self._steps[first + 1])
        return ", ".join(WORDS.get(name, name) for name in names)

    def _go(self, place: int) -> None:
        self._settle()
        if 0 <= place < len(self._steps):
            self._at = place
            self._state.set_params(self._steps[place])
            self.changed.emit()

    def _settle(self) -> None:
        self._held = False
        self._open = None

    def _on_params(self, params: Params) -> None:
        before = self._steps[self._at]
        if params == before:
            return
        names = difference(before, params)
        del self._steps[self._at + 1 :]
        if self._continues(names):
            self._steps.pop()
        if params == self._steps[-1]:
            self._open = None
        else:
            self._steps.append(params)
            self._open = names
        del self._steps[: -STEPS - 1]
        self._at = len(self._steps) - 1
        self._clock.start()
        self.changed.emit()

    def _continues(self, names: tuple[str, ...]) -> bool:
        """Whether a change of `names` belongs to the step that was written last."""
        if self._open is None or self._at == 0:
            return False
        if self._held:
            return True
        real = len(names) == 1 and isinstance(getattr(self._steps[self._at], names[0]), float)
        return real and names == self._open and self._clock.elapsed() < RUN_MS
