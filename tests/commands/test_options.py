"""What verbs refuse before they work: numbers out of range, and outputs that cannot be written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from explorer.__main__ import main
from explorer.commands import export, train_digits
from explorer.errors import GramscopeError
from explorer.lab import cli as lab
from explorer.models import digits_training
from explorer.params import LEVEL_MAX


def never(*_: object, **__: object) -> None:
    raise AssertionError("worked before it looked")


@pytest.mark.parametrize("kind", ["sparse", "gaussian", "blur", "fgsm"])
def test_a_level_out_of_range_is_refused_with_the_range(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    most = LEVEL_MAX[kind]  # type: ignore[index]
    for level in (most + 1, -1, float("nan")):
        given = ["--contamination", kind, f"--level={level}", "--out", str(tmp_path / "a.csv")]
        assert main(["export", "sample", *given]) == 1
        assert f"that of {kind} lies from 0 to {most:g}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "wrong",
    [
        ["--layer", "-1"], ["--iterations", "0"], ["--steps", "0"], ["--seed", "-1"], ["--lam", "0"],
        ["--mu", "nan"], ["--magnitude", "-2"], ["--dpi", "0"], ["--width-mm", "0"], ["--head-count", "0"],
    ],
)  # fmt: skip
def test_other_numbers_out_of_range_are_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["export", "sample", "--out", "a.csv", *wrong])
    assert f"argument {wrong[0]}: {wrong[1]} is not allowed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--layer", "1"], "There is no layer 1: heads has layers 0 to 0."),
        (["--head", "2"], "There is no head 2: heads has heads 0 to 1."),
        (["--query", "5"], "There is no token 5: the input has tokens 0 to 4."),
    ],
)
def test_what_the_source_does_not_have_is_refused(
    wrong: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    masked = {name: torch.randn(2, 5, 8) for name in ("q", "k", "v")} | {
        "mask": torch.ones(5, 5).tril().bool()
    }
    torch.save(masked, tmp_path / "heads.pt")
    assert main(["export", str(tmp_path / "heads.pt"), "--out", str(tmp_path / "a.csv"), *wrong]) == 1
    assert says in capsys.readouterr().err


def test_outputs_are_tried_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setattr(digits_training, "train_digits", never)
    monkeypatch.setattr(lab, "_sweep", never)
    monkeypatch.setattr(export, "_source", never)
    assert main(["train-digits", "--steps", "1", "--out", str(file / "in")]) == 1
    assert main(["pca-lab", "--sweep", "L", "--out", str(file / "in" / "a")]) == 1
    assert main(["export", "sample", "--out", str(file / "in" / "a.csv")]) == 1
    assert train_digits.VARIANTS


def test_folders_of_outputs_are_made(tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"
    given = ["--values", "4", "--kind", "linear", "--steps", "1", "--seeds", "1", "--batch", "4"]
    assert main(["pca-lab", "--sweep", "L", "--out", str(out / "lab"), *given]) == 0
    assert (out / "lab.csv").exists()
    assert main(["train-digits", "--variant", "softmax", "--steps", "4", "--out", str(out / "c")]) == 0
    assert (out / "c" / "digits-softmax-0.safetensors").exists()


def test_a_head_count_is_said_to_report_export_and_inspect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for step in (1, 2):
        drawn = torch.Generator().manual_seed(step)
        heads = {name: torch.randn(12, 384, generator=drawn) for name in "qkv"}
        torch.save(heads, run / f"step-{step}.pt")
    one, out = str(run / "step-1.pt"), tmp_path / "out"
    report = ["report", str(run), "--out", str(out), "--draws", "20", "--costly-draws", "0"]
    exported = ["export", one, "--panel", "spectrum", "--head", "3", "--out", str(tmp_path / "a.csv")]
    for verb in (report, exported, ["inspect", one]):
        assert main(verb) == 1
        assert "Say it by --head-count N. Numbers of heads that fit: " in capsys.readouterr().err
        assert main([*verb, "--head-count", "4"]) == 0
        capsys.readouterr()
    document = json.loads((out / "report.json").read_text())
    assert {(unit["step"], len(unit["heads"])) for unit in document["units"]} == {(1, 4), (2, 4)}


def test_an_output_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    from explorer.settings import prepare

    with pytest.raises(GramscopeError):
        prepare(tmp_path)
