from __future__ import annotations

import math

import mpmath
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from explorer.maths.gram import (
    components_for,
    eigenpairs,
    key_gram,
    participation,
    refine_eigenpairs,
    value_matrix,
    variance_share,
)
from tests.maths.strategies import difference, draw, matrices, vectors

HARD = {
    "plain": draw(0, 9, 3),
    "large": draw(1, 9, 3) * 100,
    "small": draw(2, 9, 3) * 1e-3,
    "tiny": draw(2, 9, 3) * 1e-6,
    "large and small": draw(3, 9, 3) * torch.logspace(-3, 2, 9, dtype=torch.float64)[:, None],
    "fewer than D": draw(4, 3, 12),
    "two": draw(5, 2, 4),
    "two alike": draw(6, 9, 3)[[0, 0, 1, 2, 3, 4, 5, 6, 7]],
    "mean far off": draw(7, 9, 3) + 20.0,
}


HARD["two alike, large"] = HARD["two alike"] * 100
HEAVY = draw(7, 1, 5).expand(40, 5) * 40


def judge(k: Tensor, scale: float) -> list[mpmath.mpf]:
    """Return the logarithms of the eigenvalues, descending, from 80 digits; only positive ones."""
    with mpmath.workdps(80):
        rows = [[mpmath.mpf(x) for x in row] for row in k.double().tolist()]
        n = len(rows)
        raw = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                raw[i, j] = mpmath.exp(mpmath.mpf(scale) * mpmath.fdot(rows[i], rows[j]))
        g = [mpmath.fsum(raw[i, :]) for i in range(n)]
        centre = mpmath.eye(n) - mpmath.ones(n) / n
        kernel = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                kernel[i, j] = raw[i, j] / (g[i] * g[j])
        # Scaled, or the solver takes everything for zero.
        largest = max(kernel[i, i] for i in range(n))
        values = mpmath.eigsy(centre * (kernel / largest) * centre, eigvals_only=True)
        return sorted((mpmath.log(x * largest) for x in values if x > mpmath.mpf(10) ** -60), reverse=True)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", HARD)
def test_eigenvalues_above_the_tolerance_are_right(name: str, dtype: torch.dtype) -> None:
    k = HARD[name].to(dtype)
    gram = key_gram(k, 0.5)
    pairs = eigenpairs(gram)
    expected = judge(k, 0.5)
    count = int(pairs.rank)
    eps = torch.finfo(dtype).eps
    for d in range(count):
        found = mpmath.mpf(float(pairs.values[d].double().log())) + mpmath.mpf(float(gram.log_scale))
        allowed = float(gram.tolerance / pairs.values[d]) + 50 * eps + 1e-15 * abs(float(expected[d]))
        assert abs(found - expected[d]) < min(allowed, 1.0), d
    sure = float(gram.tolerance.double().log() + gram.log_scale) + math.log(2)
    above = [x for x in expected if x > sure]
    assert count >= len(above)


@pytest.mark.parametrize("factor", [1e-3, 1e-2, 1.0])
def test_single_precision_keeps_the_digits_of_small_keys(factor: float) -> None:
    k = (vectors("reproduction_minilm")["l2h5_k"] * factor).float()
    single, double = key_gram(k, 32**-0.5), key_gram(k.double(), 32**-0.5)
    found, expected = (eigenpairs(g, 8).values.double() for g in (single, double))
    assert difference(found * (single.log_scale - double.log_scale).exp(), expected) < 2e-6


@pytest.mark.parametrize("case", [0, 1, 2])
def test_eigenvalues_of_kernel_pca(case: int) -> None:
    data = vectors("kernel_pca_sklearn")
    k = data[f"k{case}"]
    gram = key_gram(k, k.shape[-1] ** -0.5)
    found = eigenpairs(gram, 6).values * gram.log_scale.exp()
    torch.testing.assert_close(found, data[f"eigenvalues{case}"], rtol=1e-9, atol=0)


@pytest.mark.parametrize("case", [0, 1, 2])
def test_eigenvalues_and_prescribed_values_of_an_independent_program(case: int) -> None:
    data = vectors("reference_small")
    k = data[f"k{case}"]
    gram = key_gram(k, k.shape[-1] ** -0.5)
    pairs = eigenpairs(gram, k.shape[-1])
    found = pairs.values * gram.log_scale.exp()
    torch.testing.assert_close(found, data[f"eigenvalues{case}"], rtol=1e-9, atol=0)
    for scaling in ("unit", "axes"):
        vstar, log_scale = value_matrix(gram, pairs, scaling)
        expected = data[f"vstar_{scaling}_abs{case}"]
        assert difference((vstar * log_scale.exp()).abs(), expected) < 1e-9


@pytest.mark.parametrize("head", ["l0h0", "l2h5", "l5h11"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_eigenvalues_of_a_real_head(head: str, dtype: torch.dtype) -> None:
    data = vectors("reproduction_minilm")
    gram = key_gram(data[f"{head}_k"].to(dtype), 32**-0.5)
    found = eigenpairs(gram, 32).values * gram.log_scale.exp()
    assert difference(found, data[f"{head}_eigenvalues"]) < 1e-5


@pytest.mark.parametrize("head", ["l0h0", "l2h5", "l5h11"])
def test_large_keys_leave_few_eigenvalues_above_rounding(head: str) -> None:
    k = vectors("reproduction_minilm")[f"{head}_k"].double()
    assert 1 <= int(eigenpairs(key_gram(k * 10, 32**-0.5)).rank) <= 5


@given(matrices())
@settings(deadline=None, max_examples=150)
def test_a_centred_gram_matrix(k: Tensor) -> None:
    gram = key_gram(k, 0.7)
    pairs = eigenpairs(gram)
    n = k.shape[0]
    for x in (gram.matrix, gram.log_scale, gram.lse, gram.tolerance, pairs.values, pairs.vectors):
        assert x.isfinite().all()
    slack = 4 * float(gram.tolerance)
    assert gram.matrix.sum(-1).abs().max() <= slack
    assert (gram.matrix - gram.matrix.mT).abs().max() <= slack
    assert torch.linalg.eigvalsh(gram.matrix).min() >= -slack
    assert int(pairs.rank) < max(n, 2)
    assert (pairs.values[1:] <= pairs.values[:-1]).all()
    torch.testing.assert_close(pairs.vectors.mT @ pairs.vectors, torch.eye(n, dtype=k.dtype))


@given(matrices(largest=3.0))
@settings(deadline=None, max_examples=80)
def test_what_a_kernel_of_inner_products_must_ignore(k: Tensor) -> None:
    n, d = k.shape
    order = torch.arange(n).flip(0)
    rotation = torch.linalg.qr(draw(0, d, d)).Q
    gram = key_gram(k, 0.7)
    same = [key_gram(k[order], 0.7), key_gram(k @ rotation, 0.7), key_gram(k * 4, 0.7 / 16)]
    values = eigenpairs(gram).values
    for other in same:
        torch.testing.assert_close(other.log_scale, gram.log_scale, rtol=1e-9, atol=1e-9)
        assert (eigenpairs(other).values - values).abs().max() <= 20 * float(gram.tolerance) + 1e-13
    torch.testing.assert_close(same[0].lse, gram.lse[order])


@given(matrices(largest=3.0))
@settings(deadline=None, max_examples=80)
def test_eigenpairs_solve_the_eigenproblem(k: Tensor) -> None:
    gram = key_gram(k, 0.7)
    pairs = eigenpairs(gram)
    left = gram.matrix @ pairs.vectors - pairs.vectors * pairs.values
    assert left.abs().max() <= 10 * float(gram.tolerance)
    largest = pairs.vectors.gather(0, pairs.vectors.abs().argmax(0, keepdim=True))
    assert (largest > 0).all()
    again = eigenpairs(key_gram(k, 0.7))
    assert torch.equal(again.vectors, pairs.vectors)
    assert float(variance_share(gram, pairs).sum()) <= 1 + 1e-9


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_single(dtype: torch.dtype) -> None:
    k = (draw(0, 20, 8) * 6).to(dtype)
    gram = key_gram(k, 8**-0.5)
    assert gram.matrix.dtype == torch.float32
    assert torch.equal(gram.matrix, key_gram(k.float(), 8**-0.5).matrix)
    assert eigenpairs(gram).vectors.isfinite().all()


@pytest.mark.parametrize(
    "k", [torch.ones(7, 3), torch.zeros(5, 2), torch.full((4, 4), 90.0), HEAVY, draw(0, 1, 6)]
)
def test_no_spread_means_no_axes(k: Tensor) -> None:
    gram = key_gram(k, 1.0)
    pairs = eigenpairs(gram)
    assert int(pairs.rank) == 0
    assert not pairs.identifiable.any()
    assert torch.equal(value_matrix(gram, pairs, "axes")[0], torch.zeros_like(gram.matrix))
    assert torch.equal(value_matrix(gram, pairs, "unit")[0], torch.zeros_like(gram.matrix))
    assert not variance_share(gram, pairs).any()
    assert float(participation(gram)) == 0
    assert not refine_eigenpairs(gram, draw(1, len(k), 1)).vectors.isnan().any()


def test_heads_of_different_rank_in_one_batch() -> None:
    k = draw(0, 12, 4)
    batch = torch.stack([k, k[[0] * 12], k * 100, k * 1e-3, k.sign()])
    gram = key_gram(batch, 0.5)
    pairs = eigenpairs(gram)
    vstar, log_scale = value_matrix(gram, pairs, "axes")
    assert len(set(pairs.rank.tolist())) > 2
    for i, alone in enumerate(batch):
        one = key_gram(alone, 0.5)
        single = eigenpairs(one)
        assert int(single.rank) == int(pairs.rank[i])
        torch.testing.assert_close(gram.log_scale[i], one.log_scale)
        torch.testing.assert_close(pairs.values[i], single.values)
        expected, scale = value_matrix(one, single, "axes")
        torch.testing.assert_close(log_scale[i], scale)
        sure = single.identifiable
        torch.testing.assert_close(vstar[i][:, sure], expected[:, sure])


def test_axes_have_unit_norm_in_feature_space() -> None:
    gram = key_gram(draw(0, 30, 6), 0.4)
    pairs = eigenpairs(gram, 6)
    a = pairs.vectors / pairs.values.sqrt()
    torch.testing.assert_close(a.mT @ gram.matrix @ a, torch.eye(6, dtype=a.dtype))
    vstar, log_scale = value_matrix(gram, pairs, "axes")
    back = vstar * gram.lse.exp()[:, None] * (log_scale + gram.log_scale / 2).exp()
    torch.testing.assert_close(back, a)


def test_equal_eigenvalues_are_not_identifiable_and_their_subspace_is() -> None:
    corners = torch.eye(6, dtype=torch.float64) * 2
    gram = key_gram(corners, 0.5)
    pairs = eigenpairs(gram)
    assert int(pairs.rank) == 5
    assert not pairs.identifiable.any()
    span = pairs.vectors[:, :5] @ pairs.vectors[:, :5].mT
    torch.testing.assert_close(span, torch.eye(6, dtype=span.dtype) - 1 / 6)
    assert eigenpairs(key_gram(draw(0, 12, 4), 0.5), 4).identifiable.all()


def test_refining_from_a_neighbour_finds_the_leading_pairs() -> None:
    before = draw(0, 300, 16)
    after = before + 0.05 * draw(1, 300, 16)
    gram = key_gram(after, 0.25)
    start = eigenpairs(key_gram(before, 0.25), 24).vectors
    exact, near = eigenpairs(gram, 8), refine_eigenpairs(gram, start, steps=3).leading(8)
    assert exact.exact and not near.exact
    torch.testing.assert_close(near.values, exact.values, rtol=2e-3, atol=0)
    cosines = torch.linalg.svdvals(near.vectors.mT @ exact.vectors)
    assert cosines.min() > 0.95
    more = refine_eigenpairs(gram, start, steps=60).leading(8)
    torch.testing.assert_close(more.values, exact.values)


def test_shares_of_variance() -> None:
    gram = key_gram(draw(0, 40, 8), 0.3)
    share = variance_share(gram, eigenpairs(gram))
    torch.testing.assert_close(share.sum(), torch.tensor(1.0, dtype=share.dtype))
    needed = int(components_for(share, 0.9))
    assert share[: needed - 1].sum() < 0.9 <= share[:needed].sum()
    torch.testing.assert_close(participation(gram), 1 / share.square().sum())
    assert int(components_for(share[:2], 0.99)) == 3
