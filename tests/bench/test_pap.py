"""Principal attention pursuit beside the fewest attention products that it needs, and beside its formula."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.bench
@pytest.mark.parametrize(
    ("shape", "of_bare", "of_formula"),
    [((12, 197, 64), 1.4, None), ((3, 197, 64), 1.4, None), ((1, 1024, 64), 1.25, 0.6)],
)
def test_pursuit_costs_little_more_than_its_attention(
    shape: tuple[int, int, int],
    of_bare: float,
    of_formula: float | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = [sys.executable, "-m", "tests.bench.pap_times", *map(str, shape)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    found = json.loads(done.stdout)
    own, kernels, formula = found["pap"], found["four_sdpa"], found["formula"]
    with capsys.disabled():
        print(
            f"\nPAP {shape} float32: {own * 1e3:.2f} ms, {own / kernels:.2f} of four SDPA "
            f"({kernels * 1e3:.2f} ms), {own / formula:.2f} of the formula ({formula * 1e3:.2f} ms)"
        )
    assert found["error"] < 1e-4
    assert own <= of_bare * kernels
    assert of_formula is None or own < of_formula * formula
