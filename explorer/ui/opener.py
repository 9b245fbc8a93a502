"""Opens sources behind the window: a path, a recipe or the sample; two in a row end with the second."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from explorer.errors import GramscopeError
from explorer.models.recipes import Recipe
from explorer.pace import FIRST_S, LONG_S, duration
from explorer.params import ENTERS, LEVEL_MAX, Input, Params
from explorer.preload import map_libraries
from explorer.session import Origin, check
from explorer.state import State
from explorer.tasks import Progress, ShouldStop, Task

if TYPE_CHECKING:
    from explorer.models.base import Source


def make(origin: Origin, progress: Progress, should_stop: ShouldStop) -> Source:
    """Open a source from where it comes, on a worker.

    Raises
    ------
    GramscopeError
        If it cannot be opened, with the reason.
    Stopped
        If `should_stop` said so.
    """
    map_libraries()
    if origin.recipe is not None:
        from explorer.models.controls import source_of

        return source_of(origin.recipe)
    if origin.paths:
        from explorer.models.open import open_path

        paths = [Path(path) for path in origin.paths]
        told = _announced(paths, progress, should_stop)
        return open_path(paths, heads=origin.heads, should_stop=should_stop, progress=told)
    from explorer.models.digits import sample_source

    return sample_source()


def _announced(paths: Sequence[Path], progress: Progress, should_stop: ShouldStop) -> Progress:
    """Say before it begins how long opening takes, where that is long; return how to go on telling."""
    from explorer.models.opening_time import opening_time

    expected = opening_time(paths, should_stop)
    if expected.seconds <= LONG_S:
        return progress
    estimate = f"{expected.size / 1e9:.1f} GB, {duration(expected.seconds)}"
    progress(0, expected.size, f"reading {paths[0].name}, {estimate}")
    begin = time.monotonic()

    def tell(done: int, total: int, what: str) -> None:
        early = time.monotonic() - begin < FIRST_S
        progress(done, total, f"{what}, {estimate}" if early else what)

    return tell


def params_for(source: Source, before: Params) -> Params:
    """Return parameters for a new source: contamination and pursuit stay, the place in the model is new.

    Contamination that the source cannot take gives way to what every source can: sparse entries.
    """
    if ENTERS[before.contamination] not in source.entries:
        before = before.but(contamination="sparse", level=min(before.level, LEVEL_MAX["sparse"]))
    if source.targets and before.target not in source.targets:
        before = before.but(target=source.targets[0])
    return before.but(
        layer=source.first_layer,
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
    origin : Origin
        Where the present source comes from.

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
        self._wanted = self.origin = Origin()
        self._params: Params | None = None
        self.task = Task("opening", inline=inline, parent=self)
        self.task.done.connect(self._done)
        self.task.failed.connect(self._failed)

    def open(self, origin: Origin, params: Params | None = None) -> None:
        """Open what was open before, with the parameters that were set; None: those that suit it."""
        self._wanted, self._params = origin, params
        self.task.run(partial(make, origin))

    def open_paths(self, paths: Sequence[Path], heads: int | None = None) -> None:
        """Open a checkpoint: a folder, a file, or several files that belong together."""
        self.open(Origin(paths=tuple(str(path.absolute()) for path in paths), heads=heads))

    def open_recipe(self, recipe: Recipe) -> None:
        """Make a synthetic head."""
        self.open(Origin(recipe=recipe))

    def open_sample(self) -> None:
        """Open the embedded sample, a small vision transformer on digits."""
        self.open(Origin())

    def _done(self, source: Source) -> None:
        params = self._params or params_for(source, self._state.params)
        try:
            check(params, source)
        except GramscopeError as error:
            source.close()
            self.failed.emit(error)
            return
        self.origin = self._wanted
        self._state.open(source, params)
        self.opened.emit(source)

    def _failed(self, error: Exception) -> None:
        choices = getattr(error, "choices", None)
        if isinstance(error, GramscopeError) and choices:
            self.heads_needed.emit([Path(path) for path in self._wanted.paths], error)
        else:
            self.failed.emit(error)
