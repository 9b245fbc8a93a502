from __future__ import annotations

import csv
import xml.etree.ElementTree as ET

import pytest

from explorer import __version__
from explorer.__main__ import main
from explorer.lab.figures import edges

QUICK = ["--steps", "3", "--seeds", "2", "--batch", "8"]


def rows_of(path) -> list[dict[str, str]]:
    lines = path.read_text().splitlines()
    assert lines[0].startswith(f"# Gramscope {__version__}: ") and '"steps"' in lines[0]
    return list(csv.DictReader(lines[1:]))


def svg_words(path) -> str:
    return " ".join(ET.parse(path).getroot().itertext())


def test_a_sweep_is_written(tmp_path, capsys):
    out = tmp_path / "alignment"
    assert main(["pca-lab", "--sweep", "L", "--values", "4,8", "--out", str(out), *QUICK]) == 0
    rows = rows_of(tmp_path / "alignment.csv")
    assert len(rows) == 8
    assert {row["value"] for row in rows} == {"4", "8"}
    words = svg_words(tmp_path / "alignment.svg")
    assert "d = 10, θ = 3, λσ₁ = 1" in words
    assert "Baik–Ben Arous–Péché" in words
    assert capsys.readouterr().out.split() == [f"{out}.csv", f"{out}.svg"]


@pytest.mark.parametrize("over", ["theta", "d", "nu", "lambda", "level"])
def test_every_sweep_runs(tmp_path, over):
    values = {"theta": "1,2", "d": "3,4", "nu": "5,6", "lambda": "0.5,1", "level": "0,0.1"}[over]
    out = str(tmp_path / over)
    assert (
        main(["pca-lab", "--sweep", over, "--values", values, "--kind", "linear", "--out", out, *QUICK]) == 0
    )
    assert len(rows_of(tmp_path / f"{over}.csv")) == 4


def test_the_phase_diagram_is_written_for_both_heads(tmp_path):
    arguments = ["--values", "0.5,1", "--thetas", "1,2", "--d", "6", "--out", str(tmp_path / "phase"), *QUICK]
    assert main(["pca-lab", "--sweep", "phase", *arguments]) == 0
    rows = rows_of(tmp_path / "phase.csv")
    about = (tmp_path / "phase.csv").read_text().splitlines()[0]
    assert '"kind": "softmax"' in about and '"kind": "linear"' in about
    assert [row["kind"] for row in rows] == ["softmax"] * 4 + ["linear"] * 4
    for kind in ("softmax", "linear"):
        assert "θ = √c" in svg_words(tmp_path / f"phase-{kind}.svg")


def test_rows_of_a_table(tmp_path):
    (tmp_path / "tokens.csv").write_text("1,2\n2,4.5\n3,5\n-1,0\n")
    arguments = ["--family", "rows", "--data", str(tmp_path / "tokens.csv"), "--out", str(tmp_path / "own")]
    assert main(["pca-lab", "--sweep", "L", "--values", "4", *arguments, *QUICK]) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--sweep", "theta", "--family", "power"], "no parameter theta"),
        (["--sweep", "L", "--d", "1"], "--d is 1"),
        (["--sweep", "L", "--values", "0,4"], "0; each must be 1 at least"),
        (["--sweep", "d", "--values", "1"], "1; each must be 2 at least"),
        (["--sweep", "theta", "--values", "nan"], "nan"),
        (["--sweep", "phase", "--thetas", "-1"], "--thetas has -1"),
        (["--sweep", "L", "--nu", "0", "--family", "wishart"], "--nu is 0"),
        (["--sweep", "L", "--theta", "nan"], "--theta is nan"),
        (["--sweep", "L", "--rate", "inf"], "--rate is inf"),
        (["--sweep", "L", "--contamination", "sparse", "--level", "5"], "--level is 5"),
        (["--sweep", "L", "--family", "rows", "--data", "absent.csv"], "absent.csv"),
    ],
)
def test_what_makes_no_sense_is_told(tmp_path, capsys, arguments, says):
    assert main(["pca-lab", *arguments, "--out", str(tmp_path / "x"), *QUICK]) == 1
    assert says in capsys.readouterr().err
    assert not list(tmp_path.glob("x*"))


def test_cells_meet_half_way():
    assert edges([1, 2, 4], False) == [0.5, 1.5, 3, 5]
    assert edges([1, 4, 16], True) == pytest.approx([0.5, 2, 8, 32])
    assert edges([3], False) == [2.5, 3.5]
