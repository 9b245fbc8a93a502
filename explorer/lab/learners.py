"""What is trained: directions on the sphere, a frame, or any matrix; one gradient step each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor

from explorer.lab.setting import Setting
from explorer.maths import attention_pca as pca

SMALLEST_COUPLING = 1e-3
START_SIZE = 0.1


class Learner(ABC):
    """The trained parameters of the heads, in units in which σ_1 = 1.

    Attributes
    ----------
    coupling : float or None
        λσ_1; None for a free matrix.
    """

    @property
    def coupling(self) -> float | None:
        """No coupling unless a subclass has one."""
        return None

    @abstractmethod
    def maps(self) -> Tensor:
        """Return W of every head, shape (R, d, d)."""

    @abstractmethod
    def step(self, gradient: Tensor, setting: Setting) -> None:
        """Descend, given the gradient with respect to `maps()`."""

    @abstractmethod
    def components(self, basis: Tensor, variances: Tensor) -> Tensor:
        """Return how much of each eigenvector was learned, shape (d,).

        Parameters
        ----------
        basis : Tensor, shape (d, d)
            Eigenvectors of Σ in columns.
        variances : Tensor, shape (d,)
            Their eigenvalues over σ_1.
        """

    @abstractmethod
    def directions(self) -> Tensor:
        """Return the learned directions, shape (d, R)."""


class Directions(Learner):
    """Unit vectors, each with a head of its own or together as one frame.

    Attributes
    ----------
    m : Tensor, shape (d, R)
    """

    coupling: float = 1.0

    def __init__(self, setting: Setting, m: Tensor) -> None:
        self.m = m
        self.coupling = setting.coupling
        several = setting.structure == "heads"
        self._make: Callable[[Tensor, float], Tensor] = pca.head_maps if several else pca.one_map
        self._move = pca.frame_step if setting.structure == "frame" else pca.sphere_step

    def maps(self) -> Tensor:
        """Return λ m mᵀ of every head, or λ M Mᵀ."""
        return self._make(self.m, self.coupling)

    def step(self, gradient: Tensor, setting: Setting) -> None:
        """Riemannian gradient descent; λ by plain descent where it is learned."""
        towards = pca.direction_gradient(gradient, self.m, self.coupling)
        if setting.learn_coupling:
            moved = self.coupling - setting.rate * float(pca.coupling_gradient(gradient, self.m))
            self.coupling = max(moved, SMALLEST_COUPLING)
        self.m = self._move(self.m, towards, setting.rate)

    def components(self, basis: Tensor, variances: Tensor) -> Tensor:
        """Return m·u_j; of a frame the length of u_j's part in its span; of several heads the largest."""
        inner = basis.mT @ self.m
        if inner.shape[1] == 1:
            return inner[:, 0]
        if self._move is pca.frame_step:
            return torch.linalg.vector_norm(inner, dim=1)
        return inner.abs().amax(1)

    def directions(self) -> Tensor:
        """Return the columns of M."""
        return self.m


class Free(Learner):
    """Any matrix W.

    Attributes
    ----------
    w : Tensor, shape (1, d, d)
    """

    def __init__(self, w: Tensor) -> None:
        self.w = w

    def maps(self) -> Tensor:
        """Return W."""
        return self.w

    def step(self, gradient: Tensor, setting: Setting) -> None:
        """Plain gradient descent."""
        self.w = self.w - setting.rate * gradient

    def components(self, basis: Tensor, variances: Tensor) -> Tensor:
        """Return u_j·ΣWᵀu_j, the share of component j that the head of an infinite prompt reproduces."""
        return variances * (basis * (self.w[0].mT @ basis)).sum(0)

    def directions(self) -> Tensor:
        """Return the top right singular vector of W, shape (d, 1)."""
        return torch.linalg.svd(self.w[0])[2][:1].mT


def start(setting: Setting, d: int, generator: torch.Generator) -> Learner:
    """Return parameters at random: uniform directions or frames, or a small Gaussian W."""
    if setting.structure == "free":
        return Free(torch.randn(1, d, d, generator=generator) * START_SIZE)
    m = torch.randn(d, min(setting.rank, d) if setting.structure != "one" else 1, generator=generator)
    if setting.structure == "frame":
        return Directions(setting, torch.linalg.qr(m)[0])
    return Directions(setting, m / torch.linalg.vector_norm(m, dim=0))
