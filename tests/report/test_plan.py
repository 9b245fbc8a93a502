"""Which checkpoints a report is of, what they are called, and when two units have the same numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer import evidence
from explorer.asked import Asked
from explorer.errors import GramscopeError
from explorer.maths.evidence_draws import Draws
from explorer.models.open import open_path
from explorer.params import Params
from explorer.report.plan import checkpoints_of, inputs_of, labels_of, units_of
from explorer.report.work import serially
from explorer.session import Origin


def heads(path: Path) -> Path:
    rng = np.random.default_rng(0)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **{name: rng.normal(size=(2, 9, 4)) for name in "qkv"})
    return path


def folder(path: Path, hidden: int = 8) -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps({"model_type": "bert", "hidden_size": hidden}))
    return path


def test_what_is_built_in_is_no_part_of_a_series(tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match="“sample” is measured alone"):
        checkpoints_of([heads(tmp_path / "a.npz"), Path("sample")])


def test_a_model_in_a_folder_of_anyones_name_is_named_with_the_folder_above(tmp_path: Path) -> None:
    (only,) = checkpoints_of([folder(tmp_path / "encoder" / "model")])
    assert only.label == "encoder/model"
    (loose,) = checkpoints_of([heads(tmp_path / "run7" / "heads.npz")])
    assert loose.label == "heads.npz"


def test_checkpoints_of_equal_names_are_told_apart(tmp_path: Path) -> None:
    paths = [folder(tmp_path / name / "step") for name in ("seed-1", "seed-2")]
    assert [each.label for each in checkpoints_of(paths)] == ["seed-1/step", "seed-2/step"]
    same = [Path("/a/x/m"), Path("/b/x/m")]
    assert labels_of(same) == [str(path) for path in same]


def test_a_series_has_its_names_and_steps(tmp_path: Path) -> None:
    for step in (1000, 20):
        folder(tmp_path / "run" / f"checkpoint-{step}")
    found = [(each.label, each.step) for each in checkpoints_of([tmp_path / "run"])]
    assert found == [("checkpoint-20", 20), ("checkpoint-1000", 1000)]


def test_strangers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match="not checkpoints of one training"):
        checkpoints_of([folder(tmp_path / "a"), folder(tmp_path / "b", hidden=16)])
    with pytest.raises(GramscopeError, match="not checkpoints of one training"):
        checkpoints_of([tmp_path])


def test_the_window_and_the_command_keep_the_same_units(tmp_path: Path) -> None:
    path = heads(tmp_path / "heads.npz")
    source = open_path(path)
    there = evidence.plan(source, Origin(paths=(str(path),)), Params(), Asked()).units
    here = units_of(source, checkpoints_of([path]), inputs_of(source, (), None), draws=Draws())
    assert [unit.key for unit in there] == [unit.key for unit in here]


def test_a_units_key_follows_what_its_numbers_depend_on(tmp_path: Path) -> None:
    path = heads(tmp_path / "heads.npz")
    source = open_path(path)
    unit, *_ = units_of(source, checkpoints_of([path]), inputs_of(source, (), None), draws=Draws())
    named = replace(unit, checkpoint=replace(unit.checkpoint, label="other", step=5), sample=3)
    assert named.key == unit.key
    assert replace(unit, draws=Draws(seed=1)).key != unit.key
    assert replace(unit, layer=1).key != unit.key
    key = unit.key
    heads(path)
    path.write_bytes(path.read_bytes() + b" ")
    assert unit.key != key


def test_an_answered_head_count_reaches_every_checkpoint_of_the_series(tmp_path: Path) -> None:
    paths = [tmp_path / f"step-{step}.npz" for step in (1, 2)]
    for path in paths:
        drawn = np.random.default_rng(0)
        np.savez(path, **{name: drawn.standard_normal((6, 384)) for name in "qkv"})
    origin = Origin(tuple(map(str, paths)), heads=4)
    source = open_path(paths, heads=4)
    work = evidence.plan(source, origin, Params(), Asked(series=True, cheap=1, costly=0, untrained=0))
    done = list(serially(work.units, desk=work.desk))
    assert [each.failure for each in done] == ["", ""]
    assert [len((each.record or {})["heads"]) for each in done] == [4, 4]
    (other,) = evidence.plan(source, Origin((str(paths[0]),), heads=8), Params(), Asked()).units
    assert other.key != done[0].unit.key
