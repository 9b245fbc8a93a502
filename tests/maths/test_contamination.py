from __future__ import annotations

from typing import get_args

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from explorer.maths.contamination import contaminate, contaminate_many
from explorer.params import KeyKind
from tests.maths.strategies import draw, matrices

KINDS = get_args(KeyKind)
kinds = st.sampled_from(KINDS)
fractions = st.floats(0, 1)


@given(matrices(), kinds, fractions, fractions, st.integers(0, 2**32))
@settings(deadline=None, max_examples=150)
def test_raising_the_level_only_adds(x: Tensor, kind: KeyKind, a: float, b: float, seed: int) -> None:
    low, high = (contaminate(x, kind, level, 10.0, seed) for level in sorted((a, b)))
    assert (low.hit <= high.hit).all()
    assert torch.equal(low.values[~low.hit], x[~low.hit])
    if kind != "gaussian":
        assert torch.equal(low.values[low.hit], high.values[low.hit])


@given(matrices(), kinds, fractions, st.integers(0, 2**32))
@settings(deadline=None, max_examples=100)
def test_going_back_restores(x: Tensor, kind: KeyKind, level: float, seed: int) -> None:
    first = contaminate(x, kind, level, 3.0, seed)
    clean = contaminate(x, kind, 0.0, 3.0, seed)
    assert torch.equal(clean.values.view(torch.int64), x.view(torch.int64))
    assert not clean.hit.any()
    again = contaminate(x, kind, level, 3.0, seed)
    assert torch.equal(first.values, again.values) and torch.equal(first.hit, again.hit)


@given(st.integers(1, 40), st.integers(1, 9), fractions)
@settings(deadline=None, max_examples=60)
def test_the_level_is_the_fraction(n: int, d: int, level: float) -> None:
    x = draw(0, n, d)
    assert int(contaminate(x, "sparse", level, 1.0, 5).hit.sum()) == round(level * n * d)
    assert int(contaminate(x, "replace", level, 1.0, 5).hit.sum()) == round(level * n * d)
    tokens = contaminate(x, "tokens", level, 1.0, 5).hit
    assert int(tokens.all(-1).sum()) == int(tokens.any(-1).sum()) == round(level * n)


def test_sizes_in_deviations_of_the_data() -> None:
    x = draw(0, 400, 16) * 3 + 2
    deviation = x.std(correction=0)
    sparse = contaminate(x, "sparse", 0.1, 7.0, 0)
    moved = (sparse.values - x)[sparse.hit] / deviation
    torch.testing.assert_close(moved.abs(), torch.full_like(moved, 7.0))
    assert 0.4 < (moved > 0).double().mean() < 0.6
    replaced = contaminate(x, "replace", 0.1, 7.0, 0)
    torch.testing.assert_close(replaced.values[replaced.hit].abs(), torch.full_like(moved, 7.0) * deviation)
    tokens = contaminate(x, "tokens", 0.1, 7.0, 0)
    shift = (tokens.values - x)[tokens.hit.any(-1)]
    torch.testing.assert_close(shift.norm(dim=-1), torch.full((40,), 7.0, dtype=x.dtype) * deviation)
    assert shift.mean(0).norm() < 0.4 * 7.0 * deviation
    noise = contaminate(x, "gaussian", 0.5, 7.0, 0).values - x
    assert abs(float(noise.std() / deviation) - 0.5) < 0.02
    double = contaminate(x, "gaussian", 1.0, 7.0, 0).values - x
    torch.testing.assert_close(double, 2 * noise)


def test_seeds_differ_and_nothing_else_is_random() -> None:
    x = draw(0, 30, 8)
    for kind in KINDS:
        torch.manual_seed(1)
        one = contaminate(x, kind, 0.3, 5.0, 1).values
        torch.manual_seed(2)
        assert torch.equal(one, contaminate(x, kind, 0.3, 5.0, 1).values)
        assert not torch.equal(one, contaminate(x, kind, 0.3, 5.0, 2).values)


@pytest.mark.parametrize("kind", ["sparse", "tokens", "replace"])
def test_values_are_hit_where_keys_are(kind: KeyKind) -> None:
    k, v = draw(0, 30, 8), draw(1, 30, 8)
    assert torch.equal(contaminate(k, kind, 0.2, 5.0, 3).hit, contaminate(v, kind, 0.2, 5.0, 3).hit)
    wider = contaminate(draw(1, 30, 12), "tokens", 0.2, 5.0, 3).hit.any(-1)
    assert torch.equal(wider, contaminate(k, "tokens", 0.2, 5.0, 3).hit.any(-1))


@pytest.mark.parametrize("kind", KINDS)
def test_many_at_once_are_each_alone(kind: KeyKind) -> None:
    x, levels, seeds = draw(0, 12, 5), [0.0, 0.1, 0.5], [4, 9]
    many = contaminate_many(x, kind, levels, 2.0, seeds)
    assert many.values.shape == many.hit.shape == (2, 3, 12, 5)
    for i, seed in enumerate(seeds):
        for j, level in enumerate(levels):
            one = contaminate(x, kind, level, 2.0, seed)
            assert torch.equal(many.values[i, j], one.values) and torch.equal(many.hit[i, j], one.hit)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_precision_changes_numbers_but_not_who_is_hit(kind: KeyKind, dtype: torch.dtype) -> None:
    x = draw(0, 30, 8)
    high, low = contaminate(x, kind, 0.2, 3.0, 0), contaminate(x.to(dtype), kind, 0.2, 3.0, 0)
    assert low.values.dtype == dtype
    assert torch.equal(low.hit, high.hit)
    torch.testing.assert_close(low.values.double(), high.values, rtol=0.03, atol=0.05)


def test_data_without_deviation_stay_what_they_are() -> None:
    x = torch.full((5, 3), 2.0)
    for kind in ("sparse", "tokens", "gaussian"):
        assert torch.equal(contaminate(x, kind, 0.5, 10.0, 0).values, x)
