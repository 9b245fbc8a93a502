"""A study end to end: numbers against a plain evaluation, resuming, the same again."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.errors import Stopped
from explorer.maths.pixels import contaminate_pixels
from explorer.models.digits_data import as_input, load_digits
from explorer.models.open import open_path
from explorer.models.vit_source import StateDictSource
from explorer.study import compute
from explorer.study.plan import CLEAN, Setting, Swap, units_of
from explorer.study.run import StudyOutcome, run_study, steps
from explorer.units import Store

CPU = torch.device("cpu")


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in path.read_text().splitlines() if line[0] != "#"))


def test_the_tables_hold_what_a_plain_evaluation_gives(studied: StudyOutcome, small: Setting) -> None:
    digits = load_digits("test")
    truth = torch.from_numpy(digits.labels).long()
    pixels = torch.from_numpy(digits.images.astype(np.float32))[:, None] / 16
    runs = rows_of(studied.folder / "runs.csv")
    for model in small.models:
        source = open_path(model.file)
        assert isinstance(source, StateDictSource)
        mine = {
            (row["kind"], float(row["level"]), int(row["seed"])): float(row["accuracy"])
            for row in runs
            if (row["row"], int(row["training"])) == (model.row, model.training)
        }
        with torch.no_grad():
            clean = source.logits(as_input(digits.images), CPU).argmax(-1)
            assert mine[CLEAN, 0.0, 0] == float((clean == truth).double().mean())
            for seed in (0, 1):
                parts = [
                    contaminate_pixels(part, "pixel noise", 0.2, seed * compute.STRIDE + 60 * number)
                    for number, part in enumerate(pixels.split(60))
                ]
                noisy = source.logits((torch.cat(parts) - 0.5) / 0.5, CPU).argmax(-1)
                assert mine["pixel noise", 0.2, seed] == float((noisy == truth).double().mean())
    for row in rows_of(studied.folder / "accuracies.csv"):
        if row["level"] != "mean":
            level = float(row["level"])
            kind = row["kind"] if level else CLEAN
            same = [
                float(run["accuracy"])
                for run in runs
                if (run["row"], run["kind"], float(run["level"])) == (row["row"], kind, level)
            ]
            assert float(row["mean"]) == pytest.approx(np.mean(same))


def test_the_json_says_what_was_done(studied: StudyOutcome, small: Setting) -> None:
    document = json.loads((studied.folder / "study.json").read_text())
    assert document["done"] == document["wanted"] == len(units_of(small, "digits"))
    assert document["setting"]["seeds"] == 2 and document["images"] == 360
    assert document["levels"] == {"pixel noise": [0.2, 0.4], "fgsm": [0.1]}
    assert len(document["says"]) == 3 and "0 shows no difference" in document["says"][-1]


def test_fgsm_lowers_the_accuracy_of_every_digit_model(studied: StudyOutcome, small: Setting) -> None:
    for model in small.models:
        clean, attacked = (
            studied.answers.right[place]
            for place in ((model, CLEAN, 0.0, 0), (model, "fgsm", 0.1, 0))
        )  # fmt: skip
        assert attacked.mean() <= clean.mean() - 0.2


def test_pgd_lowers_it_too_and_its_seed_and_steps_count(small: Setting) -> None:
    desk = compute.Desk(None)
    few = replace(small, models=small.models[:1], kinds=("pgd",), levels=(("pgd", (0.1,)),), steps=3)
    clean, first, other = units_of(few, "digits")
    truth = desk.question(desk.open(few.models[0])).classes.numpy()
    answers = [
        compute.compute(unit, desk) for unit in (clean, first, other, replace(first, steps=1), first)
    ]  # fmt: skip
    accuracies = [(said == truth).mean() for said in answers]
    assert max(accuracies[1:3]) <= accuracies[0] - 0.3
    assert accuracies[3] > accuracies[1]
    assert np.array_equal(answers[1], answers[4]) and not np.array_equal(answers[1], answers[2])
    assert len({unit.key for unit in (clean, first, other, replace(first, steps=1))}) == 4
    desk.close()


def test_the_same_again_bit_for_bit(studied: StudyOutcome, small: Setting, tmp_path: Path) -> None:
    again = run_study(small, tmp_path)
    for name in ("runs.csv", "accuracies.csv", "comparisons.csv", "study.json"):
        assert (tmp_path / name).read_bytes() == (studied.folder / name).read_bytes()
    assert again.reused == 0


def test_a_killed_run_goes_on_and_computes_nothing_twice(
    studied: StudyOutcome, small: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    outcome = run_study(
        small, tmp_path, lambda _, __, name: done.append(name), should_stop=lambda: len(done) > 7
    )
    assert outcome.stopped and 0 < len(outcome.answers.right) < outcome.answers.wanted
    (tmp_path / "units" / "half.json").write_text("{")
    finished = len(outcome.answers.right)
    asked: list[str] = []
    monkeypatch.setattr(
        "explorer.study.run.compute",
        lambda unit, *rest: asked.append(unit.name) or compute.compute(unit, *rest),
    )
    whole = run_study(small, tmp_path)
    assert whole.reused == finished
    assert len(asked) == len(set(asked)) == whole.answers.wanted - finished
    for name in ("accuracies.csv", "comparisons.csv"):
        assert (tmp_path / name).read_bytes() == (studied.folder / name).read_bytes()


def test_a_damaged_part_is_computed_again(small: Setting, tmp_path: Path) -> None:
    few = replace(small, kinds=("fgsm",), models=small.models[:1])
    first = run_study(few, tmp_path)
    next((tmp_path / "units").glob("*.json")).write_text("{ half")
    again = run_study(few, tmp_path)
    assert again.reused == len(first.answers.right) - 1


def test_another_level_or_seed_reuses_what_is_the_same(small: Setting, tmp_path: Path) -> None:
    few = replace(small, models=small.models[:1], kinds=("pixel noise",))
    first = run_study(few, tmp_path)
    more = run_study(replace(few, levels=(("pixel noise", (0.2, 0.4, 0.5)),), seeds=3), tmp_path)
    assert more.reused == len(first.answers.right)


def test_it_stops_within_a_batch(small: Setting, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        list(steps(small, Store(tmp_path), should_stop=lambda: True))


def test_rpc_swapped_in_and_taken_out_again(small: Setting, tmp_path: Path) -> None:
    softmax = small.models[0]
    rows = softmax, replace(softmax, row="swapped", swap=Swap()), replace(softmax, row="after")
    right = run_study(replace(small, models=rows, kinds=()), tmp_path).answers.right
    before, swapped, after = (right[model, CLEAN, 0.0, 0] for model in rows)
    assert swapped.mean() < before.mean()
    assert np.array_equal(after, before)


def test_the_time_left_counts_gradients_and_ends_at_nothing(small: Setting) -> None:
    setting = replace(small, models=small.models[:1], kinds=("pixel noise", "fgsm"), seeds=1)
    first, *rest = steps(setting)
    left = [step.left for step in rest]
    assert first.left is None and all(seconds > 0 for seconds in left[:-1]) and left[-1] == 0
    assert [unit.passes for unit in units_of(replace(setting, kinds=("pgd",), steps=10), "")][-1] == 32
