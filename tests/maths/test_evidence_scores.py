from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from explorer.maths.evidence_scores import benjamini_hochberg, score, spread_over_heads


def test_z_and_p_of_one_head() -> None:
    draws = np.arange(10.0)
    found = score([7.0], draws[None], +1).of(0)
    assert found.z == pytest.approx((7 - 4.5) / draws.std(ddof=1))
    assert found.p == pytest.approx((1 + 3) / 11)  # 7, 8 and 9 are at least as large
    assert found.p_below == pytest.approx((1 + 8) / 11)
    assert found.value == 7
    assert found.draws == 10


def test_an_error_is_better_when_small() -> None:
    found = score([0.5], np.arange(1.0, 21.0)[None], -1)
    assert found.z[0] > 0
    assert found.p[0] == pytest.approx(1 / 21)
    assert found.p_below[0] == 1


def test_a_null_that_does_not_vary() -> None:
    found = score([1.0, 2.0], np.ones((2, 5)), +1)
    assert found.z[0] == 0
    assert np.isnan(found.z[1])
    assert found.p.tolist() == [1.0, pytest.approx(1 / 6)]


def test_rounding_is_no_difference() -> None:
    found = score([1.0], 1.0 + 1e-15 * np.arange(-20, 20)[None], +1)
    assert found.z[0] == 0
    assert found.p[0] == 1


def test_what_is_not_a_number_is_not_scored() -> None:
    found = score([np.nan, 1.0], [[1.0, 2.0], [np.nan, 2.0]], +1)
    assert np.isnan(found.z).all()
    assert np.isnan(found.p).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_false_discovery_rate_equals_scipys(p: list[float]) -> None:
    np.testing.assert_allclose(benjamini_hochberg(p), false_discovery_control(p), atol=1e-12)


def test_heads_without_a_p_are_not_tests() -> None:
    adjusted = benjamini_hochberg([0.01, np.nan, 0.04])
    assert np.isnan(adjusted[1])
    np.testing.assert_allclose(adjusted[[0, 2]], [0.02, 0.04])


def test_false_discoveries_are_rare_when_there_is_nothing() -> None:
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(100):
        scores = score(rng.standard_normal(72), rng.standard_normal((72, 200)), +1)
        found += spread_over_heads(scores.z, scores.p, scores.p_below, 200).discoveries > 0
    assert found <= 12  # 5 % expected of a hundred, with discrete p


def test_the_spread_over_heads() -> None:
    rng = np.random.default_rng(1)
    shift = np.repeat([0.0, 8.0, -8.0], 24)
    scores = score(shift + rng.standard_normal(72), rng.standard_normal((72, 200)), +1)
    spread = spread_over_heads(scores.z, scores.p, scores.p_below, scores.draws)
    assert spread.heads == 72
    assert abs(spread.mean_z) < 0.5
    assert spread.std_z > 5
    assert (spread.above, spread.below) == (24, 24)
    assert spread.discoveries >= 24
    assert spread.discoveries_below >= 24
    assert spread.smallest_p == 1 / 201
    assert spread.standing == "level"
