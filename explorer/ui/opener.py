"""Opens sources behind the window: a path, a recipe or the sample; two in a row end with the second."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from explorer.errors import GramscopeError
from explorer.models.recipes import Recipe
from explorer.params import Input, Params
from explorer.preload import map_libraries
from explorer.state import State
from explorer.tasks import Progress, ShouldStop, Task

if TYPE_CHECKING:
    from explorer.models.base import Source


def _sample(progress: Progress, should_stop: ShouldStop) -> Source:
    map_libraries()
    from explorer.models.digits import sample_source

    return sample_source()


def params_for(source: Source, before: Params) -> Params:
    """Return parameters for a new source: contamination and pursuit stay, the place in the model is new."""
    return before.but(
        layer=0,
        head=0,
        query=None,
        input=Input(),
        queries="symmetric" if source.symmetric else "asymmetric",
        axes=(0, 1),
    )


class Opener(QObject):
    """Brings sources into the state.

    Attributes
    ----------
    task : Task
        Its progress and `cancel`.
    path : str
        What the present source was opened from; empty for samples.

    Signals
    -------
    opened(Source)
    failed(Exception)
    heads_needed(object, object)
        The paths, and the exception that lists the possible numbers of heads.
    """

    opened = Signal(object)
    failed = Signal(object)
    heads_needed = Signal(object, object)

    def __init__(self, state: State, *, inline: bool = False, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._wanted: tuple[Path, ...] = ()
        self.path = ""
        self.task = Task("opening", inline=inline, parent=self)
        self.task.done.connect(self._done)
        self.task.failed.connect(self._failed)

    def open_paths(self, paths: Sequence[Path], heads: int | None = None) -> None:
        """Open a checkpoint: a folder, a file, or several files that belong together."""
        self._wanted = tuple(paths)

        def work(progress: Progress, should_stop: ShouldStop) -> Source:
            map_libraries()
            from explorer.models.open import open_path

            return open_path(paths, heads=heads, should_stop=should_stop, progress=progress)

        self.task.run(work)

    def open_recipe(self, recipe: Recipe) -> None:
        """Make a synthetic head."""
        self._wanted = ()

        def work(progress: Progress, should_stop: ShouldStop) -> Source:
            map_libraries()
            from explorer.models.synthetic import SyntheticSource

            return SyntheticSource(recipe)

        self.task.run(work)

    def open_sample(self) -> None:
        """Open the embedded sample, a small vision transformer on digits."""
        self._wanted = ()
        self.task.run(_sample)

    def _done(self, source: Source) -> None:
        self.path = str(self._wanted[0]) if self._wanted else ""
        self._state.open(source, params_for(source, self._state.params))
        self.opened.emit(source)

    def _failed(self, error: Exception) -> None:
        choices = getattr(error, "choices", None)
        if isinstance(error, GramscopeError) and choices:
            self.heads_needed.emit(self._wanted, error)
        else:
            self.failed.emit(error)
