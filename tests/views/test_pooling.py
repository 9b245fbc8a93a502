from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.views.pooling import pooled


@given(n=st.integers(1, 60), m=st.integers(1, 60), rows=st.integers(1, 20), columns=st.integers(1, 20))
def test_every_entry_is_covered_and_the_largest_stays(n, m, rows, columns):
    values = np.random.default_rng(n * 61 + m).normal(size=(n, m))
    blocks = pooled(values, rows, columns, signed=False)
    assert blocks.shape == (min(n, rows), min(m, columns))
    assert blocks.max() == values.max()
    assert np.isin(blocks, values).all()
    signed = pooled(values, rows, columns, signed=True)
    assert np.abs(signed).max() == np.abs(values).max()
    assert np.isin(signed, values).all()


@pytest.mark.parametrize("signed", [False, True])
def test_nan_only_where_the_block_has_no_number(signed):
    values = np.full((4, 4), np.nan)
    values[0, 0] = -3.0
    blocks = pooled(values, 2, 2, signed)
    assert blocks[0, 0] == -3.0
    assert np.isnan(blocks).sum() == 3


def test_signed_keeps_the_sign_of_the_largest_magnitude():
    assert pooled(np.array([[1.0, -5.0, 3.0, 4.0]]), 1, 2, signed=True).tolist() == [[-5.0, 4.0]]
