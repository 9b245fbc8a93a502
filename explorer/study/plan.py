"""What a study is made of: models, kinds, levels and seeds, cut into units that are computed once each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast, get_args

from explorer import __version__
from explorer.params import AttackKind, Change, Contamination, Form, PixelKind, Queries
from explorer.settings import resource
from explorer.units import stamp

DIGITS = "digits"
"""Stands for the shipped digit models in place of a path."""
CLEAN = "clean"
ATTACKS = get_args(AttackKind)
KINDS = (*get_args(PixelKind), *ATTACKS)
SEEDLESS = (CLEAN, "blur", "fgsm")
"""What leaves nothing to chance: one run stands for all seeds."""
LEVELS: dict[str, tuple[float, ...]] = {
    "pixel noise": (0.1, 0.2, 0.3, 0.4, 0.5),
    "salt and pepper": (0.05, 0.1, 0.2, 0.3, 0.4),
    "blur": (0.5, 0.75, 1.0, 1.5, 2.0),
    "occlusion": (0.05, 0.1, 0.2, 0.3, 0.4),
    "fgsm": (0.02, 0.05, 0.1, 0.15, 0.2),
    "pgd": (0.02, 0.05, 0.1),
}
"""The levels that are tried unless others are given."""


@dataclass(frozen=True, slots=True)
class Swap:
    """RPC-Attention in every layer of a model trained without it; see `explorer.maths.rpc.pap`."""

    form: Form = "published"
    queries: Queries = "asymmetric"
    lam: float | None = None
    iterations: int = 2


@dataclass(frozen=True, slots=True)
class Model:
    """One trained model.

    Attributes
    ----------
    row : str
        What it is one of: models of a row differ by their training seed.
    training : int
        Its training seed, or its place in the row where the seed is not known.
    path : str
        Absolute; of a shipped model its place in the resources, the same wherever that is.
    swap : Swap or None
        None: the model attends as it was trained to.
    """

    row: str
    training: int
    path: str
    swap: Swap | None = None

    @property
    def file(self) -> Path:
        """Where it lies on this machine."""
        path = Path(self.path)
        return path if path.is_absolute() else resource(self.path)


@dataclass(frozen=True, slots=True)
class Setting:
    """One study, whole: equal settings give equal numbers on one machine.

    Attributes
    ----------
    models : tuple of Model
    data : str
        A folder with a subfolder a class, or a table of file and label; empty: the digits' test images.
    images : int or None
        How many images at most, as many of each class as there are; None: all.
    kinds : tuple of str
    levels : tuple of (str, tuple of float)
        Of kinds whose levels are not the usual ones.
    seeds : int
        Contamination seeds, 0, 1, …
    steps : int
        Of PGD.
    device : str
    """

    models: tuple[Model, ...]
    data: str = ""
    images: int | None = None
    kinds: tuple[str, ...] = KINDS
    levels: tuple[tuple[str, tuple[float, ...]], ...] = ()
    seeds: int = 5
    steps: int = 10
    device: str = "auto"

    def levels_of(self, kind: str) -> tuple[float, ...]:
        """Return the levels of a kind, from low to high, without 0, which is the clean image."""
        given = dict(self.levels).get(kind, LEVELS[kind])
        return tuple(sorted({level for level in given if level > 0}))

    def seeds_of(self, kind: str) -> range:
        """Return the contamination seeds that differ for a kind."""
        return range(1 if kind in SEEDLESS else self.seeds)

    @property
    def rows(self) -> tuple[str, ...]:
        """What is compared, each once."""
        return tuple(dict.fromkeys(model.row for model in self.models))

    def trained(self, row: str) -> tuple[Model, ...]:
        """Return the models of a row."""
        return tuple(model for model in self.models if model.row == row)


@dataclass(frozen=True, slots=True)
class Unit:
    """What is computed and kept as a whole: the answers of one model to all images at one level.

    Attributes
    ----------
    model, kind, level, seed, steps, device
        As in `Setting`; level and seed are 0 for clean images, steps for all but PGD.
    data : str
        The fingerprint of the images.
    """

    model: Model
    kind: str
    level: float
    seed: int
    steps: int
    data: str
    device: str

    @property
    def name(self) -> str:
        """Where in the study the unit stands, for a person."""
        what = self.kind if self.kind == CLEAN else f"{self.kind} {self.level:g}, seed {self.seed}"
        return f"{self.model.row} {self.model.training}, {what}"

    @property
    def passes(self) -> int:
        """About how many passes through the model it takes, to contaminate and to answer."""
        if self.kind == CLEAN:
            return 1
        return 1 + Change(cast(Contamination, self.kind), self.level, steps=self.steps).passes

    @property
    def key(self) -> str:
        """What the answers depend on, as a file name: equal keys have equal answers."""
        parts = asdict(self)
        del parts["device"], parts["model"]["row"], parts["model"]["training"]
        parts["file"] = stamp(self.model.file)
        parts["version"] = __version__
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def units_of(setting: Setting, data: str) -> tuple[Unit, ...]:
    """Return everything that a study computes: clean images first, then seed by seed.

    Parameters
    ----------
    data : str
        The fingerprint of the images.
    """

    def unit(model: Model, kind: str, level: float, seed: int) -> Unit:
        steps = setting.steps if kind == "pgd" else 0
        return Unit(model, kind, level, seed, steps, data, setting.device)

    def contaminated() -> Iterator[Unit]:
        for seed in range(setting.seeds):
            for model in setting.models:
                for kind in setting.kinds:
                    if seed in setting.seeds_of(kind):
                        yield from (unit(model, kind, level, seed) for level in setting.levels_of(kind))

    return (*(unit(model, CLEAN, 0.0, 0) for model in setting.models), *contaminated())
