"""What would be opened, in lines to read: `gramscope inspect`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from explorer.models.base import ShouldStop, never
from explorer.models.open import open_path
from explorer.models.safety import Progress, silent


def inspect_path(
    paths: str | Path | Sequence[str | Path],
    should_stop: ShouldStop = never,
    progress: Progress = silent,
    heads: int | None = None,
) -> str:
    """Return what a checkpoint holds, a line each: name, family, layers, heads, …, what is missing.

    Raises
    ------
    GramscopeError
        If it cannot be opened; see `open_path`.
    """
    source = open_path(paths, should_stop=should_stop, progress=progress, heads=heads)
    facts = {"name": source.name, **source.facts}
    width = max(map(len, facts))
    source.close()
    return "\n".join(f"{name:<{width}}  {value}" for name, value in facts.items())
