"""Along training and over inputs: means, their bars, and how many figures they are of."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.maths.evidence_draws import Draws
from explorer.models.controls import prescribed_values
from explorer.report.run import run_report

FEW = Draws(cheap=40, costly=1, nulls=("permutation",), families=())


def training(folder: Path) -> Path:
    """Write heads whose values become V* at step 1000."""
    rng = np.random.default_rng(0)
    keys = rng.normal(size=(3, 40, 6))
    stars = np.stack([prescribed_values(torch.from_numpy(k), 6**-0.5).numpy() for k in keys])
    folder.mkdir()
    for step, share in ((20, 0.0), (100, 0.7), (1000, 1.0)):
        values = share * stars + (1 - share) * rng.normal(size=stars.shape)
        np.savez(folder / f"step-{step}.npz", q=keys, k=keys, v=values)
    return folder


def test_a_folder_of_checkpoints_is_a_series(tmp_path: Path) -> None:
    outcome = run_report(training(tmp_path / "run"), out=tmp_path / "out", draws=FEW)
    assert outcome.exit_code == 0 and outcome.computed == 3
    document = json.loads((tmp_path / "out" / "report.json").read_text())
    overlap = {
        unit["step"]: np.mean([head["measures"]["overlap"] for head in unit["heads"]])
        for unit in document["units"]
    }
    assert list(overlap) == [20, 100, 1000]
    assert overlap[20] < overlap[100] < overlap[1000] == pytest.approx(1.0)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Along training" in page and "bars the deviation over heads" in page
    for label in ("error on the true axes", "|error|, learned output", "mean ‖h‖² learned", "z, shuffled"):
        assert label in page


def test_many_inputs_give_standard_errors_with_n(tmp_path: Path) -> None:
    outcome = run_report("controls", out=tmp_path, layers=[0, 1], samples=4, draws=FEW)
    assert outcome.computed == 8
    document = json.loads((tmp_path / "report.json").read_text())
    by_input = [
        np.mean([head["measures"]["overlap"] for head in unit["heads"]])
        for unit in document["units"]
        if unit["layer"] == 1
    ]
    error = np.std(by_input, ddof=1) / len(by_input) ** 0.5
    page = (tmp_path / "report.html").read_text()
    assert f"1: {np.mean(by_input):.3g} ± {error:.2g} (n = 4)" in page
    assert "standard error over n = 4 inputs" in page


def test_one_file_of_a_series_alone_is_no_series(tmp_path: Path) -> None:
    folder = training(tmp_path / "run")
    outcome = run_report(folder / "step-20.npz", out=tmp_path / "out", heads=[1], draws=FEW)
    with (tmp_path / "out" / "heads.csv").open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert outcome.exit_code == 0
    assert {row["head"] for row in rows} == {"1"}
