"""A study's answers as numbers: accuracies with two spreads kept apart, and paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile

import numpy as np
from numpy.typing import NDArray

from explorer.study.plan import CLEAN, SEEDLESS, Model, Setting, Unit

Array = NDArray[np.float64]
Place = tuple[Model, str, float, int]
"""A model, a kind, a level and a contamination seed."""
CONFIDENCE, ROUNDING = 0.95, 1e-12
OVERALL = math.nan
"""In place of a level: the mean over all levels but 0."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Which images were named rightly, as far as it is known.

    Attributes
    ----------
    setting : Setting
    right : dict of (Model, kind, level, seed) to ndarray of bool, shape (images,)
    chance : float
        Accuracy of always giving the commonest class.
    wanted : int
        How many places there will be.
    notes : tuple of str
        Sentences that the person must know.
    """

    setting: Setting
    right: Mapping[Place, NDArray[np.bool_]]
    chance: float
    wanted: int
    notes: tuple[str, ...] = ()

    @property
    def images(self) -> int:
        """How many images each model was asked about."""
        return next((len(right) for right in self.right.values()), 0)

    def of(self, model: Model, kind: str, level: float) -> Array | None:
        """Return what a model got right, (seeds so far, images) of 0 and 1; None until there is a seed."""
        if math.isnan(level):
            return self._over_levels(model, kind)
        if level == 0:
            kind = CLEAN
        places = ((model, kind, level, seed) for seed in self.setting.seeds_of(kind))
        known = [self.right[place] for place in takewhile(self.right.__contains__, places)]
        return np.stack(known).astype(np.float64) if known else None

    def _over_levels(self, model: Model, kind: str) -> Array | None:
        parts = [self.of(model, kind, level) for level in self.setting.levels_of(kind)]
        known = [part for part in parts if part is not None]
        return np.mean(_as_many(known), axis=0) if known and len(known) == len(parts) else None


def _as_many(parts: Sequence[Array]) -> Array:
    """Stack (seeds, images), each cut to the seeds that all have."""
    seeds = min(len(part) for part in parts)
    return np.stack([part[:seeds] for part in parts])


def place_of(unit: Unit) -> Place:
    """Return where a unit's answers belong."""
    return unit.model, unit.kind, unit.level, unit.seed


@dataclass(frozen=True, slots=True)
class Cell:
    """The accuracy of one row at one level of one kind.

    Attributes
    ----------
    row, kind : str
    level : float
        NaN: the mean over all levels but 0.
    mean : float
        Over training seeds, contamination seeds and images.
    low, high : float
        Range over training seeds of the mean over contamination seeds.
    training_sd : float
        Deviation (n − 1) of the same; NaN for a single training seed.
    contamination_sd : float
        Deviation (n − 1) over contamination seeds within a trained model, root mean square over models; NaN
        where chance has no part in the contamination, or there is a single seed.
    trainings, seeds, images : int
        How many of each are in it so far.
    """

    row: str
    kind: str
    level: float
    mean: float
    low: float
    high: float
    training_sd: float
    contamination_sd: float
    trainings: int
    seeds: int
    images: int


def cells(answers: Answers) -> tuple[Cell, ...]:
    """Return the accuracies that are known, by kind, row and level; the mean over levels last."""
    return tuple(_cells(answers))


def _cells(answers: Answers) -> Iterator[Cell]:
    setting = answers.setting
    for kind in setting.kinds:
        for row in setting.rows:
            for level in (0.0, *setting.levels_of(kind), OVERALL):
                parts = [answers.of(model, kind, level) for model in setting.trained(row)]
                known = [part for part in parts if part is not None]
                if known:
                    yield _cell(row, kind, level, known)


def _cell(row: str, kind: str, level: float, known: Sequence[Array]) -> Cell:
    accuracies = _as_many(known).mean(-1)
    by_training = accuracies.mean(1)
    trainings, seeds = accuracies.shape
    chance = seeds > 1 and level != 0 and kind not in SEEDLESS
    return Cell(
        row, kind, level, float(by_training.mean()), float(by_training.min()), float(by_training.max()),
        float(by_training.std(ddof=1)) if trainings > 1 else math.nan,
        float(np.sqrt(accuracies.var(axis=1, ddof=1).mean())) if chance else math.nan,
        trainings, seeds, known[0].shape[1],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much more accurate one row is than another, on the same images and contamination seeds.

    Attributes
    ----------
    row, other, kind : str
    level : float
        NaN: the mean over all levels but 0.
    difference : float
        Accuracy of `row` minus that of `other`.
    images_low, images_high : float
        95 % interval over images: what other images of this kind would give these trained models.
    training_low, training_high : float
        95 % interval over training seeds: what models trained with other seeds would give on these images
        (Student's t on the differences of models of equal seed); NaN unless both rows have the same seeds,
        two at least, and the differences differ.
    since_clean : float
        The difference minus the difference on clean images: what the contamination has added to it; NaN for
        clean images.
    since_clean_low, since_clean_high : float
        Its 95 % interval over training seeds.
    trainings : int
        Pairs of models of equal training seed.
    """

    row: str
    other: str
    kind: str
    level: float
    difference: float
    images_low: float
    images_high: float
    training_low: float
    training_high: float
    since_clean: float
    since_clean_low: float
    since_clean_high: float
    trainings: int


def comparisons(answers: Answers) -> tuple[Comparison, ...]:
    """Compare every two rows, the later with the earlier, where both are known."""
    return tuple(_comparisons(answers))


def _comparisons(answers: Answers) -> Iterator[Comparison]:
    setting = answers.setting
    for other, row in combinations(setting.rows, 2):
        for kind in setting.kinds:
            for level in (0.0, *setting.levels_of(kind), OVERALL):
                mine, theirs = (_by_training(answers, name, kind, level) for name in (row, other))
                clean = [_by_training(answers, name, kind, 0.0) for name in (row, other)]
                if mine and theirs and all(clean):
                    yield _compare(row, other, kind, level, (mine, theirs), (clean[0], clean[1]))


def _by_training(answers: Answers, row: str, kind: str, level: float) -> dict[int, Array]:
    """Return the share of all seeds for which each image was named rightly, by training seed, (images,)."""
    seeds = 1 if level == 0 else len(answers.setting.seeds_of(kind))
    found = {model.training: answers.of(model, kind, level) for model in answers.setting.trained(row)}
    return {
        training: right.mean(0)
        for training, right in found.items()
        if right is not None and len(right) == seeds
    }


ByTraining = dict[int, Array]


def _compare(
    row: str,
    other: str,
    kind: str,
    level: float,
    both: tuple[ByTraining, ByTraining],
    clean: tuple[ByTraining, ByTraining],
) -> Comparison:
    by_image = _mean(both[0]) - _mean(both[1])
    paired = both[0].keys() == both[1].keys() and len(both[0]) > 1
    seeds = sorted(both[0]) if paired else []
    by_training = np.array([(both[0][seed] - both[1][seed]).mean() for seed in seeds])
    before = np.array([(clean[0][seed] - clean[1][seed]).mean() for seed in seeds])
    difference = float(by_image.mean())
    added = (math.nan, math.nan, math.nan)
    if level != 0:
        clean_difference = float((_mean(clean[0]) - _mean(clean[1])).mean())
        added = (difference - clean_difference, *interval(by_training - before))
    return Comparison(
        row, other, kind, level, difference, *interval_over_images(by_image), *interval(by_training), *added,
        len(seeds),
    )  # fmt: skip


def _mean(by_training: ByTraining) -> Array:
    return np.mean(list(by_training.values()), axis=0)


def interval(values: Sequence[float] | Array) -> tuple[float, float]:
    """Return the 95 % interval of a mean by Student's t; (NaN, NaN) where the values tell of no spread."""
    from scipy.stats import t

    n = len(values)
    if n < 2 or float(np.ptp(values)) < ROUNDING:
        return math.nan, math.nan
    mean, error = float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(n)
    half = float(t.ppf((1 + CONFIDENCE) / 2, n - 1)) * error
    return mean - half, mean + half


def interval_over_images(values: Array) -> tuple[float, float]:
    """Return the same over images; ±3/n where no image differs from another.

    That is what n draws without an exception leave open (the rule of three).
    """
    low, high = interval(values)
    if math.isnan(low):
        mean, half = float(np.mean(values)), 3 / len(values)
        return mean - half, mean + half
    return low, high
