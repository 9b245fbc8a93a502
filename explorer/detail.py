"""What is known in depth of how RPC-Attention and exact PCP take a head's keys apart; numpy alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Decomposition:
    """L and S of the pursuit beside what was really added to the keys; all in the keys' units.

    Attributes
    ----------
    keys : ndarray, shape (N, D)
        K', the keys that are taken apart: contaminated where the level says so.
    added : ndarray, shape (N, D)
        K' − K, the true contamination.
    hit : ndarray of bool, shape (N, D)
        The contaminated entries; where the contamination entered at the input, all that it moved.
    low, sparse : ndarray, shape (iterations, N, D)
        L and S after each iteration.
    """

    keys: Array
    added: Array
    hit: Bools
    low: Array
    sparse: Array


@dataclass(frozen=True, eq=False)
class Exact:
    """Where exact principal component pursuit of the contaminated keys stands.

    Attributes
    ----------
    low, sparse : ndarray, shape (N, D)
        L and S.
    lam : float
        λ of ‖L‖_* + λ‖S‖₁.
    residual : float
        ‖K − L − S‖/‖K‖.
    iteration : int
        From 1.
    converged : bool
        Whether the residual is at or under 1e-5.
    """

    low: Array
    sparse: Array
    lam: float
    residual: float
    iteration: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Sweep:
    """Precision and recall of the support of S over λ, at the present contamination.

    Attributes
    ----------
    lams : ndarray, shape (m,)
    cut : ndarray, shape (m,)
        Share of the entries of K that are in S.
    precision, recall : ndarray, shape (m,)
        NaN where not computed yet, where S is empty, or without contamination.
    done : int
        How many λ are computed.
    """

    lams: Array
    cut: Array
    precision: Array
    recall: Array
    done: int


@dataclass(frozen=True, eq=False)
class PhaseMap:
    """Which attention contamination moves less, over λ and level.

    Attributes
    ----------
    lams, levels : ndarray, shape (a,) and (b,)
        The middles of the cells.
    own : ndarray, shape (a, b)
        log₁₀(e_softmax / e_RPC), each against its own clean output, mean over the seeds so far: positive
        where RPC is better. NaN where not computed yet.
    to_softmax : ndarray, shape (a, b)
        The same with contaminated RPC against softmax's clean output.
    done : int
        How many of the points are computed, counting each seed.
    seeds : int
        How many seeds are wanted.
    seconds : float or None
        How long what is missing will take, where that can be told.
    """

    lams: Array
    levels: Array
    own: Array
    to_softmax: Array
    done: int
    seeds: int
    seconds: float | None = None

    @property
    def wanted(self) -> int:
        """How many points there will be, counting each seed."""
        return self.own.size * self.seeds


def support_scores(sparse: Array, hit: Bools) -> tuple[float, float]:
    """Return precision and recall of the support of S; NaN where nothing is in S, or nothing contaminated.

    Parameters
    ----------
    sparse : ndarray, shape (N, D)
    hit : ndarray of bool, shape (N, D)
    """
    found = sparse != 0
    both, in_support, contaminated = int((found & hit).sum()), int(found.sum()), int(hit.sum())
    if not contaminated:
        return np.nan, np.nan
    return both / in_support if in_support else np.nan, both / contaminated
