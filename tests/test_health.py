"""Numerical health: its numbers against direct computation, and what it says of hard heads."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from explorer.analysis import Evaluator
from explorer.health import HALF_LIMIT, kernel_health, score_health
from explorer.maths.gram import eigenpairs, key_gram
from explorer.models.base import Head, LayerHeads
from explorer.params import Params
from tests.sources import FixedSource


def head(n: int = 40, d: int = 8, size: float = 1.0, seed: int = 0) -> Head:
    draw = torch.Generator().manual_seed(seed)
    q, k, v = (size * torch.randn(n, d, generator=draw, dtype=torch.float64) for _ in range(3))
    return Head(q, k, v, d**-0.5, d)


def test_the_limit_is_where_half_precision_overflows() -> None:
    below, above = torch.tensor([HALF_LIMIT - 0.01, HALF_LIMIT + 0.01], dtype=torch.float64).exp().half()
    assert torch.isfinite(below) and torch.isinf(above)
    assert math.isclose(HALF_LIMIT, 11.09, abs_tol=0.001)


@pytest.mark.parametrize("size", [0.1, 1.0, 4.0])
def test_scores_against_the_whole_matrix(size: float) -> None:
    it = head(size=size)
    scores = (it.q @ it.k.T * it.scale).numpy()
    health = score_health(it, torch.float16)
    assert health.captured == "float16"
    assert health.largest == pytest.approx(scores.max(), rel=1e-12)
    assert health.over_half == pytest.approx((np.exp(scores) > 65504).mean(), abs=1e-12)


def test_hidden_pairs_do_not_count() -> None:
    it = head()
    mask = torch.ones(40, 40, dtype=torch.bool).tril()
    q = it.q.clone()
    q[0] *= 1e6  # the first query sees the first key alone
    masked = Head(q, it.k, it.v, it.scale, 8, mask=mask)
    scores = (q @ it.k.T * it.scale).numpy()
    assert score_health(masked, torch.float32).largest == pytest.approx(scores[mask.numpy()].max())


@pytest.mark.parametrize("size", [1.0, 3.0, 10.0])
def test_the_kernel_against_the_whole_matrix(size: float) -> None:
    it = head(size=size)
    gram = key_gram(it.k, it.scale)
    pairs = eigenpairs(gram)
    health = kernel_health(gram, pairs, 16)
    logits = (it.k @ it.k.T * it.scale).numpy()
    assert health.largest_logit == pytest.approx(logits.max(), rel=1e-12)
    assert health.over_half == (np.diag(logits) > np.log(65504)).sum()
    values = torch.linalg.eigh(gram.matrix).eigenvalues.numpy()
    wide = float(gram.tolerance)
    coarse = wide * np.finfo(np.float32).eps / np.finfo(np.float64).eps
    assert health.rank_single == (values > coarse).sum()
    assert health.rank_half <= health.rank_single <= int(pairs.rank)
    assert health.clipped == (values <= 0).sum()


def test_gaps_say_what_identifiable_says() -> None:
    k = torch.zeros(12, 4, dtype=torch.float64)
    k[:4] = torch.eye(4)  # four keys that nothing tells apart, and eight at the origin
    gram = key_gram(k, 0.5)
    pairs = eigenpairs(gram)
    health = kernel_health(gram, pairs, 16)
    assert len(health.gaps) == int(pairs.rank)
    np.testing.assert_array_equal(health.gaps > 1, pairs.identifiable[: int(pairs.rank)].numpy())
    assert (health.gaps <= 1).any()


def test_approximate_pairs_give_no_ranks() -> None:
    it = head()
    gram = key_gram(it.k, it.scale)
    health = kernel_health(gram, eigenpairs(gram, 8), 16)
    assert health.rank_single is health.rank_half is health.clipped is None


def test_the_picture_carries_it() -> None:
    source = FixedSource(dtype=torch.bfloat16, causal=True)
    *_, result = Evaluator()(Params(level=0.2), source)
    assert result.health.captured == "bfloat16"
    assert result.moved.health.largest_logit > result.clean.health.largest_logit
    assert len(result.clean.health.gaps) == result.clean.vectors.shape[1]


def test_large_keys_overflow_half_precision() -> None:
    def enlarge(heads: LayerHeads) -> LayerHeads:
        return LayerHeads(heads.q * 100, heads.k * 100, heads.v, heads.scale)

    *_, result = Evaluator()(Params(), FixedSource(change=enlarge))
    assert result.clean.health.over_half == 12
    assert result.health.over_half > 0.1
