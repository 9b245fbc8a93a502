"""What the panels that compare share: they draw when a pinned and a present picture are there."""

from __future__ import annotations

from PySide6.QtGui import QAction

from explorer.comparison import Reference
from explorer.result import Result
from explorer.state import State
from explorer.views.base import View

NOTHING_PINNED = (
    "Nothing is pinned yet. Pin the present picture (Edit, “Pin as reference”), then go to another head, "
    "layer, level or model: both appear here, and their difference."
)


class CompareView(View):
    """A view of the present result beside the pinned one."""

    _pin: QAction | None = None

    def __init__(self, state: State) -> None:
        super().__init__(state)
        state.reference_changed.connect(self._on_reference)

    @property
    def reference(self) -> Reference:
        """The pinned picture, which there is whenever something is drawn."""
        assert self.state.reference is not None
        return self.state.reference

    def why_not(self, result: Result) -> str:
        """Return what to do where nothing is pinned."""
        return "" if self.state.reference is not None else NOTHING_PINNED

    def offer(self, pin: QAction) -> None:
        """Offer to pin the present picture where none is pinned."""
        self._pin = pin
        if self.state.result is not None:
            self.show_result(self.state.result)

    def show_nothing(self, sentence: str, action: QAction | None = None) -> None:
        """Show a sentence in place of the picture, with a button to pin where that is what is missing."""
        super().show_nothing(sentence, self._pin if sentence == NOTHING_PINNED else action)

    def _on_reference(self, _: object) -> None:
        if self.state.result is not None:
            self.show_result(self.state.result)
