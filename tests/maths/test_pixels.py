"""Contaminated images: nested, seeded, of the size that was asked for."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

from explorer.maths.pixels import GREY, blur, contaminate_pixels, occlude, pixel_noise, salt_and_pepper
from explorer.params import LEVEL_MAX, PixelKind

KINDS = get_args(PixelKind)
SHARES = ("salt and pepper", "occlusion")
IMAGES = (
    st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 7), st.integers(1, 7))
    .flatmap(lambda shape: arrays(np.float32, shape, elements=st.floats(0, 1, width=32)))
    .map(torch.from_numpy)
)
SEEDS = st.integers(0, 2**31 - 1)
UNHURRIED = settings(deadline=None, max_examples=60)


def image(*shape: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(0).random(shape)).float()


@UNHURRIED
@given(IMAGES, st.sampled_from(SHARES), st.floats(0, 1), st.floats(0, 1), SEEDS)
def test_raising_the_level_only_adds(x: Tensor, kind: PixelKind, a: float, b: float, seed: int) -> None:
    low, high = sorted((a, b))
    less, more = (contaminate_pixels(x, kind, level, seed) for level in (low, high))
    touched = less != x
    assert torch.equal(more[touched], less[touched]), "what was hit stays hit, in the same way"


@UNHURRIED
@given(IMAGES, st.floats(0, 1), st.floats(0, 1), SEEDS)
def test_more_noise_goes_further_the_same_way(x: Tensor, a: float, b: float, seed: int) -> None:
    low, high = sorted((a, b))
    less, more = (pixel_noise(x, level, seed) - x for level in (low, high))
    assert (more.abs() >= less.abs() - 1e-6).all()
    assert (more * less >= 0).all()


@UNHURRIED
@given(st.floats(1, 4), st.floats(1, 4))
def test_blurring_twice_is_blurring_once_by_both(a: float, b: float) -> None:
    point = torch.zeros(1, 1, 121, 1, dtype=torch.float64)
    point[..., 60, 0] = 1.0
    once = blur(point, (a * a + b * b) ** 0.5)
    torch.testing.assert_close(blur(blur(point, a), b), once, atol=1e-4, rtol=0)


@UNHURRIED
@given(IMAGES, st.sampled_from(KINDS), SEEDS)
def test_level_nought_is_the_image_bit_for_bit(x: Tensor, kind: PixelKind, seed: int) -> None:
    assert torch.equal(contaminate_pixels(x, kind, 0.0, seed), x)


@UNHURRIED
@given(IMAGES, st.sampled_from(KINDS), st.floats(0, 1), SEEDS)
def test_going_back_restores_and_values_stay_in_range(
    x: Tensor, kind: PixelKind, share: float, seed: int
) -> None:
    level = share * LEVEL_MAX[kind]
    before = contaminate_pixels(x, kind, level, seed)
    contaminate_pixels(x, kind, LEVEL_MAX[kind], seed)
    assert torch.equal(contaminate_pixels(x, kind, level, seed), before)
    assert before.shape == x.shape and before.dtype == x.dtype
    assert (before >= 0).all() and (before <= 1).all()


@pytest.mark.parametrize("kind", SHARES)
@pytest.mark.parametrize("level", [0.0, 0.1, 0.25, 0.5, 1.0])
def test_the_share_is_exact_for_each_image(kind: PixelKind, level: float) -> None:
    x = image(3, 3, 20, 10) * 0.4 + 0.05
    hit = (contaminate_pixels(x, kind, level, 5) != x).any(1)
    assert hit.sum((1, 2)).tolist() == [round(200 * level)] * 3
    if 0 < level < 1:
        assert not torch.equal(hit[0], hit[1])


def test_salt_and_pepper_are_white_and_black_in_all_channels() -> None:
    x = image(1, 3, 40, 40) * 0.4 + 0.05
    hit = salt_and_pepper(x, 0.5, 1)[(salt_and_pepper(x, 0.5, 1) != x)].reshape(3, -1)
    assert set(hit.unique().tolist()) == {0.0, 1.0}
    assert torch.equal(hit[0], hit[1]) and torch.equal(hit[0], hit[2])
    assert 0.4 < float(hit.mean()) < 0.6


def test_occlusion_is_a_grey_square_where_it_has_room() -> None:
    x = torch.zeros(1, 1, 51, 51)
    seed = next(s for s in range(100) if _corner(occlude(x, 1 / 51**2, s))[0] in range(20, 31)
                and _corner(occlude(x, 1 / 51**2, s))[1] in range(20, 31))  # fmt: skip
    covered = occlude(x, 81 / 51**2, seed)[0, 0]
    rows, columns = torch.nonzero(covered == GREY).T
    assert (rows.max() - rows.min() + 1, columns.max() - columns.min() + 1) == (9, 9)


def _corner(x: Tensor) -> tuple[int, ...]:
    return tuple(torch.nonzero(x[0, 0])[0].tolist())


def test_noise_has_the_deviation_asked_for() -> None:
    x = torch.full((1, 1, 200, 200), 0.5)
    assert float((pixel_noise(x, 0.05, 0) - x).std()) == pytest.approx(0.05, rel=0.02)


def test_blur_keeps_what_is_flat_and_spreads_a_point_as_a_gaussian() -> None:
    flat = torch.full((1, 3, 8, 8), 0.3, dtype=torch.float64)
    torch.testing.assert_close(blur(flat, 8.0), flat)
    point = torch.zeros(1, 1, 41, 41, dtype=torch.float64)
    point[0, 0, 20, 20] = 1.0
    spread = blur(point, 2.0)[0, 0]
    at = torch.arange(41, dtype=torch.float64) - 20
    assert float((spread.sum(1) * at.square()).sum()) == pytest.approx(4.0, rel=1e-6)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "blur"])
def test_another_seed_is_another_picture(kind: PixelKind) -> None:
    x = image(1, 3, 16, 16)
    assert not torch.equal(contaminate_pixels(x, kind, 0.2, 0), contaminate_pixels(x, kind, 0.2, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_precision_changes_numbers_but_not_who_is_hit(kind: PixelKind) -> None:
    x = image(2, 1, 9, 9)
    single, double = (contaminate_pixels(y, kind, 0.3, 2) for y in (x, x.double()))
    torch.testing.assert_close(single.double(), double, atol=1e-6, rtol=0)
