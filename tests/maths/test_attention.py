from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.maths.attention import attention, attention_weights, fused_attention, match_heads
from tests.maths.strategies import draw

CAUSAL = torch.ones(9, 9, dtype=torch.bool).tril()
PADDED = torch.arange(9).expand(9, 9) < 6
NOTHING = CAUSAL & (torch.arange(9) != 0)[:, None] & (torch.arange(9) > 0)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("mask", [None, CAUSAL, PADDED, NOTHING])
@pytest.mark.parametrize("biased", [False, True])
def test_the_fused_path_is_the_readable_one(
    shape: tuple[int, ...], mask: torch.Tensor | None, biased: bool
) -> None:
    q, k, v = (draw(i, *shape, 9, 4) for i in range(3))
    bias = draw(3, 9, 9) if biased else None
    fused, readable = (f(q, k, v, 0.5, mask, bias) for f in (fused_attention, attention))
    torch.testing.assert_close(fused, readable, rtol=1e-12, atol=1e-12)
    assert fused.shape == (*shape, 9, 4)


def test_the_definition() -> None:
    q, k, v = draw(0, 4, 3), draw(1, 5, 3), draw(2, 5, 2)
    for i in range(4):
        raw = torch.exp(0.3 * (k @ q[i]))
        torch.testing.assert_close(attention(q, k, v, 0.3)[i], raw @ v / raw.sum())


def test_capped_scores() -> None:
    q, k, v = draw(0, 9, 3) * 20, draw(1, 9, 3), draw(2, 9, 2)
    scores = 5.0 * torch.tanh(q @ k.mT / 5.0)
    expected = scores.masked_fill(~CAUSAL, -torch.inf).softmax(-1) @ v
    for f in (attention, fused_attention):
        torch.testing.assert_close(f(q, k, v, 1.0, CAUSAL, softcap=5.0), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("f", [attention, fused_attention])
def test_a_query_that_sees_nothing_says_zero(f: object, dtype: torch.dtype) -> None:
    q, k, v = (draw(i, 2, 9, 4).to(dtype) for i in range(3))
    out = f(q, k, v, 0.5, NOTHING)  # type: ignore[operator]
    assert torch.equal(out[:, 0], torch.zeros_like(out[:, 0]))
    assert out.isfinite().all()
    bias = torch.zeros(9, 9, dtype=dtype)
    assert f(q, k, v, 0.5, NOTHING & False, bias).abs().max() == 0  # type: ignore[operator]


@given(st.floats(1e-3, 1e4), st.integers(1, 9), st.integers(0, 5))
@settings(deadline=None, max_examples=60)
def test_rows_are_distributions(size: float, count: int, seed: int) -> None:
    q, k = draw(seed, 6, 3) * size, draw(seed + 1, count, 3) * size
    weights = attention_weights(q, k, 0.5)
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(6, dtype=q.dtype))
    shifted = attention_weights(q, k + draw(seed + 2, 3), 0.5)
    # Moving all keys together adds the same to every score of a row.
    torch.testing.assert_close(shifted, weights, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_single(dtype: torch.dtype) -> None:
    q, k, v = (draw(i, 9, 4).to(dtype) for i in range(3))
    for f in (attention, fused_attention):
        assert torch.equal(f(q, k, v, 0.5), f(q.float(), k.float(), v.float(), 0.5))


def test_grouped_queries() -> None:
    q, k, v = draw(0, 6, 9, 4), draw(1, 2, 9, 4), draw(2, 2, 9, 4)
    found = fused_attention(q, match_heads(k, 6), match_heads(v, 6), 0.5, CAUSAL)
    for h in range(6):
        expected = attention(q[h], k[h * 2 // 6], v[h * 2 // 6], 0.5, CAUSAL)
        torch.testing.assert_close(found[h], expected)
    assert match_heads(k, 2) is k
