from __future__ import annotations

import pytest
import torch

from explorer.maths.attention import attention, attention_weights
from explorer.maths.references import clip_keys, clipped_attention, scaled_attention, uniform_attention
from tests.maths.strategies import difference, draw, vectors

CAUSAL = torch.ones(9, 9, dtype=torch.bool).tril()


@pytest.mark.parametrize("case", [0, 1, 2])
def test_scaled_attention_of_the_authors_program(case: int) -> None:
    data = vectors("scaled_attention")
    q, k, v = (data[f"{name}{case}"] for name in "qkv")
    found = scaled_attention(q, k, v, k.shape[-1] ** -0.5, float(data[f"s{case}"]))
    assert difference(found, data[f"out{case}"]) < 1e-9


def test_scaled_attention_under_a_mask() -> None:
    q, k, v = draw(0, 9, 4), draw(1, 9, 4), draw(2, 9, 3)
    weights, own = (attention_weights(x, k, 0.5, CAUSAL) for x in (q, k))
    expected = weights @ (torch.eye(9, dtype=v.dtype) - 0.7 * own) @ v
    torch.testing.assert_close(scaled_attention(q, k, v, 0.5, 0.7, CAUSAL), expected)


def test_uniform_attention_is_attention_without_scores() -> None:
    k, v = draw(1, 2, 9, 4), draw(2, 2, 9, 3)
    for mask in (None, CAUSAL, CAUSAL & (torch.arange(9) > 0)):
        expected = attention(k, k, v, 0.0, mask)
        torch.testing.assert_close(uniform_attention(v, mask), expected)


def test_clipping_moves_outliers_only_and_to_the_stated_bound() -> None:
    k = draw(0, 101, 4)
    dirty = k.clone()
    dirty[3, 1], dirty[7, 2] = 1e6, -1e6
    clipped = clip_keys(dirty)
    centre = dirty.median(0).values
    radius = (dirty - centre).abs().median(0).values * 3 / 0.6745
    torch.testing.assert_close(clipped[3, 1], (centre + radius)[1])
    torch.testing.assert_close(clipped[7, 2], (centre - radius)[2])
    inside = (dirty - centre).abs() <= radius
    assert torch.equal(clipped[inside], dirty[inside])
    assert inside.double().mean() > 0.98
    # Two outliers hardly change what the bounds are.
    assert (clipped - clip_keys(k)).abs().max() < 10


def test_clipped_attention_clips_queries_only_where_queries_are_keys() -> None:
    q, k, v = draw(0, 9, 4), draw(1, 9, 4), draw(2, 9, 3)
    k[2, 1] = 40.0
    clean = clip_keys(k)
    torch.testing.assert_close(
        clipped_attention(None, k, v, 0.5, CAUSAL), attention(clean, clean, v, 0.5, CAUSAL)
    )
    torch.testing.assert_close(clipped_attention(q, k, v, 0.5), attention(q, clean, v, 0.5))


def test_one_token_and_equal_tokens() -> None:
    for k in (draw(0, 1, 4), draw(0, 1, 4).expand(6, 4)):
        assert torch.equal(clip_keys(k), k)
        torch.testing.assert_close(clipped_attention(None, k, k, 0.5), k)
        torch.testing.assert_close(uniform_attention(k), k)
