"""Means, the two spreads and paired differences, worked out again another way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from explorer.study.plan import CLEAN, Model, Setting
from explorer.study.table import Answers, Cell, Comparison, cells, comparisons, interval, interval_over_images

A0, A1, B0, B1 = (Model(row, seed, f"/{row}{seed}") for row in ("A", "B") for seed in (0, 1))
LEVELS = (("occlusion", (0.1, 0.2)), ("blur", (1.0,)))
SETTING = Setting((A0, A1, B0, B1), kinds=("occlusion", "blur"), levels=LEVELS, seeds=3)
IMAGES = 7


def made(setting: Setting = SETTING) -> Answers:
    rng = np.random.default_rng(0)
    right = {(model, CLEAN, 0.0, 0): rng.random(IMAGES) < 0.9 for model in setting.models}
    for kind in setting.kinds:
        for level in setting.levels_of(kind):
            for seed in setting.seeds_of(kind):
                for model in setting.models:
                    right[model, kind, level, seed] = rng.random(IMAGES) < 0.6
    return Answers(setting, right, 0.1, len(right))


def cell(answers: Answers, row: str, kind: str, level: float) -> Cell:
    return next(c for c in cells(answers) if (c.row, c.kind, c.level) == (row, kind, level))


def compared(answers: Answers, kind: str, level: float) -> Comparison:
    return next(c for c in comparisons(answers) if (c.kind, c.level) == (kind, level))


def accuracies(answers: Answers, kind: str, level: float, row: str) -> list[list[float]]:
    """Accuracy by training and contamination seed, by plain loops."""
    seeds = [0] if kind == "blur" else [0, 1, 2]
    models = [model for model in answers.setting.models if model.row == row]
    return [
        [sum(answers.right[model, kind, level, seed].tolist()) / IMAGES for seed in seeds] for model in models
    ]


@pytest.mark.parametrize("row", ["A", "B"])
@pytest.mark.parametrize("level", [0.1, 0.2])
def test_the_two_spreads_are_kept_apart(row: str, level: float) -> None:
    answers = made()
    found, by_hand = cell(answers, row, "occlusion", level), accuracies(answers, "occlusion", level, row)
    means = [sum(seeds) / 3 for seeds in by_hand]
    assert found.mean == pytest.approx(sum(means) / 2)
    assert (found.low, found.high) == (pytest.approx(min(means)), pytest.approx(max(means)))
    assert found.training_sd == pytest.approx(abs(means[0] - means[1]) / math.sqrt(2))
    within = [sum((x - mean) ** 2 for x in seeds) / 2 for seeds, mean in zip(by_hand, means, strict=True)]
    assert found.contamination_sd == pytest.approx(math.sqrt(sum(within) / 2))
    assert (found.trainings, found.seeds, found.images) == (2, 3, IMAGES)


def test_moving_every_seed_of_a_model_moves_the_spread_over_trainings_alone() -> None:
    answers = made()
    rng = np.random.default_rng(1)
    right = dict(answers.right)
    for seed in range(3):
        hits = rng.permutation(IMAGES) < seed
        right[A0, "occlusion", 0.1, seed] = hits
        right[A1, "occlusion", 0.1, seed] = np.concatenate([hits[:-4], np.ones(4, bool)]) | hits
    far = Answers(SETTING, dict(right), 0.1, len(right))
    for seed in range(3):
        right[A1, "occlusion", 0.1, seed] = right[A0, "occlusion", 0.1, seed]
    near = Answers(SETTING, right, 0.1, len(right))
    assert cell(near, "A", "occlusion", 0.1).training_sd == 0
    assert cell(far, "A", "occlusion", 0.1).training_sd > 0
    assert cell(near, "A", "occlusion", 0.1).contamination_sd == pytest.approx(1 / IMAGES)


def test_where_chance_has_no_part_there_is_no_spread_over_its_seeds() -> None:
    answers = made()
    assert math.isnan(cell(answers, "A", "blur", 1.0).contamination_sd)
    assert cell(answers, "A", "blur", 1.0).seeds == 1
    assert math.isnan(cell(answers, "A", "occlusion", 0.0).contamination_sd)


def test_the_mean_over_levels_leaves_the_clean_images_out() -> None:
    answers = made()
    overall = next(c for c in cells(answers) if (c.row, c.kind) == ("A", "occlusion") and math.isnan(c.level))
    both = [cell(answers, "A", "occlusion", level).mean for level in (0.1, 0.2)]
    assert overall.mean == pytest.approx(sum(both) / 2)


def test_differences_are_paired_by_image_and_by_training_seed() -> None:
    answers = made()
    found = compared(answers, "occlusion", 0.2)
    assert (found.row, found.other) == ("B", "A")
    right = {place: hits.astype(float) for place, hits in answers.right.items()}
    by_image = [
        sum(
            right[b, "occlusion", 0.2, seed][i] - right[a, "occlusion", 0.2, seed][i]
            for a, b in ((A0, B0), (A1, B1))
            for seed in range(3)
        )
        / 6
        for i in range(IMAGES)
    ]
    assert found.difference == pytest.approx(np.mean(by_image))
    expected = stats.t.interval(0.95, IMAGES - 1, np.mean(by_image), stats.sem(by_image))
    assert (found.images_low, found.images_high) == pytest.approx(expected)
    a, b = (np.mean(accuracies(answers, "occlusion", 0.2, row), axis=1) for row in ("A", "B"))
    expected = stats.t.interval(0.95, 1, np.mean(b - a), stats.sem(b - a))
    assert (found.training_low, found.training_high) == pytest.approx(expected)
    clean = [[answers.right[model, CLEAN, 0.0, 0].mean() for model in pair] for pair in ((A0, A1), (B0, B1))]
    assert found.since_clean == pytest.approx(np.mean(b - a) - np.mean(clean[1]) + np.mean(clean[0]))


def test_models_of_other_training_seeds_are_not_paired() -> None:
    strange = Model("B", 7, "/B7")
    answers = made(Setting((A0, A1, B0, strange), kinds=("blur",), levels=(("blur", (1.0,)),)))
    found = compared(answers, "blur", 1.0)
    assert math.isnan(found.training_low) and found.trainings == 0
    assert found.images_low < found.difference < found.images_high


def test_an_unfinished_study_shows_what_there_is_and_compares_nothing_by_halves() -> None:
    whole = made()
    right = {place: hits for place, hits in whole.right.items() if place[3] == 0}
    part = Answers(SETTING, right, 0.1, len(whole.right))
    assert cell(part, "A", "occlusion", 0.1).seeds == 1
    assert {c.kind for c in comparisons(part) if c.level != 0} == {"blur"}


def test_clean_images_are_compared_too_and_add_nothing_to_themselves() -> None:
    found = compared(made(), "occlusion", 0.0)
    a, b = (np.mean(accuracies_clean(row)) for row in ("A", "B"))
    assert found.difference == pytest.approx(b - a)
    assert math.isnan(found.since_clean)


def accuracies_clean(row: str) -> list[float]:
    answers = made()
    models = [model for model in answers.setting.models if model.row == row]
    return [float(answers.right[model, CLEAN, 0.0, 0].mean()) for model in models]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.2], (math.nan, math.nan)),
        ([0.1 + 0.2, 0.3, 0.3], (math.nan, math.nan)),
        ([0.0, 1.0], (0.5 - 6.3531, 0.5 + 6.3531)),
    ],
)
def test_intervals(values: list[float], expected: tuple[float, float]) -> None:
    assert interval(values) == pytest.approx(expected, abs=1e-4, nan_ok=True)


def test_images_that_are_all_alike_leave_something_open() -> None:
    assert interval_over_images(np.zeros(30)) == pytest.approx((-0.1, 0.1))
    assert interval_over_images(np.array([0.0, 1.0])) == interval([0.0, 1.0])
