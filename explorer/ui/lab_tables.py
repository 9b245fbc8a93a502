"""Tables that are dropped on the laboratory: taken for what they are, and it says for what."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from explorer.errors import GramscopeError
from explorer.tasks import Progress, ShouldStop, Task
from explorer.ui.lab_state import LabState
from explorer.ui.messages import Message, info, offer, report, withdraw

ENDINGS = {".csv", ".tsv", ".npy"}


def intent(paths: Sequence[Path]) -> tuple[str, str]:
    """Return what a drop of a table would do, and the words for it."""
    return "table", "Use as table of tokens, or as covariance where it is one"


class Tables(QObject):
    """Reads what is dropped behind the window, then sets it.

    Parameters
    ----------
    inline : bool
        Read on the calling thread; for tests.
    """

    def __init__(self, state: LabState, *, inline: bool = False, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._told: Message | None = None
        self._reading = Task("table", inline=inline, parent=self)
        self._reading.done.connect(lambda found: self._set(*found))
        self._reading.failed.connect(report)

    def take(self, path: Path) -> None:
        """Take a file as a covariance where it is one, else as rows of tokens; tell for what, or why not."""
        if self._told is not None:
            withdraw(self._told)
        self._reading.run(partial(_look_at, path))

    def close(self) -> None:
        """Wait for what is being read, though not for ever."""
        self._reading.close()

    def _set(self, path: Path, family: str, shape: tuple[int, int]) -> None:
        self._state.update_data(family=family, path=str(path))
        rows, features = shape
        if family == "rows":
            square = "; it is square, but no covariance" if rows == features else ""
            info(f"{path.name} is taken as {rows} tokens of {features} features{square}.")
            return
        self._told = offer(
            f"{path.name} is square, symmetric and has no negative eigenvalue: "
            f"it is taken as the covariance of {features} features.",
            "Use as tokens",
            lambda: self._state.update_data(family="rows", path=str(path)),
        )


def _look_at(path: Path, progress: Progress, should_stop: ShouldStop) -> tuple[Path, str, tuple[int, ...]]:
    """Return a table's path, what it is taken for, and its shape; raises where it is no table."""
    from explorer.lab.rows import load_covariance, load_rows

    try:
        return path, "covariance", load_covariance(str(path)).shape
    except GramscopeError:  # tokens, then, or no table at all: reading it as such says why
        try:
            return path, "rows", load_rows(str(path), False).shape
        except GramscopeError as error:
            raise GramscopeError(f"{error} Lines of text are read from a .txt file.", error.detail) from error
