"""The study's picture: what it draws, reads out and exports, from the command line too."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from explorer.__main__ import main
from explorer.settings import resource
from explorer.study.plan import CLEAN, Model, Setting
from explorer.study.table import Answers, cells
from explorer.ui import export
from explorer.ui.study_figure import study_figure, write_study
from explorer.views.study import StudyView

MODELS = tuple(Model(row, seed, f"/{row}{seed}") for row in ("softmax", "RPC", "mine") for seed in (0, 1))
SETTING = Setting(MODELS, kinds=("occlusion", "pgd"), levels=(("occlusion", (0.1, 0.3)), ("pgd", (0.05,))))


def answers(setting: Setting = SETTING, share: float = 0.6) -> Answers:
    rng = np.random.default_rng(0)
    right = {(model, CLEAN, 0.0, 0): np.ones(20, bool) for model in setting.models}
    for kind in setting.kinds:
        for level in setting.levels_of(kind):
            for seed in setting.seeds_of(kind):
                right |= {(model, kind, level, seed): rng.random(20) < share for model in setting.models}
    return Answers(setting, right, 0.1, len(right))


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[StudyView]:
    view = StudyView()
    qtbot.addWidget(view)
    view.resize(720, 420)
    with qtbot.waitExposed(view):
        view.show()
    yield view
    view.close()


def test_nothing_yet_is_a_sentence(view: StudyView) -> None:
    assert view.result is None and view.table() == ([], [])


def test_every_row_and_kind_is_drawn_and_read_out(view: StudyView, qtbot: QtBot) -> None:
    view.show_study(answers())
    assert len(view.plot_items) == 2
    qtbot.wait(20)
    plot = view.plot_items[0]
    at = plot.vb.mapViewToScene(QPointF(0.29, 50.0))
    said = view.reading_at(at)
    mean = next(c.mean for c in cells(answers()) if (c.row, c.kind, c.level) == ("RPC", "occlusion", 0.3))
    assert said.startswith("Occlusion 0.3: ") and f"RPC {100 * mean:.1f} %" in said
    assert "over 2 trainings" in said
    assert view.reading_at(QPointF(-5, -5)) == ""


def test_a_study_in_progress_and_another_one(view: StudyView) -> None:
    whole = answers()
    right = {place: hits for place, hits in whole.right.items() if place[1] == CLEAN}
    view.show_study(Answers(SETTING, right, 0.1, whole.wanted))
    assert np.isnan(view.table()[1][view.table()[0].index("contamination_sd")]).all()
    view.show_study(answers(Setting(MODELS[:2], kinds=("blur",), levels=(("blur", (1.0,)),))))
    assert len(view.plot_items) == 1
    view.retheme()


def test_the_numbers_are_those_of_the_table(view: StudyView) -> None:
    view.show_study(answers())
    names, columns = view.table()
    found = cells(answers())
    assert len(columns[0]) == len(found) == 21
    assert columns[names.index("mean")].tolist() == [cell.mean for cell in found]  # type: ignore[union-attr]
    levels = columns[names.index("level")]
    assert sum(math.isnan(float(level)) for level in levels) == 6
    numbers = json.loads(export.export_bytes([view], "json"))
    assert numbers[0]["parameters"]["seeds"] == SETTING.seeds


def test_the_same_figure_without_a_window(qapp: object, tmp_path: Path) -> None:
    paths = [tmp_path / f"figure.{suffix}" for suffix in ("svg", "pdf", "png")]
    write_study(answers(), paths)
    words = " ".join(ElementTree.parse(paths[0]).getroot().itertext())
    for word in ("softmax", "RPC", "mine", "Occlusion", "PGD", "accuracy", "whiskers"):
        assert word in words
    assert paths[1].read_bytes().startswith(b"%PDF") and paths[2].read_bytes().startswith(b"\x89PNG")
    assert study_figure(6).pixels.height() > study_figure(3).pixels.height()


def test_the_command_writes_tables_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(resource(f"digits/digits-{variant}-0.safetensors")) for variant in ("softmax", "symmetric")]
    command = ["study", *paths, "--kinds", "fgsm", "--levels", "fgsm=0.1", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert "FGSM: symmetric minus softmax" in told and "trained with other seeds this says nothing" in told
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "runs.csv", "accuracies.csv", "comparisons.csv", "study.json", "figure.svg", "figure.pdf",
        "figure.png", "units",
    }  # fmt: skip
    assert main(command) == 0
    assert "4 parts (4 were done already)" in capsys.readouterr().out


def test_no_torch_is_imported_for_the_help() -> None:
    code = (
        "import sys, contextlib; from explorer.__main__ import main\n"
        "with contextlib.suppress(SystemExit): main(['study', '--help'])\n"
        "sys.exit('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "--swap-rpc" in done.stdout
