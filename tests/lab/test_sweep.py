from __future__ import annotations

import csv
import io

import numpy as np
import pytest
import torch

from explorer.errors import GramscopeError, Stopped
from explorer.lab import tables
from explorer.lab.experiments import Phase, Point, Sweep, vary
from explorer.lab.setting import Data, Setting
from explorer.lab.sweep import run_phase, run_sweep
from explorer.maths import attention_pca_fixed as fixed

SMALL = Setting(batch=16, length=16)


def never() -> bool:
    return False


@pytest.mark.parametrize("kind", ["softmax", "linear"])
def test_gradient_on_a_prompts_own_tokens_is_autograds(kind):
    x = torch.randn(3, 7, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    m = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    coupling = torch.tensor([0.2, 0.3, 0.4], dtype=torch.float64)
    along = (x @ m[..., None])[..., 0]
    scores = coupling[:, None, None] * along[:, :, None] * along[:, None]
    weights = scores.softmax(-1) if kind == "softmax" else scores / 7
    (expected,) = torch.autograd.grad((weights @ x - x).square().sum(-1).mean(-1).sum(), m)
    torch.testing.assert_close(fixed.own_prompt_gradient(kind, x, m.detach(), coupling), expected)


def test_a_linear_head_on_its_own_prompt_learns_sample_pca():
    for cell in run_phase(Phase("linear", 12, (0.2, 0.5), (3.0, 4.0), seeds=3, steps=400), never):
        assert cell.alignment == pytest.approx(cell.pca, abs=2e-3)
        assert cell.tokens == round(12 / cell.c)


def test_the_phase_diagram_has_its_boundary():
    """Far above θ = √c a head sees the spike about as well as the limit says, far below nearly nothing."""
    cells = list(run_phase(Phase("linear", 60, (0.25, 1.0), (0.2, 4.0), seeds=3, steps=150), never))
    for cell in cells:
        above = cell.theta > cell.c**0.5
        assert (cell.limit > 0) == above
        assert cell.alignment == pytest.approx(cell.limit, abs=0.12)
    assert len({(cell.c, cell.theta) for cell in cells}) == 4


def test_a_sweep_yields_every_run():
    sweep = Sweep(SMALL, "L", (4, 16), seeds=2, steps=3)
    points = list(run_sweep(sweep, never))
    assert len(points) == sweep.runs == 8
    assert {(p.kind, p.value, p.seed) for p in points} == {
        (kind, value, seed) for kind in ("softmax", "linear") for value in (4, 16) for seed in (0, 1)
    }
    assert all(0 <= p.alignment <= 1 and 0 < p.pca <= 1 for p in points)


def test_alignment_falls_past_the_transition():
    setting = Setting(data=Data("drawn", spectrum=(4, 2, 1, 1, 0.5)), length=None, rate=0.1)
    points = list(run_sweep(Sweep(setting, "lambda", (0.9, 2.0), ("linear",), 1, 800), never))
    assert [p.alignment for p in points] == pytest.approx([1.0, 0.701], abs=5e-3)


@pytest.mark.parametrize(
    "work", [Sweep(SMALL, "L", (8,), steps=10**9), Phase("softmax", 8, (1.0,), (1.0,), 1, 10**9)]
)
def test_stopping_is_within_a_step(work):
    asked = iter([False] * 5 + [True] * 2)
    run = run_sweep if isinstance(work, Sweep) else run_phase
    with pytest.raises(Stopped):
        next(run(work, lambda: next(asked)))
    assert next(asked), "it asked no more once it was told"


@pytest.mark.parametrize(
    ("over", "data"),
    [("theta", Data("power")), ("nu", Data()), ("d", Data("rows")), ("d", Data("drawn", spectrum=(2, 1)))],
)
def test_a_parameter_that_the_data_lacks_is_told(over, data):
    with pytest.raises(GramscopeError, match=over):
        vary(Setting(data=data), over, 4)


def test_every_parameter_is_varied():
    wishart = Setting(data=Data("wishart", degrees=20))
    assert vary(wishart, "L", 8.0).length == 8
    assert vary(wishart, "theta", 2.0).data.theta == 2
    assert vary(wishart, "d", 5.0).data.d == 5
    assert vary(wishart, "nu", 7.0).data.degrees == 7
    assert vary(wishart, "lambda", 0.5).coupling == 0.5
    hit = vary(wishart, "level", 0.2)
    assert (hit.level, hit.contamination) == (0.2, "sparse")


POINTS = [
    Point("softmax", 8, 0, 0.5, 0.4, None),
    Point("softmax", 8, 1, 0.7, 0.4, None),
    Point("linear", 4, 0, 0.25, 0.3, 0.2),
]


def test_bands_over_seeds():
    bands = tables.head_bands(POINTS)
    assert list(bands) == ["softmax", "linear"]
    band = bands["softmax"]
    assert (band.values[0], band.mean[0], band.low[0], band.high[0]) == pytest.approx((8, 0.6, 0.5, 0.7))
    np.testing.assert_allclose(tables.pca_band(POINTS).mean, [0.3, 0.4])
    np.testing.assert_allclose(tables.limit_curve(POINTS).mean, [0.2])
    assert tables.limit_curve(POINTS[:2]).values.size == 0


def test_csv_holds_every_number():
    rows = list(csv.DictReader(io.StringIO(tables.to_csv(POINTS))))
    assert rows[1] == {
        "kind": "softmax",
        "value": "8",
        "seed": "1",
        "alignment": "0.7",
        "pca": "0.4",
        "bbp": "",
    }
    with pytest.raises(ValueError, match="nothing"):
        tables.to_csv([])
