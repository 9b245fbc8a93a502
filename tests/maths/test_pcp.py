from __future__ import annotations

import itertools

import pytest
import torch

from explorer.maths.attention import attention
from explorer.maths.pcp import exact_pcp, pcp_attention
from tests.maths.strategies import draw


def test_it_recovers_a_low_rank_and_a_sparse_matrix() -> None:
    low = draw(0, 60, 3) @ draw(1, 3, 40)
    hit = torch.rand(60, 40, generator=torch.Generator().manual_seed(0)) < 0.05
    sparse = torch.where(hit, 8 * draw(2, 60, 40).sign(), 0.0)
    steps = list(exact_pcp(low + sparse, tolerance=1e-7))
    last = steps[-1]
    assert last.converged and last.residual <= 1e-7
    assert [step.iteration for step in steps] == list(range(1, len(steps) + 1))
    assert (last.low - low).norm() < 1e-4 * low.norm()
    assert (last.sparse - sparse).norm() < 1e-4 * sparse.norm()
    torch.testing.assert_close(last.low + last.sparse, low + sparse, rtol=1e-5, atol=1e-5)


def test_the_optimum_satisfies_its_conditions() -> None:
    k = draw(3, 30, 12)
    lam = 30**-0.5
    last = list(exact_pcp(k, tolerance=1e-9, max_iterations=20000))[-1]
    objective = torch.linalg.svdvals(last.low).sum() + lam * last.sparse.abs().sum()
    for seed in range(20):
        shift = 1e-3 * draw(100 + seed, 30, 12)
        other = torch.linalg.svdvals(k - last.sparse + shift).sum() + lam * (last.sparse - shift).abs().sum()
        assert other >= objective - 1e-6


def test_the_caller_decides_when_it_is_enough() -> None:
    steps = list(itertools.islice(exact_pcp(draw(0, 20, 8)), 3))
    assert len(steps) == 3 and not steps[-1].converged
    assert len(list(exact_pcp(draw(0, 20, 8), tolerance=0.0, max_iterations=4))) == 4


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_real_tolerance_in_every_precision(dtype: torch.dtype) -> None:
    last = list(exact_pcp(draw(0, 40, 16).to(dtype)))[-1]
    assert last.converged and last.low.isfinite().all()


def test_nothing_and_one_token() -> None:
    assert next(exact_pcp(torch.zeros(4, 3))).converged
    last = list(exact_pcp(draw(0, 1, 3)))[-1]
    assert last.converged and last.low.isfinite().all() and last.sparse.isfinite().all()


def test_attention_on_the_low_rank_part() -> None:
    q, k, v = draw(0, 9, 4), draw(1, 9, 4), draw(2, 9, 3)
    torch.testing.assert_close(pcp_attention(None, k, v, 0.5), attention(k, k, v, 0.5))
    torch.testing.assert_close(pcp_attention(q, k, v, 0.5), attention(q, k, v, 0.5))
