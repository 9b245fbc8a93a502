"""Files beside the page: every number of the report is in the JSON and in a table, the same in both."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.maths.evidence_draws import DRAWN, Draws
from explorer.maths.evidence_names import MEASURES
from explorer.report.run import run_report

Row = dict[str, str]
DRAWS = Draws(cheap=20, costly=2)
PLACE = ("layer", "head", "sample")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    run_report("sample", out=folder, layers=[0, 2], samples=2, draws=DRAWS, untrained=1)
    return folder


def rows_of(folder: Path, name: str) -> list[Row]:
    with (folder / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def heads_of(folder: Path) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    document = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return [
        ((str(unit["layer"]), str(head["head"]), str(unit["sample"])), head)
        for unit in document["units"]
        for head in unit["heads"]
    ]


def by_head(rows: list[Row]) -> dict[tuple[str, ...], list[Row]]:
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in PLACE), []).append(row)
    return found


def written(value: float | None) -> str:
    return "" if value is None else str(value)


def test_measures_errors_spectra_and_health_are_one_row_a_head(folder: Path) -> None:
    table = by_head(rows_of(folder, "heads.csv"))
    heads = heads_of(folder)
    assert len(heads) == 2 * 2 * 3 == len(table)
    for place, head in heads:
        (row,) = table[place]
        assert head["measures"].keys() == {measure.key for measure in MEASURES}
        scalars = {
            f"{name}_{key}": value
            for name, part in head["spectra"].items()
            for key, value in part.items()
            if not isinstance(value, list)
        }
        for key, value in {**head["measures"], **head["projections"], **head["health"], **scalars}.items():
            assert row[key] == written(value), key
        assert row["verdict"] == head["verdict"]


def test_every_score_under_every_null_is_a_row(folder: Path) -> None:
    table = by_head(rows_of(folder, "nulls.csv"))
    for place, head in heads_of(folder):
        assert head["nulls"].keys() == {*DRAWN, "untrained"}
        rows = {(row["null"], row["measure"]): row for row in table[place]}
        assert len(rows) == sum(len(by_measure) for by_measure in head["nulls"].values())
        for null, by_measure in head["nulls"].items():
            for measure, score in by_measure.items():
                row = rows[null, measure]
                for key in ("mean", "std", "z", "p", "p_below", "draws"):
                    assert row[key] == written(score[key])
                quantiles = [row[f"q{share}"] for share in ("2.5", "25", "50", "75", "97.5")]
                assert quantiles == [written(value) for value in score["quantiles"]]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("columns.csv", {("gamma", "learned"): "learned_", ("gamma", "eigenvectors"): "eigenvectors_"}),
        ("tokens.csv", {("norms",): "log10_"}),
        ("eigenvalues.csv", {("spectra", "keys"): "", ("spectra", "standardised"): ""}),
    ],
)
def test_lists_are_rows(folder: Path, name: str, columns: dict[tuple[str, ...], str]) -> None:
    renamed = {
        "log10_phi": "log10_phi2", "log10_output": "log10_output2",
    }  # fmt: skip
    table = by_head(rows_of(folder, name))
    for place, head in heads_of(folder):
        for path, prefix in columns.items():
            part = head
            for step in path:
                part = part[step]
            for key, values in part.items():
                if not isinstance(values, list):
                    continue
                column = f"log10_{path[-1]}" if key == "log10_values" else f"{prefix}{key}"
                column = renamed.get(column, column)
                assert [row[column] for row in table[place]] == [written(value) for value in values]


def test_each_file_says_what_made_it(folder: Path) -> None:
    for name in ("heads.csv", "nulls.csv", "columns.csv", "tokens.csv", "eigenvalues.csv"):
        first, second = (folder / name).read_text(encoding="utf-8").splitlines()[:2]
        assert first.startswith("# Gramscope ")
        asked = json.loads(second.removeprefix("# parameters "))
        assert asked["layers"] == [0, 2] and asked["draws"]["cheap"] == 20


def numbers(value: Any, path: str = "") -> dict[str, float | None]:
    """Return every number of a record by where it stands."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)  # type: ignore[assignment]
    else:
        return {} if isinstance(value, str) else {path: value}
    found: dict[str, float | None] = {}
    for key, part in parts:
        found |= numbers(part, f"{path}.{key}")
    return found


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("factor", [1, 100])
def test_keys_of_any_size_in_any_precision_give_the_numbers_of_float64(
    dtype: str, factor: int, tmp_path: Path
) -> None:
    """Raw exp of these scores overflows: 100 × makes them as large as 10⁴, and half precision ends at 11."""
    rng = np.random.default_rng(0)
    heads = {name: rng.normal(size=(2, 24, 6)).astype("float16") for name in "qkv"}
    heads |= {"k": (factor * heads["k"]).astype("float16"), "x": rng.normal(size=(24, 16)).astype("float16")}
    found = {}
    for kind in (dtype, "float64"):
        path = tmp_path / kind / "heads.npz"
        path.parent.mkdir(exist_ok=True)
        np.savez(path, **{name: part.astype(kind) for name, part in heads.items()})
        run_report(path, out=tmp_path / f"{kind}-out", draws=Draws(cheap=20, costly=2))
        found[kind] = numbers([head for _, head in heads_of(tmp_path / f"{kind}-out")])
    mine, theirs = found[dtype], found["float64"]
    assert mine.keys() == theirs.keys() and len(mine) > 500
    for place, value in theirs.items():
        assert (mine[place] is None) == (value is None), place
        if value is not None:
            assert mine[place] == pytest.approx(value, rel=1e-6, abs=1e-9), place
    absent = {place for place, value in mine.items() if value is None}
    on_purpose = {place for place in absent if "log10_values" in place or ".gamma.eigenvectors." in place}
    assert absent == on_purpose
    assert factor == 100 or all(place.endswith("log10_values.23") for place in absent)
