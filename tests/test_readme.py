"""The README's Python example, run exactly as it stands."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest
import torch

from explorer import maths
from explorer.models.digits import sample_source
from explorer.params import Input

README = Path(__file__).parents[1] / "README.md"


def example() -> str:
    (block,) = re.findall(r"<!-- python -->\n```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    return block


def test_the_python_example_is_ten_lines_at_most() -> None:
    assert len([line for line in example().splitlines() if line.strip()]) <= 10


def test_the_python_example_runs_and_gives_the_programs_own_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "example.py"
    path.write_text(example(), encoding="utf-8")
    found = runpy.run_path(str(path))
    head = sample_source().capture([2], Input(), torch.device("cpu")).head(2, 1)
    assert torch.equal(found["head"].k, head.k)
    assert found["outcome"].exit_code == 0 and found["outcome"].verdict
    assert (tmp_path / "report" / "report.html").exists()
    own = {name: float(value[0]) for name, value in found["evidence"].measures.items()}
    record = json.loads((tmp_path / "report" / "report.json").read_text())
    reported = record["units"][0]["heads"][1]["measures"]
    assert own["overlap"] == pytest.approx(reported["overlap"], abs=1e-6)


@pytest.mark.parametrize("name", maths.__all__)
def test_what_the_mathematics_offer_is_there(name: str) -> None:
    assert callable(getattr(maths, name))
