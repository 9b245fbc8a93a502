"""Exact principal component pursuit of the keys, which principal attention pursuit approximates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.maths.attention import fused_attention, upcast


@dataclass(frozen=True, eq=False, slots=True)
class Pcp:
    """Where the pursuit stands.

    Attributes
    ----------
    low, sparse : Tensor, shape (N, D)
        L and S.
    residual : float
        ‖K − L − S‖/‖K‖.
    iteration : int
        From 1.
    converged : bool
        Whether the residual is at or under the tolerance that was asked for.
    """

    low: Tensor
    sparse: Tensor
    residual: float
    iteration: int
    converged: bool


def exact_pcp(
    k: Tensor,
    lam: float | None = None,
    mu: float | None = None,
    tolerance: float = 1e-5,
    max_iterations: int = 5000,
) -> Iterator[Pcp]:
    """Minimise ‖L‖_* + λ‖S‖₁ over K = L + S by alternating directions, one yield an iteration.

    Candès, Li, Ma and Wright (2011), algorithm 1: singular value thresholding of K − S + Y/μ by 1/μ,
    shrinkage of K − L + Y/μ by λ/μ. The caller stops whenever it likes.

    Parameters
    ----------
    k : Tensor, shape (N, D)
    lam, mu : float, optional
        None: λ = 1/√max(N, D) and μ = N·D/(4‖K‖₁).
    tolerance : float
        Relative residual at which the last state is yielded.
    """
    k = upcast(k)
    n, d = k.shape
    size, total = float(k.norm()), float(k.abs().sum())
    lam = max(n, d) ** -0.5 if lam is None else lam
    mu = (n * d / (4 * total) if total else 1.0) if mu is None else mu
    low = sparse = dual = torch.zeros_like(k)
    for iteration in range(1, max_iterations + 1):
        low = _threshold_singular(k - sparse + dual, 1 / mu)
        sparse = torch.nn.functional.softshrink(k - low + dual, lam / mu)
        rest = k - low - sparse
        dual = dual + rest
        residual = float(rest.norm()) / (size or 1.0)
        converged = residual <= tolerance
        yield Pcp(low, sparse, residual, iteration, converged)
        if converged:
            return


def _threshold_singular(x: Tensor, threshold: float) -> Tensor:
    u, s, vh = torch.linalg.svd(x, full_matrices=False)
    return (u * (s - threshold).clamp_min(0.0)) @ vh


def pcp_attention(
    q: Tensor | None, low: Tensor, v: Tensor, scale: float, mask: Tensor | None = None
) -> Tensor:
    """Compute softmax attention on the low-rank part of the keys; `q` None: queries are keys."""
    return fused_attention(low if q is None else q, low, v, scale, mask)
