from __future__ import annotations

import math

import mpmath
import pytest
import torch
from hypothesis import given, settings
from sklearn.decomposition import KernelPCA
from torch import Tensor

from explorer.maths.attention import attention
from explorer.maths.gram import eigenpairs, key_gram, value_matrix
from explorer.maths.projection import log_norm2, log_partition, project, project_keys, projection_errors
from tests.maths.strategies import difference, draw, matrices, vectors


def explicit(q: Tensor, k: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Return ⟨φ(q_i), φ(k_j)⟩ and ⟨φ(k_i), φ(k_j)⟩ from the definition."""
    raw, own = torch.exp(scale * q @ k.mT), torch.exp(scale * k @ k.mT)
    g, gq = own.sum(-1), raw.sum(-1)
    return raw / (gq[:, None] * g), own / (g[:, None] * g)


def test_attention_with_prescribed_values_is_the_projection() -> None:
    q, k, scale = draw(0, 40, 8), draw(1, 25, 8), 8**-0.5
    gram = key_gram(k, scale)
    pairs = eigenpairs(gram, 8)
    cross, own = explicit(q, k, scale)
    axes = pairs.vectors / (pairs.values * gram.log_scale.exp()).sqrt()
    expected = (cross - cross.mean(-1, keepdim=True)) @ axes
    vstar, log_scale = value_matrix(gram, pairs, "axes")
    by_attention = attention(q, k, vstar, scale) * log_scale.exp()
    h, unit = project(q, gram, pairs)
    torch.testing.assert_close(by_attention, expected, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(h * unit.exp()[:, None], expected, rtol=1e-9, atol=1e-12)
    centred, unit = project(q, gram, pairs, centred=True)
    mean = (own.mean(0) - own.mean()) @ axes
    torch.testing.assert_close(centred * unit.exp()[:, None], expected - mean, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", [0, 1, 2])
def test_centred_projection_of_kernel_pca(case: int) -> None:
    data = vectors("kernel_pca_sklearn")
    q, k = data[f"q{case}"], data[f"k{case}"]
    gram = key_gram(k, k.shape[-1] ** -0.5)
    h, log_scale = project(q, gram, eigenpairs(gram, 6), centred=True)
    assert difference((h * log_scale.exp()[:, None]).abs(), data[f"abs_centred_projection{case}"]) < 1e-9


def test_centred_projection_is_scikit_learns_transform() -> None:
    q, k, scale = draw(2, 15, 5), draw(3, 30, 5), 0.4
    cross, own = explicit(q, k, scale)
    gram = key_gram(k, scale)
    pairs = eigenpairs(gram, 4)
    model = KernelPCA(n_components=4, kernel="precomputed", eigen_solver="dense").fit(own.numpy())
    for points, kernel in ((q, cross), (k, own)):
        h, log_scale = project(points, gram, pairs, centred=True)
        expected = torch.from_numpy(model.transform(kernel.numpy())).abs()
        torch.testing.assert_close((h * log_scale.exp()[:, None]).abs(), expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("case", [0, 1, 2])
def test_values_of_an_independent_program(case: int) -> None:
    data = vectors("reference_small")
    q, k, v = (data[f"{name}{case}"] for name in "qkv")
    scale = k.shape[-1] ** -0.5
    gram = key_gram(k, scale)
    pairs = eigenpairs(gram, k.shape[-1])
    h, log_scale = project(q, gram, pairs)
    assert difference((h * log_scale.exp()[:, None]).abs(), data[f"projection_abs{case}"]) < 1e-9
    torch.testing.assert_close(log_norm2(q, gram).exp(), data[f"phi_norm2{case}"], rtol=1e-9, atol=0)
    found = projection_errors(q, gram, pairs, attention(q, k, v, scale))
    torch.testing.assert_close(found.log_error_axes.exp(), data[f"error_true_axes{case}"], rtol=1e-9, atol=0)
    assert bool(found.learned_negative)
    torch.testing.assert_close(
        -found.log_error_learned.exp(), data[f"error_learned{case}"], rtol=1e-9, atol=0
    )


@given(matrices(largest=40.0))
@settings(deadline=None, max_examples=200)
def test_keys_need_no_attention_and_nothing_overflows(k: Tensor) -> None:
    gram = key_gram(k, 0.7)
    pairs = eigenpairs(gram)
    weak = (30 * gram.tolerance / pairs.values.clamp_min(1e-300)).clamp_max(1.0) + 1e-12
    for centred in (False, True):
        slow, scale = project(k, gram, pairs, centred)
        fast, same = project_keys(gram, pairs, centred)
        slow = slow * (scale - same).exp()[:, None]
        # An axis is as uncertain as rounding is against its eigenvalue.
        assert ((slow - fast).abs() <= weak * (1 + fast.abs().amax())).all()
    found = projection_errors(k, gram, pairs, k)
    for value in (found.log_phi, found.log_projection, found.log_output, found.log_error_axes):
        assert value.isfinite()
    assert found.log_error_learned.isfinite()
    assert found.log_error_axes <= found.log_phi
    assert log_norm2(k, gram).isfinite().all()


def test_the_paper_form_of_the_error_can_be_negative_and_the_true_one_cannot() -> None:
    q, k = draw(0, 20, 4), draw(1, 16, 4)
    gram = key_gram(k, 0.5)
    pairs = eigenpairs(gram)
    small = projection_errors(q, gram, pairs, torch.zeros_like(q))
    torch.testing.assert_close(small.log_error_learned, small.log_phi)
    assert not small.learned_negative
    large = projection_errors(q, gram, pairs, 10 * q)
    assert large.learned_negative
    torch.testing.assert_close(large.log_error_axes, small.log_error_axes)
    fewer = projection_errors(q, gram, pairs.leading(2), q)
    assert large.log_error_axes < fewer.log_error_axes < fewer.log_phi


@pytest.mark.parametrize("factor", [100.0, 1e-3])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_norms_and_partition_are_right_for_hard_keys(factor: float, dtype: torch.dtype) -> None:
    q, k, scale = (draw(4, 5, 3) * factor).to(dtype), (draw(5, 7, 3) * factor).to(dtype), 0.6
    gram = key_gram(k, scale)
    found, norms = log_partition(q, gram), log_norm2(q, gram)
    with mpmath.workdps(50):
        for i, query in enumerate(q.double().tolist()):
            scores = [scale * mpmath.fdot(query, key) for key in k.double().tolist()]
            log_g = mpmath.log(mpmath.fsum(mpmath.exp(s) for s in scores))
            own = scale * mpmath.fdot(query, query)
            assert math.isclose(float(found[i]), float(log_g), rel_tol=1e-13, abs_tol=1e-13)
            assert math.isclose(float(norms[i]), float(own - 2 * log_g), rel_tol=1e-12, abs_tol=1e-12)


def judge(q: Tensor, k: Tensor, scale: float, count: int) -> list[list[mpmath.mpf]]:
    """Return ⟨φ(q_i), u_d⟩ from 80 digits, of either sign."""
    with mpmath.workdps(80):
        both = [[mpmath.mpf(x) for x in row] for row in torch.cat([k, q]).double().tolist()]
        n, m = len(k), len(q)
        raw = [[mpmath.exp(mpmath.mpf(scale) * mpmath.fdot(a, b)) for b in both[:n]] for a in both]
        g = [mpmath.fsum(row) for row in raw]
        kernel = mpmath.matrix(n + m, n)
        for i in range(n + m):
            for j in range(n):
                kernel[i, j] = raw[i][j] / (g[i] * g[j])
        largest = max(kernel[i, i] for i in range(n))
        centre = mpmath.eye(n) - mpmath.ones(n) / n
        values, vectors = mpmath.eigsy(centre * (kernel[:n, :] / largest) * centre)
        found = kernel[n:, :] * centre * vectors
        columns = range(n - 1, n - 1 - count, -1)
        return [[found[i, d] / mpmath.sqrt(values[d] * largest) for d in columns] for i in range(m)]


@pytest.mark.parametrize("factor", [1.0, 10.0, 1e-3, 100.0])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_projections_are_right_for_hard_keys(factor: float, dtype: torch.dtype) -> None:
    q, k, scale = (draw(8, 4, 3) * factor).to(dtype), (draw(9, 8, 3) * factor).to(dtype), 0.5
    gram = key_gram(k, scale)
    pairs = eigenpairs(gram, 2 if factor == 1.0 else 1)
    h, log_scale = project(q, gram, pairs)
    eps = torch.finfo(dtype).eps
    weak = float((gram.tolerance / pairs.values).amax()) + 30 * eps
    for i, row in enumerate(judge(q, k, scale, h.shape[-1])):
        norm = mpmath.sqrt(mpmath.fsum(x**2 for x in row))
        unit = mpmath.exp(mpmath.mpf(float(log_scale[i])))
        for d, expected in enumerate(row):
            assert abs(abs(float(h[i, d])) * unit - abs(expected)) < min(weak, 0.1) * norm + eps * unit


def test_a_batch_of_heads() -> None:
    q, k = draw(6, 3, 10, 4), draw(7, 3, 12, 4)
    gram = key_gram(k, 0.5)
    pairs = eigenpairs(gram, 3)
    h, scale = project(q, gram, pairs)
    assert h.shape == (3, 10, 3) and scale.shape == (3, 10)
    one = key_gram(k[1], 0.5)
    torch.testing.assert_close(project(q[1], one, eigenpairs(one, 3))[0], h[1])
    assert projection_errors(q, gram, pairs, q).log_phi.shape == (3,)
