"""Prompts with a covariance of their own: spiked Wishart matrices, with a spike for all or one a prompt."""

from __future__ import annotations

import torch
from torch import Tensor


def random_directions(count: int, d: int, generator: torch.Generator) -> Tensor:
    """Return uniform unit vectors, shape (count, d)."""
    v = torch.randn(count, d, generator=generator)
    return v / torch.linalg.vector_norm(v, dim=1, keepdim=True)


def add_spike(z: Tensor, theta: float, spikes: Tensor) -> Tensor:
    """Turn rows from N(0, I) into rows from N(0, I + θ v vᵀ).

    Parameters
    ----------
    z : Tensor, shape (B, n, d)
    spikes : Tensor, shape (d,) or (B, d)
        Unit v, one for all or one a prompt.
    """
    return z + ((1 + theta) ** 0.5 - 1) * (z @ spikes[..., None]) * spikes[..., None, :]


def spiked_factors(
    batch: int, degrees: int, theta: float, spikes: Tensor, generator: torch.Generator
) -> Tensor:
    """Return F with FᵀF ~ Wishart_d(ν, I + θ v vᵀ)/ν, shape (B, ν, d); ν may be below d.

    A prompt with that covariance is Z F with Z from N(0, I_ν), so that nothing needs factorising.

    Parameters
    ----------
    degrees : int
        ν.
    spikes : Tensor, shape (d,) or (B, d)
    """
    z = torch.randn(batch, degrees, spikes.shape[-1], generator=generator)
    return add_spike(z, theta, spikes) / degrees**0.5
