"""The one observable: the parameters, the source, the latest result and what is selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from explorer.params import Params

if TYPE_CHECKING:
    from explorer.comparison import Reference
    from explorer.models.base import Source
    from explorer.result import Result


class State(QObject):
    """What the window shows. Controls write it, views read it.

    Attributes
    ----------
    params : Params
    source : Source or None
    result : Result or None
    selection : frozenset of int
        Selected tokens, by their place in the input.
    reference : Reference or None
        The pinned picture; it outlives its source.

    Signals
    -------
    params_changed(Params)
        Once per `update` that changes anything.
    source_changed(Source)
    result_changed(Result)
    selection_changed(frozenset)
    reference_changed(Reference)
    """

    params_changed = Signal(object)
    source_changed = Signal(object)
    result_changed = Signal(object)
    selection_changed = Signal(object)
    reference_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.params = Params()
        self.source: Source | None = None
        self.result: Result | None = None
        self.selection: frozenset[int] = frozenset()
        self.reference: Reference | None = None

    def update(self, **changes: Any) -> None:
        """Change some parameters; nothing happens where they are equal already."""
        self.set_params(self.params.but(**changes))

    def set_params(self, params: Params) -> None:
        """Replace all parameters; nothing happens where they are equal already."""
        if params == self.params:
            return
        self.params = params
        self.params_changed.emit(params)

    def open(self, source: Source, params: Params) -> None:
        """Show another source, with the parameters that suit it; the old one is closed."""
        old, self.source = self.source, source
        self.selection = frozenset()
        self.params = params
        self.source_changed.emit(source)
        self.selection_changed.emit(self.selection)
        self.params_changed.emit(params)
        if old is not None and old is not source:
            old.close()

    def show(self, result: Result) -> None:
        """Take a new result."""
        self.result = result
        self.result_changed.emit(result)

    def select(self, tokens: frozenset[int]) -> None:
        """Select tokens, by their place in the input."""
        if tokens != self.selection:
            self.selection = tokens
            self.selection_changed.emit(tokens)

    def pin(self, reference: Reference | None) -> None:
        """Keep a picture to compare later ones with; None: let go of it."""
        if reference is not self.reference:
            self.reference = reference
            self.reference_changed.emit(reference)
