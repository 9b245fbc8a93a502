"""What a report is made of: checkpoints, inputs and layers, cut into units that are computed once each."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from explorer import __version__
from explorer.errors import GramscopeError
from explorer.maths.evidence_draws import Draws
from explorer.models.base import Source
from explorer.params import Input
from explorer.units import stamp

MOST_FROM_A_FILE = 16
"""Inputs taken of a file or folder unless a number is given."""
CONTROLS = "controls"
"""Stands for the built-in controls in place of a path."""
WEIGHTS = (".safetensors", ".pt", ".pth", ".bin", ".ckpt", ".gguf", ".npz")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One model of a series, or the only one.

    Attributes
    ----------
    path : str
        Absolute, or "controls".
    label : str
        Its name in tables.
    step : int
        The last number in its name; its place in the series where the names have none.
    """

    path: str
    label: str
    step: int


@dataclass(frozen=True, slots=True)
class Unit:
    """What is computed and kept as a whole: one layer of one checkpoint on one input.

    Attributes
    ----------
    checkpoint : Checkpoint
    input : Input
    sample : int
        The input's place in the report.
    layer : int
    group : tuple of int
        Layers that share a forward pass with this one.
    heads : tuple of int or None
        Query heads; None: all.
    device : str
    draws : Draws
    untrained : int
        How many times the architecture is re-initialised for the null of that name.
    """

    checkpoint: Checkpoint
    input: Input
    sample: int
    layer: int
    group: tuple[int, ...]
    heads: tuple[int, ...] | None
    device: str
    draws: Draws
    untrained: int

    @property
    def name(self) -> str:
        """Where in the report the unit stands, for a person."""
        return f"{self.checkpoint.label}, sample {self.sample}, layer {self.layer}"

    @property
    def key(self) -> str:
        """What the numbers depend on, as a file name: equal keys have equal numbers."""
        parts = asdict(replace(self, sample=0, group=(), device=""))
        parts["files"] = [stamp(Path(path)) for path in (self.checkpoint.path, self.input.path) if path]
        parts["version"] = __version__
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def checkpoints_of(paths: Sequence[str | Path]) -> tuple[Checkpoint, ...]:
    """Expand what was given to a series, in the order of the steps in their names.

    A folder that is no checkpoint itself, but holds checkpoints, is a series; so are several paths.

    Raises
    ------
    GramscopeError
        If there is nothing at a path.
    """
    found: list[Path] = []
    for given in paths:
        if str(given) == CONTROLS:
            return (Checkpoint(CONTROLS, CONTROLS, 0),)
        path = Path(given).absolute()
        if not path.exists():
            raise GramscopeError(f"There is nothing at {given}. Give a checkpoint, or a folder of them.")
        found += _members(path) or [path]
    numbers = [re.findall(r"\d+", path.stem) for path in found]
    steps = [int(n[-1]) for n in numbers] if all(numbers) and len(found) > 1 else list(range(len(found)))
    members = [Checkpoint(str(path), path.name, step) for path, step in zip(found, steps, strict=True)]
    return tuple(sorted(members, key=lambda member: (member.step, member.label)))


def _members(path: Path) -> list[Path]:
    """Return the checkpoints in a folder that is none itself."""
    if not path.is_dir() or (path / "config.json").exists():
        return []
    folders = [child for child in sorted(path.iterdir()) if child.is_dir() and _is_checkpoint(child)]
    files = [child for child in sorted(path.iterdir()) if child.suffix.lower() in WEIGHTS]
    return folders or (files if len(files) > 1 else [])


def _is_checkpoint(folder: Path) -> bool:
    return (folder / "config.json").exists() or any(child.suffix in WEIGHTS for child in folder.iterdir())


def inputs_of(source: Source, inputs: Sequence[Input], samples: int | None) -> tuple[Input, ...]:
    """Expand inputs to single ones: the lines of a file, the images of a folder, built-in samples.

    Parameters
    ----------
    samples : int or None
        How many of each; None: one text, one built-in sample, and up to 16 of a file or folder.
    """
    single: list[Input] = []
    for given in inputs or (Input(),):
        if given.text:
            single.append(given)
            continue
        counter = getattr(source, "count", None)
        available = counter(given) if counter else source.samples
        wanted = samples or (MOST_FROM_A_FILE if given.path else 1)
        single += [replace(given, index=given.index + i) for i in range(min(wanted, available - given.index))]
    return tuple(single)


def refuse_unknown(source: Source, layers: Sequence[int] | None, heads: Sequence[int] | None) -> None:
    """Raise if there are no such layers or heads.

    Raises
    ------
    GramscopeError
    """
    for name, chosen, count in (("layer", layers, source.layers), ("head", heads, source.heads)):
        for number in chosen or ():
            if not 0 <= number < count:
                raise GramscopeError(
                    f"There is no {name} {number}: {source.name} has {name}s 0 to {count - 1}."
                )
