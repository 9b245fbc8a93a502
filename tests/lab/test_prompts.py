from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.errors import GramscopeError
from explorer.lab.corruption import clean, contaminate
from explorer.lab.prompts import open_prompts
from explorer.lab.setting import Data, Setting


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    "data",
    [
        Data(),
        Data("power", d=6, exponent=2),
        Data("flat", d=4),
        Data("drawn", spectrum=(1, 5, 0, 2)),
        Data("wishart", d=6, degrees=4),
        Data("per-prompt", d=6, degrees=30),
        Data("per-prompt", d=6),
        Data("rows"),
    ],
)
def test_tokens_have_the_covariance_that_is_shown(data):
    prompts = open_prompts(data)
    x, directions = prompts.sample(3000, 20, generator())
    tokens = x.flatten(0, 1).double()
    spread = 6 / len(tokens) ** 0.5 if data.family not in ("wishart", "per-prompt") else 0.1
    found = tokens.mT @ tokens / len(tokens)
    torch.testing.assert_close(found, prompts.covariance, atol=3 * spread, rtol=0)
    torch.testing.assert_close(directions.norm(dim=1), torch.ones(3000))
    values, basis = torch.from_numpy(prompts.eigenvalues) / prompts.scale, prompts.basis.double()
    torch.testing.assert_close(basis @ values.diag() @ basis.mT, prompts.covariance, atol=1e-5, rtol=1e-5)
    assert (np.diff(prompts.eigenvalues) <= 1e-9).all()


def test_the_infinite_prompt_has_the_same_covariances():
    prompts = open_prompts(Data("wishart", d=5, degrees=4))
    covariances = prompts.covariances(4000, generator())
    assert covariances.shape == (4000, 5, 5)
    torch.testing.assert_close(covariances.mean(0).double(), prompts.covariance, atol=0.05, rtol=0)


def test_a_bar_drawn_above_the_others_is_u_1_where_it_stands():
    prompts = open_prompts(Data("drawn", spectrum=(1, 5, 3)))
    np.testing.assert_array_equal(prompts.basis.numpy(), [[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    assert prompts.scale == 5


@pytest.mark.parametrize("spectrum", [(1,), (0, 0), (1, -1), (1, np.nan)])
def test_what_is_no_spectrum_is_told(spectrum):
    with pytest.raises(GramscopeError, match="eigenvalues"):
        open_prompts(Data("drawn", spectrum=spectrum))


@pytest.mark.parametrize(
    ("kind", "share"), [("sparse", 0.1), ("replace", 0.1), ("tokens", 0.1), ("gaussian", 1.0)]
)
def test_contamination_hits_its_share_by_its_size(kind, share):
    x = torch.randn(200, 30, 8, generator=generator())
    setting = Setting(contamination=kind, level=0.1, magnitude=5)
    moved = contaminate(x, setting, 2.0, generator(1)) - x
    hit = moved.abs() > 0
    assert hit.float().mean().item() == pytest.approx(share, abs=0.01)
    if kind == "sparse":
        torch.testing.assert_close(moved[hit].abs(), torch.full_like(moved[hit], 10.0))
    if kind == "replace":
        torch.testing.assert_close((moved + x)[hit].abs(), torch.full_like(moved[hit], 10.0))
    if kind == "tokens":
        lengths = moved.norm(dim=-1)
        torch.testing.assert_close(lengths[lengths > 0], torch.full_like(lengths[lengths > 0], 10.0))
    if kind == "gaussian":
        assert moved.std().item() == pytest.approx(0.2, rel=0.02)


def test_one_iteration_of_cleaning_is_clipping():
    """L = 0, so S = shrink(K, λμ): what is left is K within ± λμ = ± 4·N·d/(4‖K‖₁), in K's deviations."""
    x = torch.randn(1, 40, 6, generator=generator())
    k = x / x.std(correction=0)
    threshold = 40 * 6 / k.abs().sum()
    left = clean(x, 1)
    torch.testing.assert_close(left, x.std(correction=0) * k.clamp(-threshold, threshold))
