"""Which paths are checkpoints of one training, and at which step each was saved."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from explorer.errors import GramscopeError
from explorer.models.open import open_path
from explorer.models.series import members_of, series_of


def heads(path: Path) -> Path:
    rng = np.random.default_rng(0)
    np.savez(path, **{name: rng.normal(size=(2, 9, 4)) for name in "qkv"})
    return path


def folder(path: Path, hidden: int = 8, step: int | None = None) -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps({"model_type": "bert", "hidden_size": hidden}))
    if step is not None:
        (path / "trainer_state.json").write_text(json.dumps({"global_step": step}))
    return path


def steps(paths: Sequence[Path]) -> list[tuple[str, int]]:
    return [(member.path.name, member.step) for member in series_of(paths)]


def test_steps_are_read_from_names_and_sorted_as_numbers(tmp_path: Path) -> None:
    for step in (1000, 200, 30):
        folder(tmp_path / "run" / f"checkpoint-{step}")
    expected = [("checkpoint-30", 30), ("checkpoint-200", 200), ("checkpoint-1000", 1000)]
    assert steps([tmp_path / "run"]) == expected
    assert steps(sorted((tmp_path / "run").iterdir())) == expected


def test_the_trainers_own_count_wins_over_the_name(tmp_path: Path) -> None:
    folder(tmp_path / "v2-best", step=700)
    folder(tmp_path / "v2-last", step=900)
    assert steps([tmp_path / "v2-last", tmp_path / "v2-best"]) == [("v2-best", 700), ("v2-last", 900)]


def test_without_steps_the_order_counts(tmp_path: Path) -> None:
    early, late = folder(tmp_path / "zeroth"), folder(tmp_path / "another")
    assert steps([early, late]) == [("zeroth", 0), ("another", 1)]


def test_parts_of_one_model_and_strangers_are_no_series(tmp_path: Path) -> None:
    model = folder(tmp_path / "model")
    heads(model / "model.npz")
    (model / "model.safetensors").write_bytes(b"")
    assert not series_of([model / "config.json", model / "model.safetensors"])
    assert not series_of([model])
    assert not series_of([model, folder(tmp_path / "other", hidden=16)])


def test_a_checkpoint_with_checkpoints_inside_is_itself(tmp_path: Path) -> None:
    model = folder(tmp_path / "model")
    folder(model / "checkpoint-10")
    folder(model / "checkpoint-20")
    assert [member.path for member in members_of([model])] == [model]


def test_the_last_of_a_series_is_opened(tmp_path: Path) -> None:
    paths = [heads(tmp_path / f"step-{step}.npz") for step in (5, 40)]
    for given in (paths, list(reversed(paths)), tmp_path):
        source = open_path(given)
        assert "step-40" in source.name


def test_strangers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match="checkpoints of one training"):
        open_path([folder(tmp_path / "a" / "m"), folder(tmp_path / "b" / "m", hidden=16)])
