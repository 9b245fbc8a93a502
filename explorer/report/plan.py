"""What a report is made of: checkpoints, inputs and layers, cut into units that are computed once each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from explorer import __version__
from explorer.errors import GramscopeError
from explorer.maths.evidence_draws import Draws
from explorer.models.base import Source
from explorer.models.batch import entry_of
from explorer.models.checkpoint import has_usual_name
from explorer.models.huggingface import display_name
from explorer.models.series import members_of, series_of
from explorer.params import Input
from explorer.units import stamp

MOST_FROM_A_FILE = 16
"""Inputs taken of a file or folder unless a number is given."""
LAYERS_AT_ONCE = 8
"""Layers that one forward pass keeps."""
CONTROLS, SAMPLE = "controls", "sample"
BUILT_IN = {CONTROLS: "the built-in controls", SAMPLE: "the built-in sample"}
"""Stand for the built-in controls, and the embedded sample, in place of a path; and their names."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One model of a series, or the only one.

    Attributes
    ----------
    path : str
        Absolute, or "controls"; empty: a source that was not opened from a path.
    label : str
        Its name in tables.
    step : int
        As `explorer.models.series.Member` has it.
    made : str
        What a source without a path was made from.
    head_count : int or None
        How many heads there are, as the person said where the file does not.
    """

    path: str
    label: str
    step: int
    made: str = ""
    head_count: int | None = None


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
    def without_nulls(self) -> Unit:
        """The same, compared with nothing: what draws under any null have in common."""
        return replace(self, draws=replace(self.draws, nulls=()), untrained=0)

    @property
    def key(self) -> str:
        """What the numbers depend on, as a file name: equal keys have equal numbers."""
        made_of = replace(self.checkpoint, label="", step=0)
        parts = asdict(replace(self, checkpoint=made_of, sample=0, group=(), device=""))
        parts["files"] = [stamp(Path(path)) for path in (self.checkpoint.path, self.input.path) if path]
        parts["version"] = __version__
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def checkpoints_of(paths: Sequence[str | Path], head_count: int | None = None) -> tuple[Checkpoint, ...]:
    """Expand what was given to a series, in the order of its steps.

    A folder that is no checkpoint itself, but holds checkpoints, is a series; so are several paths.

    Parameters
    ----------
    head_count : int or None
        How many heads each has, where the files do not say.

    Raises
    ------
    GramscopeError
        If there is nothing at a path, or several are not checkpoints of one training.
    """
    if known := [str(given) for given in paths if str(given) in BUILT_IN]:
        if len(paths) > 1:
            raise GramscopeError(f"“{known[0]}” is measured alone: give no other path with it.")
        return (Checkpoint(known[0], BUILT_IN[known[0]], 0),)
    for given in paths:
        if not Path(given).exists():
            raise GramscopeError(f"There is nothing at {given}. Give a checkpoint, or a folder of them.")
    absolute = [Path(given).absolute() for given in paths]
    members = series_of(absolute)
    if not members and len(members_of(absolute)) > 1:
        raise GramscopeError(
            "These are not checkpoints of one training. Give one checkpoint, several of one model, or a "
            "folder of them."
        )
    if not members:
        return (Checkpoint(str(absolute[0]), labels_of(absolute)[0], 0, head_count=head_count),)
    labels = labels_of([member.path for member in members])
    named = zip(members, labels, strict=True)
    return tuple(
        Checkpoint(str(member.path), label, member.step, head_count=head_count) for member, label in named
    )


def labels_of(paths: Sequence[Path]) -> list[str]:
    """Name checkpoints by the ends of their paths, as far as that tells them apart."""
    for name in (_short, lambda path: f"{path.parent.name}/{path.name}", str):
        labels = [name(path) for path in paths]
        if len(set(labels)) == len(labels):
            break
    return labels


def _short(path: Path) -> str:
    return f"{path.parent.name}/{path.name}" if has_usual_name(path) else display_name(path)


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
        single += [_alone(given, given.index + i) for i in range(min(wanted, available - given.index))]
    return tuple(single)


def _alone(given: Input, index: int) -> Input:
    """Return one of the inputs that several files hold, as one of its own file."""
    if not given.more:
        return replace(given, index=index)
    path, place = entry_of(given.files, index)
    return replace(given, path=str(path), more=(), index=place)


def units_of(
    source: Source,
    checkpoints: Sequence[Checkpoint],
    inputs: Sequence[Input],
    *,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    device: str = "auto",
    draws: Draws,
    untrained: int = 0,
) -> list[Unit]:
    """Cut what is asked for into units, checkpoint by checkpoint.

    Parameters
    ----------
    source : Source
        One of the checkpoints, which says what all of them have.
    inputs : sequence of Input
        Single ones, as `inputs_of` gives.
    layers, heads : sequence of int or None
        True numbers; None: all.
    """
    all_layers = range(source.first_layer, source.layers)
    chosen = tuple(all_layers) if layers is None else tuple(sorted(set(layers)))
    groups = [chosen[i : i + LAYERS_AT_ONCE] for i in range(0, len(chosen), LAYERS_AT_ONCE)]
    return [
        Unit(
            checkpoint, each, sample, layer, group, None if heads is None else tuple(heads),
            device, draws, untrained if hasattr(source, "untrained") else 0,
        )
        for checkpoint in checkpoints
        for sample, each in enumerate(inputs)
        for group in groups
        for layer in group
    ]  # fmt: skip


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
