"""Values brought beside other values: what each way undoes, and that no other choice comes closer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from explorer.maths.procrustes import flipped_onto, rotated_onto, scaled_onto

RNG = np.random.default_rng(0)
TARGET = RNG.normal(size=(20, 5))
VALUES = RNG.normal(size=(20, 5))
ROTATION = np.linalg.qr(RNG.normal(size=(5, 5)))[0]
SIGNS = np.array([1.0, -1.0, -1.0, 1.0, -1.0])


def error(values: np.ndarray) -> float:
    return float(np.linalg.norm(values - TARGET))


def test_a_rotation_and_a_scale_are_undone_by_procrustes() -> None:
    np.testing.assert_allclose(rotated_onto(7 * TARGET @ ROTATION, TARGET), TARGET, atol=1e-12)


def test_signs_and_a_scale_are_undone_by_signs_and_a_rotation_is_not() -> None:
    np.testing.assert_allclose(flipped_onto(0.1 * TARGET * SIGNS, TARGET), TARGET, atol=1e-12)
    assert error(flipped_onto(TARGET @ ROTATION, TARGET)) > 1


def test_a_scale_alone_may_be_negative_and_undoes_nothing_else() -> None:
    np.testing.assert_allclose(scaled_onto(-3 * TARGET, TARGET), TARGET, atol=1e-12)
    assert error(scaled_onto(TARGET * SIGNS, TARGET)) > 1


def test_procrustes_is_scipys_with_the_best_scale() -> None:
    rotation, _ = orthogonal_procrustes(VALUES, TARGET)
    turned = VALUES @ rotation
    best = (turned * TARGET).sum() / (turned * turned).sum()
    np.testing.assert_allclose(rotated_onto(VALUES, TARGET), best * turned, atol=1e-12)


def test_the_more_is_allowed_the_nearer_it_comes() -> None:
    errors = [error(bring(VALUES, TARGET)) for bring in (scaled_onto, flipped_onto, rotated_onto)]
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("bring", [scaled_onto, flipped_onto, rotated_onto])
def test_values_of_zero_stay_zero(bring: object) -> None:
    assert not bring(np.zeros((4, 2)), np.ones((4, 2))).any()  # type: ignore[operator]
