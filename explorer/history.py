"""Undo and redo of everything that is set; a drag is one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from PySide6.QtCore import QElapsedTimer, QObject, Signal

from explorer.state import State

STEPS = 500
RUN_MS = 400
"""Changes of one real number that follow each other faster are one step: a wheel, a held key."""
MOST_NAMED = 3

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


def values_of(snapshot: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name."""
    return {field.name: getattr(snapshot, field.name) for field in fields(snapshot)}


class History(QObject):
    """Keeps what was set, frozen and whole, and brings it back.

    Parameters
    ----------
    take : callable
        Returns what is set now.
    give : callable
        Sets it, as a person would.
    words : mapping
        What the values are called.
    values : callable
        Returns the values of what `take` returned, by name.

    Signals
    -------
    changed()
        What can be undone or redone is not what it was.
    """

    changed = Signal()

    def __init__(
        self,
        take: Callable[[], Any],
        give: Callable[[Any], None],
        words: Mapping[str, str],
        values: Callable[[Any], Mapping[str, Any]] = values_of,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._take, self._give, self._named, self._values = take, give, words, values
        self._clock = QElapsedTimer()
        self._held = False
        self._open: tuple[str, ...] | None = None
        self._steps = [take()]
        self._at = 0

    def clear(self) -> None:
        """Forget everything; what is set now is the beginning."""
        self._steps, self._at = [self._take()], 0
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
        """Bring back what was set before the last step."""
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

    def follow(self, now: Any) -> None:
        """Take note that something else is set."""
        before = self._steps[self._at]
        if now == before:
            return
        names = self._difference(before, now)
        del self._steps[self._at + 1 :]
        if self._continues(names):
            self._steps.pop()
        if now == self._steps[-1]:
            self._open = None
        else:
            self._steps.append(now)
            self._open = names
        del self._steps[: -STEPS - 1]
        self._at = len(self._steps) - 1
        self._clock.start()
        self.changed.emit()

    def refuse(self, kept: Any) -> None:
        """Forget the steps since `kept`, which stays in force: what was set last cannot be."""
        same = [place for place, step in enumerate(self._steps) if step == kept]
        nearest = min(same, key=lambda place: abs(place - self._at), default=None)
        first, last = (0, len(self._steps) - 1) if nearest is None else sorted((nearest, self._at))
        while first and self._steps[first - 1] == kept:
            first -= 1
        while self._steps[last + 1 : last + 2] == [kept]:
            last += 1
        self._steps[first : last + 1] = [kept]
        self._at = first
        self._open = None
        self._give(kept)
        self.changed.emit()

    def _difference(self, before: Any, after: Any) -> tuple[str, ...]:
        old, new = self._values(before), self._values(after)
        return tuple(name for name in old if old[name] != new[name])

    def _words(self, first: int) -> str:
        if not 0 <= first < len(self._steps) - 1:
            return ""
        names = self._difference(self._steps[first], self._steps[first + 1])
        if len(names) > MOST_NAMED:
            return f"{len(names)} settings"
        return ", ".join(self._named.get(name, name) for name in names)

    def _go(self, place: int) -> None:
        self._settle()
        if 0 <= place < len(self._steps):
            self._at = place
            self._give(self._steps[place])
            self.changed.emit()

    def _settle(self) -> None:
        self._held = False
        self._open = None

    def _continues(self, names: tuple[str, ...]) -> bool:
        """Whether a change of `names` belongs to the step that was written last."""
        if self._open is None or self._at == 0:
            return False
        if self._held:
            return True
        real = len(names) == 1 and isinstance(self._values(self._steps[self._at])[names[0]], float)
        return real and names == self._open and self._clock.elapsed() < RUN_MS


def history_of(state: State, parent: QObject | None = None) -> History:
    """Return the history of a state's parameters; another source begins another one."""
    history = History(lambda: state.params, state.set_params, WORDS, parent=parent)
    state.source_changed.connect(history.clear)
    state.params_changed.connect(history.follow)
    return history
