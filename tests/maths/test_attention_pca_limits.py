from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from explorer.maths import attention_pca as pca
from explorer.maths import attention_pca_limits as limits

spectra = st.lists(st.floats(0.05, 5), min_size=2, max_size=6)


def rotated(values: list[float], seed: int = 0) -> tuple[Tensor, Tensor]:
    """A covariance with these eigenvalues in a random basis, and that basis."""
    generator = torch.Generator().manual_seed(seed)
    d = len(values)
    basis = torch.linalg.qr(torch.randn(d, d, generator=generator, dtype=torch.float64))[0]
    return basis @ torch.tensor(values, dtype=torch.float64).diag() @ basis.mT, basis


def riemannian(sigma: Tensor, m: Tensor, coupling: float) -> Tensor:
    """Tangent gradient of the loss on the sphere, λ held at its present value."""
    _, gradient = pca.population_loss(sigma, pca.one_map(m, coupling))
    euclidean = pca.direction_gradient(gradient, m, coupling)
    return euclidean - m * (m * euclidean).sum()


@settings(deadline=None, max_examples=40)
@given(spectra)
def test_at_the_best_coupling_eigenvectors_are_stationary(values):
    sigma, basis = rotated(values)
    for j in range(len(values)):
        m = basis[:, j : j + 1]
        best = limits.loss_over_coupling(sigma, m).best_coupling
        assert best == pytest.approx(1 / values[j], rel=1e-9)
        assert riemannian(sigma, m, best).norm() < 1e-8 * max(values)


def test_at_the_best_coupling_nothing_else_is_stationary():
    """The tangent gradient of tr Σ − mᵀΣ²m/mᵀΣm vanishes only where Σm ∝ m, for Σ positive definite."""
    sigma, basis = rotated([4.0, 2, 1, 0.5])
    generator = torch.Generator().manual_seed(1)
    for _ in range(200):
        m = torch.randn(4, 1, generator=generator, dtype=torch.float64)
        m /= m.norm()
        best = limits.loss_over_coupling(sigma, m).best_coupling
        if (basis.mT @ m).abs().max() < 0.999:
            assert riemannian(sigma, m, best).norm() > 1e-3


@settings(deadline=None, max_examples=6)
@given(st.lists(st.floats(0.3, 4), min_size=3, max_size=5, unique_by=lambda x: round(x, 1)))
def test_minimum_at_the_best_coupling_is_the_trace_less_the_largest_eigenvalue(values):
    """Descend the loss at the best λ from random starts; the smallest value found is tr Σ − σ_max."""
    sigma, basis = rotated(values)
    best = []
    for seed in range(3):
        generator = torch.Generator().manual_seed(seed)
        m = torch.randn(len(values), 1, generator=generator, dtype=torch.float64)
        m /= m.norm()
        for _ in range(3000):
            quadratic = limits.loss_over_coupling(sigma, m)
            _, gradient = pca.population_loss(sigma, pca.one_map(m, quadratic.best_coupling))
            euclidean = pca.direction_gradient(gradient, m, quadratic.best_coupling)
            m = pca.sphere_step(m, euclidean, 0.2 / max(values))
        best.append(limits.loss_over_coupling(sigma, m).best)
    assert min(best) == pytest.approx(sum(values) - max(values), abs=1e-6)
    leading = basis[:, int(np.argmax(values))]
    assert limits.loss_over_coupling(sigma, leading[:, None]).best == pytest.approx(
        sum(values) - max(values), abs=1e-9
    )


def minimiser(values: np.ndarray, coupling: float) -> tuple[np.ndarray, float]:
    """Grid over the circle between the leading and the smallest eigenvector, refined: (m, loss)."""
    sigma = torch.from_numpy(np.diag(values))
    low, high = 0.0, np.pi / 2
    for _ in range(6):
        angles = np.linspace(low, high, 41)
        m = np.zeros((len(values), 41))
        m[0], m[-1] = np.cos(angles), np.sin(angles)
        losses = [
            limits.loss_over_coupling(sigma, torch.from_numpy(m[:, [i]])).at(coupling) for i in range(41)
        ]
        best = int(np.argmin(losses))
        low, high = angles[max(best - 1, 0)], angles[min(best + 1, 40)]
    return m[:, best], losses[best]


@pytest.mark.parametrize("values", [[4, 2, 1, 1, 0.5], [4, 1, 1, 1], [1, 0.01], [2, 1.9, 1.8]])
def test_transition_found_in_the_closed_form_is_the_formula(values):
    """Bisect λ for where the minimiser leaves the leading eigenvector; within 1 % of 2(1 + ρ)/(2 + ρ)/σ_1."""
    spectrum = np.array(values, dtype=np.float64)
    low, high = 0.5 / spectrum[0], 2 / spectrum[0]
    while high - low > 1e-4 * low:
        middle = (low + high) / 2
        if abs(minimiser(spectrum, middle)[0][0]) > 0.9999:
            low = middle
        else:
            high = middle
    assert low * spectrum[0] == pytest.approx(limits.transition(spectrum), rel=0.01)


def test_alignment_past_the_transition_is_the_published_table():
    """Spectrum 4, 2, 1, 1, 0.5: aligned 1.000 at λσ_1 = 1.0, 0.934 at 1.2, 0.701 at 2.0."""
    spectrum = np.array([4, 2, 1, 1, 0.5])
    for product, expected in ((1.0, 1.0), (1.2, 0.934), (2.0, 0.701)):
        assert abs(minimiser(spectrum, product / 4)[0][0]) == pytest.approx(expected, abs=6e-4)


def test_transition_lies_between_one_and_four_thirds():
    assert limits.transition([3, 0]) == 1
    assert limits.transition([2, 2]) == pytest.approx(4 / 3)
    assert limits.transition([3, -1e-12]) == 1


def test_bbp_at_known_places():
    assert limits.bbp_cosine(3, 10 / 64) == pytest.approx(0.9665, abs=1e-4)
    assert limits.bbp_cosine(3, 0) == pytest.approx(1)
    np.testing.assert_array_equal(limits.bbp_cosine([1.0, 0.5, 0.0], [1.0, 0.26, 0.1]), 0)


def test_bbp_is_what_sample_pca_reaches():
    d, n, theta = 400, 800, 2.0
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(6, n, d, generator=generator)
    x[..., 0] *= (1 + theta) ** 0.5
    found = limits.leading_direction(x.mT @ x)[:, 0].abs().mean().item()
    assert found == pytest.approx(float(limits.bbp_cosine(theta, d / n)), abs=0.02)


def test_oja_reaches_the_leading_eigenvector():
    sigma, basis = rotated([4.0, 2, 1])
    direction = torch.ones(3, dtype=torch.float64) / 3**0.5
    for _ in range(300):
        direction = limits.oja_step(direction, sigma, 0.1)
    assert (direction @ basis[:, 0]).abs() > 1 - 1e-9
    assert (limits.leading_direction(sigma) @ basis[:, 0]).abs() > 1 - 1e-12


def test_frames_and_several_covariances_agree_with_the_population_loss():
    sigmas = torch.stack([rotated([4.0, 2, 1, 0.5], seed)[0] for seed in range(3)])
    m = rotated([1.0, 1, 1, 1], 7)[1][:, :2]
    quadratic = limits.loss_over_coupling(sigmas, m)
    for coupling in (0.1, 0.3):
        expected, _ = pca.population_loss(sigmas, pca.one_map(m, coupling))
        assert quadratic.at(coupling) == pytest.approx(expected.item(), rel=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(0.05, 4), min_size=2, max_size=6, unique_by=lambda x: round(x, 1)))
def test_critical_coupling_of_one_covariance_is_the_transition(values):
    values = sorted(values, reverse=True)
    sigma, basis = rotated(values)
    found = limits.critical_coupling(sigma, basis)
    assert found * values[0] == pytest.approx(limits.transition(values), rel=1e-9)


def test_critical_coupling_of_many_covariances_is_where_the_curvature_changes_sign():
    """Second differences of the mean loss along every great circle through u_1."""
    generator = torch.Generator().manual_seed(0)
    factors = torch.randn(500, 6, 4, generator=generator, dtype=torch.float64)
    factors[..., 0] *= 2
    sigmas, basis = factors.mT @ factors / 6, torch.eye(4, dtype=torch.float64)
    critical = limits.critical_coupling(sigmas, basis)

    def curvature(j: int, coupling: float, angle: float = 1e-3) -> float:
        ahead, behind = (
            (np.cos(angle) * basis[:, :1] + sign * np.sin(angle) * basis[:, j : j + 1]) for sign in (1, -1)
        )
        at = [limits.loss_over_coupling(sigmas, m).at(coupling) for m in (ahead, basis[:, :1], behind)]
        return at[0] - 2 * at[1] + at[2]

    assert min(curvature(j, 0.99 * critical) for j in (1, 2, 3)) > 0
    assert min(curvature(j, 1.01 * critical) for j in (1, 2, 3)) < 0


def test_no_coupling_holds_a_direction_that_does_not_lead():
    sigma, basis = rotated([4.0, 2, 1])
    assert limits.critical_coupling(sigma, basis.flip(1)) == 0
