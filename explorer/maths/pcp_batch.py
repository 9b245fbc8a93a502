"""Exact principal component pursuit of many heads at once."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from explorer.errors import Stopped
from explorer.maths.attention import upcast


def low_rank_part(
    k: Tensor,
    lam: float | None = None,
    tolerance: float = 1e-5,
    max_iterations: int = 5000,
    should_stop: Callable[[], bool] = lambda: False,
) -> Tensor:
    """Return L of K = L + S by the iteration of `explorer.maths.pcp.exact_pcp`, head by head.

    Heads that have converged are left out of the batch. Singular values are thresholded through the
    eigenvectors of the small XᵀX, which is exact enough in float64: what it gets wrong is thresholded away.

    Parameters
    ----------
    k : Tensor, shape (…, N, D)
    lam : float, optional
        None: 1/√max(N, D).
    tolerance : float
        Relative residual at which a head is done.

    Returns
    -------
    Tensor, shape (…, N, D)

    Raises
    ------
    Stopped
        If `should_stop` said so between iterations.
    """
    keys = upcast(k).reshape(-1, *k.shape[-2:])
    n, d = k.shape[-2:]
    lam = max(n, d) ** -0.5 if lam is None else lam
    total = keys.abs().sum((-2, -1), keepdim=True)
    mu = torch.where(total > 0, n * d / (4 * total.clamp_min(torch.finfo(keys.dtype).tiny)), 1.0)
    size = torch.linalg.vector_norm(keys, dim=(-2, -1)).clamp_min(torch.finfo(keys.dtype).tiny)
    found = torch.zeros_like(keys)
    open_heads = torch.arange(len(keys), device=keys.device)
    sparse = dual = torch.zeros_like(keys)
    for _ in range(max_iterations):
        if should_stop():
            raise Stopped
        low = _threshold_singular(keys - sparse + dual, 1 / mu)
        gap = keys - low + dual
        bound = lam / mu
        sparse = gap - torch.minimum(torch.maximum(gap, -bound), bound)
        rest = keys - low - sparse
        dual = dual + rest
        found[open_heads] = low
        left = torch.linalg.vector_norm(rest, dim=(-2, -1)) > tolerance * size
        if not bool(left.any()):
            break
        if not bool(left.all()):
            open_heads, keys, sparse, dual, mu, size = (
                x[left] for x in (open_heads, keys, sparse, dual, mu, size)
            )
    return found.view(k.shape)


def _threshold_singular(x: Tensor, threshold: Tensor) -> Tensor:
    """Lower the singular values of x (h, N, D) by `threshold` (h, 1, 1), those below it to 0."""
    tall = x if x.shape[-2] >= x.shape[-1] else x.mT
    values, vectors = torch.linalg.eigh(tall.mT @ tall)
    kept = 1 - threshold[..., 0] / values.clamp_min(torch.finfo(x.dtype).tiny).sqrt()
    low = tall @ ((vectors * kept.clamp_min(0.0)[..., None, :]) @ vectors.mT)
    return low if tall is x else low.mT
