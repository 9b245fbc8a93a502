"""The γ test: whether K̃ a = γ a holds entry by entry, with the same γ for every token.

Where a column a is an eigenvector, γ_i = (K̃ a)_i / a_i is the same number for every token i; the spread
of γ_i over pairs of tokens is the claim's own measure (Teo and Nguyen, arXiv 2406.13762, section 2.3;
Sarıtaş and Yıldız, arXiv 2505.07908). Everything is carried as sign and logarithm: on real keys γ spans
more decades than float64 has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

LN10 = 2.302585092994046


@dataclass(frozen=True, eq=False)
class GammaStatistics:
    """How much γ_i differs over pairs of tokens, one figure a column.

    Attributes
    ----------
    absolute_mean_log10, absolute_std_log10 : Tensor, shape (..., C)
        log₁₀ of the mean and of the unbiased deviation of |γ_i − γ_j|; at least that of eps · max|γ_i|, under
        which it is rounding.
    relative_mean, relative_std : Tensor, shape (..., C)
        The same of |γ_i − γ_j| / max(|γ_i|, |γ_j|): 0 for an eigenvector, between 0 and 2.
    angle : Tensor, shape (..., C)
        Degrees between K̃a and a: 0 for an eigenvector of a positive eigenvalue.
    excluded : Tensor of int, shape (..., C)
        Tokens left out because a_i is exactly 0, where γ_i is not defined.
    """

    absolute_mean_log10: Tensor
    absolute_std_log10: Tensor
    relative_mean: Tensor
    relative_std: Tensor
    angle: Tensor
    excluded: Tensor


def recovered_columns(values: Tensor, log_g: Tensor) -> tuple[Tensor, Tensor]:
    """Return the columns â_jd = g(k_j) V_jd that the learned values would be eigenvectors as.

    Parameters
    ----------
    values : Tensor, shape (..., N, Dv)
    log_g : Tensor, shape (..., N)
        log g(k_j), the normaliser of each key.

    Returns
    -------
    columns : Tensor, shape (..., N, Dv)
        â divided by its row of largest g, which γ does not see.
    log_abs : Tensor, shape (..., N, Dv)
        log|â| on the same scale, exact where `columns` underflows.
    """
    log_weight = (log_g - log_g.amax(-1, keepdim=True))[..., None]
    return log_weight.exp() * values, log_weight + values.abs().log()


def gamma_statistics(
    gram: Tensor, log_scale: Tensor, columns: Tensor, log_abs: Tensor | None = None
) -> GammaStatistics:
    """Spread of γ_i = (K̃ a)_i / a_i over tokens, for each column a.

    Sort-based: O(N log N) a column where pairs would take O(N²).

    Parameters
    ----------
    gram : Tensor, shape (..., N, N)
        The centred key Gram matrix K̃ over exp(log_scale).
    log_scale : Tensor, shape (...)
    columns : Tensor, shape (..., N, C)
    log_abs : Tensor, shape (..., N, C), optional
        log|columns| where `columns` itself may underflow; computed from `columns` if not given.
    """
    image = gram @ columns
    if log_abs is None:
        log_abs = columns.abs().log()
    log_gamma = log_scale[..., None, None] + image.abs().log() - log_abs
    product = image * columns
    mean, std, relative_mean, relative_std = _pair_moments(log_gamma, product)
    lengths = image.square().sum(-2) * columns.square().sum(-2)
    cosine = product.sum(-2) / lengths.sqrt()
    return GammaStatistics(
        mean, std, relative_mean, relative_std,
        torch.rad2deg(torch.arccos(cosine.clamp(-1, 1))),
        (log_abs == -torch.inf).sum(-2),
    )  # fmt: skip


def _pair_moments(log_gamma: Tensor, signed: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Mean and unbiased deviation over pairs, absolute (log₁₀) and relative to the larger; (..., N, C) in.

    In ascending order of |γ|, token i is the larger of every pair with an earlier j, and
    |γ_i − γ_j| = |γ_i| (1 − γ_j/γ_i). E_i = Σ_{j<i} (1 − γ_j/γ_i) and F_i, the same of squares, follow from
    E_{i−1}, F_{i−1} with ρ = γ_{i−1}/γ_i alone, |ρ| ≤ 1: no cancellation and no overflow. Undefined γ
    (infinite or not a number) sort last and count for nothing.
    """
    key, order = sort_last(log_gamma.mT)
    sign = torch.copysign(torch.ones_like(signed), signed).mT.gather(-1, order).movedim(-1, 0).contiguous()
    key = key.movedim(-1, 0).contiguous()
    valid = key < torch.inf
    alike = sign[1:] * sign[:-1]
    drop = (key[:-1] - key[1:]).expm1_().nan_to_num_(nan=0.0).mul_(alike)
    first, second = _scan(alike + drop, 1 - alike - drop)

    n, live = valid.sum(0), valid[1:].to(key.dtype)
    pairs = n * (n - 1) / 2
    top = key.gather(0, (n - 1).clamp(min=0)[None])
    size = key[1:].sub_(top).clamp_(max=0).exp_().nan_to_num_(nan=1.0)
    relative = _mean_std(first.mul_(live).sum(0), second.mul_(live).sum(0), pairs)
    absolute = _mean_std(first.mul_(size).sum(0), second.mul_(size.square_()).sum(0), pairs)
    floor = torch.finfo(key.dtype).eps
    log_mean, log_std = ((top[0] + part.clamp(min=floor).log()) / LN10 for part in absolute)
    return log_mean, log_std, *relative


def sort_last(x: Tensor) -> tuple[Tensor, Tensor]:
    """Sort along the last dimension, ascending, not-a-number last: values and indices.

    numpy's vectorised sort is several times torch's on a processor; it does not know other devices.
    """
    if x.device.type != "cpu":
        values, order = x.sort(dim=-1)
        return values, order
    order = torch.from_numpy(np.argsort(x.numpy(), axis=-1))
    return x.gather(-1, order), order


def _scan(rho: Tensor, delta: Tensor) -> tuple[Tensor, Tensor]:
    """Return E and F of `_pair_moments` from the second token on, given each ρ and 1 − ρ, (N − 1, ...)."""
    count = torch.arange(1, rho.shape[0] + 1, dtype=rho.dtype, device=rho.device)
    both, ratios = rho.new_empty(2, rho.shape[0], 2, *rho.shape[1:])
    torch.mul(delta, count.reshape(-1, *[1] * (rho.ndim - 1)), out=both[:, 0])
    torch.mul(both[:, 0], delta, out=both[:, 1])
    ratios[:, 0] = rho
    torch.square(rho, out=ratios[:, 1])
    mixed = delta.mul_(2).mul_(rho)
    steps = zip(*(x.unbind(0) for x in (both, both[:, 1], ratios, mixed)), strict=True)
    before, *_ = next(steps)
    for now, now_second, ratio, mix in steps:
        now.addcmul_(ratio, before)
        now_second.addcmul_(mix, before[0])
        before = now
    return both[:, 0], both[:, 1]


def _mean_std(total: Tensor, squares: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
    mean = total / pairs
    return mean, ((squares - pairs * mean.square()).clamp(min=0) / (pairs - 1)).sqrt()
