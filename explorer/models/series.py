"""Checkpoints of one training: which paths are a series, and at which step each was saved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.models.checkpoint import has_usual_name
from explorer.models.safety import read_json

WEIGHTS = (".safetensors", ".pt", ".pth", ".bin", ".ckpt", ".gguf", ".npz")
TRAINER = "trainer_state.json"
PASSING = frozenset({"_name_or_path", "transformers_version", "torch_dtype", "dtype"})
"""What a config says of its file and not of the model."""


@dataclass(frozen=True, slots=True)
class Member:
    """One checkpoint of a series.

    Attributes
    ----------
    path : Path
    step : int
        The trainer's own count, else the last number in the name; the place in the series where any
        member has neither.
    """

    path: Path
    step: int


def members_of(paths: Sequence[Path]) -> tuple[Member, ...]:
    """Expand paths to checkpoints, by step: a folder that is none itself stands for those in it."""
    found = [member for path in paths for member in _inside(path) or [path]]
    steps = [_step(path) for path in found]
    known = [step for step in steps if step is not None]
    if len(found) < 2 or len(known) < len(found):
        known = list(range(len(found)))
    members = [Member(path, step) for path, step in zip(found, known, strict=True)]
    return tuple(sorted(members, key=lambda member: (member.step, member.path.name)))


def series_of(paths: Sequence[Path]) -> tuple[Member, ...]:
    """Return the members of the series that paths are; none where they are one checkpoint, or strangers.

    Several files are a series only where none is a part of a folder's model, and folders only where their
    configs describe the same model. A folder that is no checkpoint but holds one is a series of that one.
    """
    if len(paths) > 1 and not all(map(_stands_alone, paths)):
        return ()
    members = members_of(paths)
    configs = [_config(member.path) for member in members]
    alike = all(config == configs[0] for config in configs)
    alone = len(members) == 1 and (members[0].path == paths[0] or is_checkpoint(paths[0]))
    return () if alone or not alike else members


def checkpoints_within(folder: Path) -> tuple[Path, ...]:
    """Return the checkpoints of its own training that a model's folder holds, by step; none: fewer than two.

    A trainer leaves them beside the model that it ends with, all with the same config.
    """
    if not (folder / "config.json").is_file():
        return ()
    own = _config(folder)
    children = [child for child in sorted(folder.iterdir()) if (child / "config.json").is_file()]
    found = members_of([child for child in children if _config(child) == own])
    return tuple(member.path for member in found) if len(found) > 1 else ()


def _inside(path: Path) -> list[Path]:
    """Return the checkpoints in a folder that is none itself."""
    if not path.is_dir() or (path / "config.json").exists():
        return []
    folders = [child for child in sorted(path.iterdir()) if child.is_dir() and is_checkpoint(child)]
    files = [child for child in sorted(path.iterdir()) if _stands_alone(child)]
    return folders or (files if len(files) > 1 else [])


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder holds a model."""
    return (folder / "config.json").exists() or any(
        child.suffix.lower() in WEIGHTS for child in folder.iterdir()
    )


def _stands_alone(path: Path) -> bool:
    if path.is_dir():
        return is_checkpoint(path)
    return path.suffix.lower() in WEIGHTS and not has_usual_name(path)


def _step(path: Path) -> int | None:
    state = path / TRAINER
    if state.is_file():
        counted = read_json(state).get("global_step")
        if isinstance(counted, int):
            return counted
    numbers = re.findall(r"\d+", path.stem)
    return int(numbers[-1]) if numbers else None


def _config(path: Path) -> dict[str, object]:
    config = path / "config.json"
    if not config.is_file():
        return {}
    return {key: value for key, value in read_json(config).items() if key not in PASSING}
