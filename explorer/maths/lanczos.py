"""The leading eigenpairs of one large symmetric matrix, by restarted Lanczos iteration."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

_RESTARTS = 100
_SLACK = 1e-9
"""Relative to the largest eigenvalue: by so much an eigenvalue that is left may exceed the last one found."""


def leading_pairs(matrix: Tensor, count: int) -> tuple[Tensor, Tensor] | None:
    """Find the `count` largest eigenvalues and their vectors, to rounding.

    Lanczos iteration sees a multiple eigenvalue only through rounding. A second run, on what is left once
    those found are taken down to the last of them, tells whether it has overlooked one.

    Parameters
    ----------
    matrix : Tensor, shape (N, N)
        Symmetric, positive semi-definite, on the CPU.
    count : int
        Less than N.

    Returns
    -------
    (values, vectors) or None
        Descending, (count,) and (N, count); None where the iteration does not converge, or has overlooked
        one: then the full problem must be solved.
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    m = matrix.double().numpy()
    start = np.random.default_rng(0).normal(size=len(m))
    try:
        values, vectors = eigsh(m, k=count, which="LA", v0=start, maxiter=_RESTARTS)
        excess = values - values[0]
        left = LinearOperator(
            m.shape, matvec=lambda x: m @ x - vectors @ (excess * (vectors.T @ x)), dtype=m.dtype
        )
        (top,) = eigsh(
            left, k=1, which="LA", v0=start, tol=_SLACK, maxiter=_RESTARTS, return_eigenvectors=False
        )
    except ArpackError:
        return None
    if top > values[0] + _SLACK * values[-1]:
        return None
    found = values[::-1].copy(), vectors[:, ::-1].copy()
    return torch.from_numpy(found[0]).to(matrix), torch.from_numpy(found[1]).to(matrix)
