"""Fresh prompts from a population of tokens, in units in which its leading eigenvalue is 1."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor

from explorer.lab.rows import load_covariance, load_rows
from explorer.lab.setting import IN_CONTEXT, Data
from explorer.maths.wishart import add_spike, random_directions, spiked_factors


class Prompts(ABC):
    """Where prompts come from. Tokens are divided by √σ_1, so that λσ_1 and rates mean the same everywhere.

    Attributes
    ----------
    d : int
    scale : float
        σ_1 in the data's own units; 1 + θ for the in-context families.
    covariance : Tensor of float64, shape (d, d)
        Of a token over all prompts, over `scale`.
    eigenvalues : ndarray, shape (d,)
        Its eigenvalues in the data's own units, descending.
    basis : Tensor, shape (d, d)
        Its eigenvectors, a column each, the entry of largest magnitude positive.
    has_direction : bool
        Whether all prompts share a leading direction.
    """

    has_direction = True

    def __init__(self, covariance: Tensor, scale: float, eigenvalues: Tensor, basis: Tensor) -> None:
        self.d = covariance.shape[0]
        self.scale = scale
        self.covariance = covariance
        self.eigenvalues = eigenvalues.clamp(min=0).numpy() * scale
        self.basis = basis.float()

    @abstractmethod
    def sample(self, batch: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw prompts.

        Returns
        -------
        x : Tensor, shape (batch, length, d)
        directions : Tensor, shape (batch, d)
            The direction to be found in each prompt, a unit vector.
        """

    def covariances(self, batch: int, generator: torch.Generator) -> Tensor:
        """Draw the covariances of infinitely long prompts: (d, d) where all share one, else (batch, d, d)."""
        return self.covariance.float()

    def leading(self, batch: int) -> Tensor:
        """Return the leading eigenvector for every prompt, shape (batch, d)."""
        return self.basis[:, 0].expand(batch, -1)


class Gaussian(Prompts):
    """Tokens from N(0, Σ) with Σ diagonal, so that the eigenvectors are the coordinate axes."""

    def __init__(self, eigenvalues: np.ndarray) -> None:
        values = torch.from_numpy(eigenvalues / eigenvalues.max())
        descending, order = values.sort(descending=True, stable=True)
        basis = torch.eye(len(values))[:, order]
        super().__init__(values.diag(), float(eigenvalues.max()), descending, basis)
        self.deviations = values.sqrt().float()

    def sample(self, batch: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw prompts; the direction is the leading eigenvector."""
        x = torch.randn(batch, length, self.d, generator=generator)
        return x.mul_(self.deviations), self.leading(batch)


class Correlated(Prompts):
    """Tokens from N(0, Σ) for any covariance Σ (d, d)."""

    def __init__(self, covariance: np.ndarray) -> None:
        sigma = torch.from_numpy(covariance)
        values, vectors, scale = _eigen(sigma)
        super().__init__(sigma / scale, scale, values, vectors)
        self._root = (vectors * values.clamp(min=0).sqrt()).mT.float()

    def sample(self, batch: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw prompts; the direction is the leading eigenvector."""
        return torch.randn(batch, length, self.d, generator=generator) @ self._root, self.leading(batch)


class Spiked(Prompts):
    """Prompts with covariances of their own, Wishart_d(ν, I + θ v vᵀ)/ν or I + θ v vᵀ where ν is infinite."""

    def __init__(self, d: int, theta: float, degrees: int | None, common: bool) -> None:
        values = torch.full((d,), 1.0 if common else 1 + theta / d, dtype=torch.float64)
        if common:
            values[0] = 1 + theta
        values /= 1 + theta
        super().__init__(values.diag(), 1 + theta, values, torch.eye(d))
        self.theta, self.degrees, self.has_direction = theta, degrees, common

    def _factors(self, batch: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw spikes (batch, d) and F with FᵀF the covariance, shape (batch, ν, d)."""
        spikes = self.leading(batch) if self.has_direction else random_directions(batch, self.d, generator)
        if self.degrees is None:
            factors = add_spike(torch.eye(self.d).expand(batch, -1, -1), self.theta, spikes)
        else:
            factors = spiked_factors(batch, self.degrees, self.theta, spikes, generator)
        return factors / self.scale**0.5, spikes

    def sample(self, batch: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw prompts; the direction is each prompt's spike."""
        factors, spikes = self._factors(batch, generator)
        z = torch.randn(batch, length, factors.shape[1], generator=generator)
        return z @ factors, spikes

    def covariances(self, batch: int, generator: torch.Generator) -> Tensor:
        """Draw one covariance a prompt."""
        factors, _ = self._factors(batch, generator)
        return factors.mT @ factors


class Rows(Prompts):
    """Prompts of rows drawn from a table, with replacement."""

    def __init__(self, rows: np.ndarray) -> None:
        table = torch.from_numpy(rows)
        covariance = table.mT @ table / len(table)
        values, vectors, scale = _eigen(covariance)
        super().__init__(covariance / scale, scale, values, vectors)
        self.table = (table / scale**0.5).float()

    def sample(self, batch: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw prompts; the direction is the leading eigenvector of the whole table."""
        chosen = torch.randint(len(self.table), (batch, length), generator=generator)
        return self.table[chosen], self.leading(batch)


def _eigen(covariance: Tensor) -> tuple[Tensor, Tensor, float]:
    """Return eigenvalues over the largest, descending, their eigenvectors with a sign, and the largest."""
    values, vectors = (part.flip(-1) for part in torch.linalg.eigh(covariance))
    signs = vectors.gather(0, vectors.abs().argmax(0, keepdim=True)).sign()
    return values / values[0], vectors * signs, float(values[0])


def open_prompts(data: Data) -> Prompts:
    """Return the population that `data` describes.

    Raises
    ------
    GramscopeError
        If a table cannot be read or a spectrum is none.
    """
    if data.family in IN_CONTEXT:
        return Spiked(data.d, data.theta, data.degrees, data.family == "wishart")
    if data.family == "rows":
        return Rows(load_rows(data.path, data.whiten))
    if data.family == "covariance":
        return Correlated(load_covariance(data.path))
    return Gaussian(data.eigenvalues)
