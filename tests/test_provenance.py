"""Every file that is written says which version made it, and from which parameters."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pytestqt.qtbot import QtBot

from explorer import __version__, script
from explorer.lab import script as lab_script
from explorer.lab.cli import add_arguments, run
from explorer.lab.setting import Setting as LabSetting
from explorer.maths.evidence_draws import Draws
from explorer.models.digits_training import Training, train_digits
from explorer.models.safetensors_file import read_metadata
from explorer.report.run import run_report
from explorer.study.models import models_of
from explorer.study.plan import Setting
from explorer.study.run import run_study
from explorer.ui.window import MainWindow
from tests.ui.desk import sit_down

PROGRAM = f"Gramscope {__version__}"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    run_report("controls", out=folder, draws=Draws(cheap=8, costly=2))
    return folder


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot) as window:
        window.state.update(level=0.125, seed=7)
        yield window


def says_all(text: str) -> None:
    assert PROGRAM in text
    assert "12.5" in text or "0.125" in text
    assert "seed 7" in text or '"seed": 7' in text


@pytest.mark.parametrize("kind", ["svg", "csv", "json"])
def test_figures_and_numbers(kind: str, window: MainWindow, tmp_path: Path) -> None:
    window.exports.save(None, tmp_path / f"a.{kind}")
    says_all((tmp_path / f"a.{kind}").read_text())


def test_a_png(window: MainWindow, tmp_path: Path) -> None:
    window.exports.save(None, tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        says_all(" ".join(f"{key}: {value}" for key, value in picture.info.items()))


def test_a_pdf(window: MainWindow, tmp_path: Path) -> None:
    window.exports.save(None, tmp_path / "a.pdf")
    try:
        said = subprocess.run(["pdfinfo", "-meta", tmp_path / "a.pdf"], capture_output=True, text=True).stdout
    except FileNotFoundError:
        pytest.skip("pdfinfo is not installed")
    says_all(said.replace("&quot;", '"'))


def test_a_session(window: MainWindow, tmp_path: Path) -> None:
    window.workbench.sessions.save_to(tmp_path / "a.gramscope")
    said = json.loads((tmp_path / "a.gramscope").read_text())
    assert said["program"] == __version__
    assert (said["params"]["level"], said["params"]["seed"]) == (0.125, 7)


def test_captured_heads(window: MainWindow, tmp_path: Path) -> None:
    window.save_captured(tmp_path / "a.safetensors")
    window.save_captured(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        headers = [read_metadata(tmp_path / "a.safetensors")["gramscope"], str(arrays["gramscope"])]
    for header in headers:
        said = json.loads(header)
        assert said["program"] == PROGRAM
        assert said["name"] == window.state.source.name


def test_a_report(report: Path) -> None:
    assert PROGRAM in (report / "report.html").read_text()
    document = json.loads((report / "report.json").read_text())
    assert document["versions"]["gramscope"] == __version__
    for path in report.glob("*.csv"):
        first, second = path.read_text().splitlines()[:2]
        assert first == f"# {PROGRAM}", path.name
        assert json.loads(second.removeprefix("# parameters ")) == document["parameters"]


def test_a_sweep(tmp_path: Path) -> None:
    import argparse

    parser = argparse.ArgumentParser()
    add_arguments(parser)
    quick = ["--values", "4", "--steps", "3", "--seeds", "1", "--batch", "8"]
    run(parser.parse_args(["--sweep", "L", "--out", str(tmp_path / "a"), *quick]))
    for suffix in (".csv", ".svg"):
        text = (tmp_path / f"a{suffix}").read_text()
        assert f"{PROGRAM}: {{" in text.replace("&quot;", '"')
        assert '"steps": 3' in text.replace("&quot;", '"')


def test_a_study(tmp_path: Path) -> None:
    model = next(model for model in models_of(["digits"]) if model.row == "softmax")
    setting = Setting((model,), kinds=("fgsm",), levels=(("fgsm", (0.125,)),), seeds=1)
    run_study(setting, tmp_path)
    document = json.loads((tmp_path / "study.json").read_text())
    assert document["program"] == PROGRAM
    for name in ("runs.csv", "accuracies.csv", "comparisons.csv"):
        first, second = (tmp_path / name).read_text().splitlines()[:2]
        assert first == f"# {PROGRAM}", name
        assert json.loads(second.removeprefix("# parameters ")) == document["setting"]
    kept = list((tmp_path / "units").iterdir())
    assert kept and all(json.loads(path.read_text())["program"] == PROGRAM for path in kept)


def test_programs_that_are_copied(window: MainWindow) -> None:
    said = script.script(window.opener.origin, window.state.params, window.state.source.name)
    assert __version__ in said and "level=0.125" in said and "seed=7" in said
    said = lab_script.script(LabSetting(length=7), 12)
    assert __version__ in said and "length=7" in said and "12" in said


def test_trained_digits(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    train_digits("softmax", 3, path, training=Training(steps=2))
    header = read_metadata(path)
    assert header["program"] == PROGRAM
    assert json.loads(header["training"])["steps"] == 2 and header["seed"] == "3"
