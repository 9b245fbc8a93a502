"""Many heads at once give what each gives alone."""

from __future__ import annotations

import pytest
import torch

from explorer.errors import Stopped
from explorer.maths.pcp import exact_pcp
from explorer.maths.pcp_batch import low_rank_part


def heads(count: int, n: int, d: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(n)
    left, right, noise, chance = (
        torch.randn(count, *shape, generator=draw, dtype=torch.float64)
        for shape in ((n, 2), (2, d), (n, d), (n, d))
    )
    return left @ right + torch.where(chance > 1.5, 8 * noise, 0.0)


@pytest.mark.parametrize("shape", [(3, 20, 6), (2, 6, 12), (1, 8, 8)])
@pytest.mark.parametrize("lam", [None, 0.2])
def test_each_head_is_as_by_itself(shape: tuple[int, int, int], lam: float | None) -> None:
    keys = heads(*shape)
    found = low_rank_part(keys[None], lam)
    assert found.shape == (1, *keys.shape)
    for low, key in zip(found[0], keys, strict=True):
        *_, last = exact_pcp(key, lam)
        assert last.converged
        torch.testing.assert_close(low, last.low, rtol=0, atol=1e-9)


def test_keys_that_are_zero_stay_so() -> None:
    assert not low_rank_part(torch.zeros(2, 5, 3)).any()


def test_it_stops_when_asked() -> None:
    with pytest.raises(Stopped):
        low_rank_part(heads(1, 5, 3), should_stop=lambda: True)
