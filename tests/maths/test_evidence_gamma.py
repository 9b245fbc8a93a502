from __future__ import annotations

from pathlib import Path

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from explorer.maths.evidence_gamma import gamma_statistics, recovered_columns
from explorer.maths.gram import eigenpairs, key_gram

DATA = Path(__file__).parents[1] / "data"


def by_pairs(gamma: np.ndarray) -> list[float]:
    """Mean and deviation over pairs of one column of γ, absolute and relative to the larger."""
    i, j = np.triu_indices(len(gamma), 1)
    absolute = np.abs(gamma[i] - gamma[j])
    largest = np.maximum(np.abs(gamma[i]), np.abs(gamma[j]))
    relative = np.divide(absolute, largest, out=np.zeros_like(absolute), where=largest > 0)
    return [absolute.mean(), absolute.std(ddof=1), relative.mean(), relative.std(ddof=1)]


def ours(gamma: np.ndarray) -> list[float]:
    """The same by the sorted statistics: with K̃ diagonal and a = 1, γ is the diagonal."""
    matrix = torch.diag(torch.from_numpy(gamma))
    found = gamma_statistics(matrix, torch.tensor(0.0), torch.ones(len(gamma), 1, dtype=torch.float64))
    return [
        10 ** float(found.absolute_mean_log10), 10 ** float(found.absolute_std_log10),
        float(found.relative_mean), float(found.relative_std),
    ]  # fmt: skip


@pytest.mark.parametrize("case", range(3))
def test_the_reference_statistics(case: int) -> None:
    data = np.load(DATA / "reference_small.npz")
    k, v = (torch.from_numpy(data[f"{name}{case}"]) for name in "kv")
    gram = key_gram(k, k.shape[-1] ** -0.5)
    found = gamma_statistics(gram.matrix, gram.log_scale, *recovered_columns(v, gram.lse))
    for mine, theirs in (
        (10**found.absolute_mean_log10, "gamma_abs_mean"),
        (10**found.absolute_std_log10, "gamma_abs_std"),
        (found.relative_mean, "gamma_rel_mean"),
    ):
        np.testing.assert_allclose(mine.numpy(), data[f"{theirs}{case}"], rtol=1e-9)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-9), min_size=4, max_size=30),
)
def test_sorting_equals_the_double_loop(gamma: list[float]) -> None:
    values = np.array(gamma)
    expected = by_pairs(values)
    rounding = 1e-7 * max(1e-9, np.abs(values).max())
    np.testing.assert_allclose(ours(values)[:2], expected[:2], rtol=1e-7, atol=rounding)
    np.testing.assert_allclose(ours(values)[2:], expected[2:], rtol=1e-7, atol=1e-7)


def test_a_constant_gamma_does_not_differ() -> None:
    absolute_mean, absolute_std, relative_mean, relative_std = ours(np.full(9, -3.0))
    assert absolute_mean == absolute_std == pytest.approx(3 * np.finfo(float).eps)  # the floor
    assert relative_mean == relative_std == 0


def test_entries_that_are_zero_are_left_out_and_counted() -> None:
    gamma = np.array([1.0, 2.0, -4.0, 8.0, 3.0])
    column = torch.ones(5, 1, dtype=torch.float64)
    column[4] = 0
    found = gamma_statistics(torch.diag(torch.from_numpy(gamma)), torch.tensor(0.0), column)
    assert int(found.excluded) == 1
    assert float(found.relative_mean) == pytest.approx(by_pairs(gamma[:4])[2], rel=1e-12)


def test_a_missing_column_has_no_statistics() -> None:
    found = gamma_statistics(
        torch.eye(4, dtype=torch.float64), torch.tensor(0.0), torch.zeros(4, 1, dtype=torch.float64)
    )
    assert int(found.excluded) == 4
    assert torch.isnan(found.relative_mean).all()


def test_eigenvectors_pass_and_others_do_not() -> None:
    k = torch.from_numpy(np.random.default_rng(0).standard_normal((40, 8)))
    gram = key_gram(k, 8**-0.5)
    vectors = eigenpairs(gram, 6).vectors
    solver = gamma_statistics(gram.matrix, gram.log_scale, vectors)
    assert solver.relative_mean.max() < 1e-9
    assert solver.angle.max() < 1e-5
    other = gamma_statistics(gram.matrix, gram.log_scale, torch.roll(vectors, 1, 0))
    assert other.relative_mean.min() > 0.1
    assert other.angle.min() > 1


@mpmath.workdps(80)
def exactly(k: Tensor, v: Tensor, scale: float) -> tuple[float, float]:
    """log₁₀ of the mean |γ_i − γ_j|, and its relative mean, of the first column in 80 digits."""
    keys = [[mpmath.mpf(float(x)) for x in row] for row in k]
    n = len(keys)
    kernel = [
        [mpmath.exp(mpmath.mpf(scale) * sum(x * y for x, y in zip(a, b, strict=True))) for b in keys]
        for a in keys
    ]
    g = [sum(row) for row in kernel]
    phi = [[kernel[i][j] / (g[i] * g[j]) for j in range(n)] for i in range(n)]
    rows = [sum(row) / n for row in phi]
    mean = sum(rows) / n
    centred = [[phi[i][j] - rows[i] - rows[j] + mean for j in range(n)] for i in range(n)]
    a = [g[j] * mpmath.mpf(float(v[j, 0])) for j in range(n)]
    gamma = [sum(centred[i][j] * a[j] for j in range(n)) / a[i] for i in range(n)]
    absolute, relative = [], []
    for i in range(n):
        for j in range(i):
            difference = abs(gamma[i] - gamma[j])
            absolute.append(difference)
            relative.append(difference / max(abs(gamma[i]), abs(gamma[j])))
    return float(mpmath.log10(sum(absolute) / len(absolute))), float(sum(relative) / len(relative))


@pytest.mark.parametrize("factor", [1.0, 10.0, 100.0])
def test_keys_far_beyond_any_exponent_are_right(factor: float) -> None:
    rng = np.random.default_rng(1)
    k, v = (torch.from_numpy(rng.standard_normal((7, 4))) for _ in range(2))
    k = k * factor
    gram = key_gram(k, 0.5)
    found = gamma_statistics(gram.matrix, gram.log_scale, *recovered_columns(v, gram.lse))
    log_mean, relative = exactly(k, v, 0.5)
    assert float(found.absolute_mean_log10[0]) == pytest.approx(log_mean, rel=1e-9, abs=1e-9)
    assert float(found.relative_mean[0]) == pytest.approx(relative, rel=1e-9)
