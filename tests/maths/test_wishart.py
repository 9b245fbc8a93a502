from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.maths import spectra, wishart


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_mean_of_wishart_is_the_spiked_covariance():
    spike = torch.tensor([0.6, 0.8, 0, 0])
    factors = wishart.spiked_factors(20_000, 6, 3.0, spike, generator())
    mean = (factors.mT @ factors).mean(0)
    torch.testing.assert_close(mean, torch.eye(4) + 3 * torch.outer(spike, spike), atol=0.05, rtol=0)


def test_fewer_degrees_than_dimensions_give_that_rank():
    factors = wishart.spiked_factors(3, 4, 1.0, torch.eye(10)[0], generator())
    assert torch.linalg.matrix_rank(factors.mT @ factors).tolist() == [4, 4, 4]


def test_wishart_variance_of_an_entry():
    """Var of the diagonal of Wishart(ν, I)/ν is 2/ν."""
    factors = wishart.spiked_factors(20_000, 8, 0.0, torch.eye(3)[0], generator())
    assert (factors.mT @ factors)[:, 1, 1].var().item() == pytest.approx(2 / 8, rel=0.05)


def test_a_spike_for_every_prompt():
    spikes = wishart.random_directions(4, 5, generator())
    torch.testing.assert_close(spikes.norm(dim=1), torch.ones(4))
    x = wishart.add_spike(torch.randn(4, 20_000, 5, generator=generator(1)), 3.0, spikes)
    covariance = x.mT @ x / 20_000
    expected = torch.eye(5) + 3 * spikes[:, :, None] * spikes[:, None, :]
    torch.testing.assert_close(covariance, expected, atol=0.12, rtol=0)


def test_families():
    np.testing.assert_array_equal(spectra.spiked(4, 3), [4, 1, 1, 1])
    np.testing.assert_allclose(spectra.power_law(4, 1), [4, 2, 4 / 3, 1])
    np.testing.assert_array_equal(spectra.flat(3), 1)


def test_whitened_rows_have_unit_covariance_on_their_rank():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 6))
    white = spectra.whiten(rows - rows.mean(0))
    assert white.shape == (50, 3)
    np.testing.assert_allclose(white.T @ white / 50, np.eye(3), atol=1e-10)
