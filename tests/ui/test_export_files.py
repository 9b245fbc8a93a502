"""Views as files: formats by their endings, numbers read back, and the clipboard."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication

from explorer import __version__
from explorer.errors import GramscopeError
from explorer.params import Params
from explorer.ui import export
from explorer.ui.exporting.figure import Figure
from explorer.views.picture import Provenance
from tests.ui.printed import Picture


class Stub(SimpleNamespace):
    """What `export` uses of a view."""


TABLE = (["x", "name"], [np.array([0.1, np.nan]), ["a", "b, c"]])


def stub(picture: Picture, table: Any = TABLE) -> Any:
    provenance = Provenance("digits", asdict(Params(level=0.08)), "float64 on CPU")
    return Stub(
        canvas=picture.widget, title="Outputs", wide=False, result=True, table=lambda: table,
        provenance=lambda: provenance,
    )  # fmt: skip


@pytest.mark.parametrize("kind", export.FORMATS)
def test_saving_writes_the_format_that_the_ending_names(
    kind: export.Format, picture: Picture, tmp_path: Path
) -> None:
    path = tmp_path / f"figure.{kind.upper()}"
    export.save([stub(picture)], path)
    magic = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "csv": b"# Gramscope", "json": b"["}
    assert path.read_bytes().startswith(magic[kind])
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.name != "home") == [path.name]


def test_an_unknown_ending_is_refused(picture: Picture, tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match=r"End it in one of \.png, \.svg, \.pdf, \.csv, \.json"):
        export.save([stub(picture)], tmp_path / "figure.docx")


def test_no_folder_leaves_nothing(picture: Picture, tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match="does not exist"):
        export.save([stub(picture)], tmp_path / "absent" / "a.png")


def test_a_panel_that_shows_nothing_is_left_out(picture: Picture) -> None:
    empty = stub(picture)
    empty.result = None
    with pytest.raises(GramscopeError, match="Open a model"):
        export.export_bytes([empty], "csv")
    assert export.export_bytes([empty, stub(picture)], "csv").count(b"# of:") == 1


def test_numbers_come_back_from_csv_exactly(picture: Picture) -> None:
    numbers = np.array([0.1 + 0.2, np.nan, -1e-300, np.inf])
    table = (
        ["γ", "token", "hit"],
        [numbers, ["a", "b, c", "d\ne", ""], np.array([True, False, True, False])],
    )
    lines = export.export_bytes([stub(picture, table)], "csv").decode()
    comments = [line for line in lines.splitlines() if line.startswith("#")]
    assert comments[0] == f"# Gramscope {__version__}"
    assert "# source: digits" in comments
    parameters = next(line for line in comments if line.startswith("# parameters: "))
    assert json.loads(parameters.removeprefix("# parameters: "))["level"] == 0.08
    rows = list(csv.reader(io.StringIO(lines.split("computed", 1)[1].split("\n", 1)[1])))
    assert rows[0] == ["γ", "token", "hit"]
    read = np.array([float(row[0]) if row[0] else np.nan for row in rows[1:]])
    assert np.array_equal(read, numbers, equal_nan=True)
    assert [row[1] for row in rows[1:]] == ["a", "b, c", "d\ne", ""]
    assert [row[2] for row in rows[1:]] == ["True", "False", "True", "False"]


def test_numbers_come_back_from_json(picture: Picture) -> None:
    read = json.loads(export.export_bytes([stub(picture), stub(picture)], "json"))
    assert len(read) == 2
    assert read[0]["columns"] == {"x": [0.1, None], "name": ["a", "b, c"]}
    assert read[0]["parameters"]["level"] == 0.08


def test_copying_puts_the_picture_and_the_numbers_on_the_clipboard(picture: Picture) -> None:
    export.copy_picture([stub(picture)], Figure.of_pixels(300, 200))
    assert QGuiApplication.clipboard().image().size().toTuple() == (300, 200)
    export.copy_numbers([stub(picture)])
    assert QGuiApplication.clipboard().text().startswith("# Gramscope")
