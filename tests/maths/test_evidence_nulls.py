from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.maths.evidence_nulls import LayerInput, gaussian, permuted, singular_part

DRAWS = 4000


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def agree(ours: Tensor, plain: Tensor) -> None:
    """Both samples have the same mean and deviation, within five standard errors of the sampling."""
    error = (ours.var() / len(ours) + plain.var() / len(plain)).sqrt()
    assert abs(ours.mean() - plain.mean()) < 5 * error
    assert float(ours.std() / plain.std()) == pytest.approx(1, abs=0.15)


def test_permutation_only_moves_tokens() -> None:
    v = random(9, 3)
    drawn = permuted(v, 50, rng())
    assert drawn.shape == (50, 9, 3)
    for one in drawn:
        assert torch.equal(one[one[:, 0].argsort()], v[v[:, 0].argsort()])
    assert len({tuple(one[:, 0].tolist()) for one in drawn}) > 45


def test_gaussian_has_the_column_norms_and_no_structure() -> None:
    v = random(30, 4) * torch.tensor([0.0, 0.1, 1.0, 10.0])
    drawn = gaussian(v, DRAWS, rng())
    assert torch.allclose(drawn.square().sum(1).mean(0), v.square().sum(0), rtol=0.05)
    assert float(drawn[:, 0, 2].mul(drawn[:, 1, 2]).mean()) == pytest.approx(0, abs=0.1)


def test_projection_is_a_gaussian_map_of_the_input() -> None:
    x, v = random(10, 25), random(10, 3, seed=1) * 7
    drawn = LayerInput.of(x).projected(v, DRAWS, rng())
    w = random(DRAWS, 25, 3, seed=2)
    plain = x @ w * (v.norm() / (x.norm() * 3**0.5))
    assert float(drawn.square().sum((1, 2)).mean()) == pytest.approx(float(v.square().sum()), rel=0.05)
    agree(drawn[:, 0, 0].pow(4), plain[:, 0, 0].pow(4))
    agree(torch.linalg.svdvals(drawn)[:, -1], torch.linalg.svdvals(plain)[:, -1])


def test_projection_stays_within_what_the_input_spans() -> None:
    x = random(20, 6)
    drawn = LayerInput.of(x).projected(random(20, 3), 4, rng())
    q, _ = torch.linalg.qr(x)
    assert torch.allclose(q @ (q.T @ drawn), drawn, atol=1e-12)


@pytest.mark.parametrize("tokens", [5, 20], ids=["few tokens", "more tokens than features"])
@pytest.mark.parametrize("rank", [4, 2], ids=["full", "low rank"])
def test_rotation_has_the_law_of_a_full_random_rotation(tokens: int, rank: int) -> None:
    x, w_v = random(tokens, 12), random(4, rank, seed=1) @ random(rank, 12, seed=2)
    drawn = LayerInput.of(x).rotated(singular_part(w_v), DRAWS, rng())
    q, r = np.linalg.qr(np.random.default_rng(3).standard_normal((DRAWS, 12, 12)))
    haar = torch.from_numpy(q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None])
    plain = x @ haar @ w_v.T
    for statistic in (
        lambda v: v.square().sum((1, 2)),
        lambda v: (v.mT @ v).square().sum((1, 2)),
        lambda v: v[:, 0, 0].pow(4),
        lambda v: v[:, 0, 0] * v[:, 1, 1],
        lambda v: torch.linalg.svdvals(v)[:, min(rank, tokens) - 1],
    ):
        agree(statistic(drawn), statistic(plain))


def test_equal_seeds_give_equal_draws() -> None:
    layer, v = LayerInput.of(random(8, 20)), random(8, 3)
    for draw in (permuted, gaussian, layer.projected):
        assert torch.equal(draw(v, 3, rng()), draw(v, 3, rng()))
