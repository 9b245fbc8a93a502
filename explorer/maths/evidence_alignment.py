"""Measures of agreement between values V and the values V* that kernel PCA prescribes, over any batch.

Linear CKA: Kornblith et al. 2019; as a test of V = V*: Sarıtaş and Yıldız (arXiv 2505.07908). Overlap is
the mean squared cosine of the principal angles between column spaces.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from explorer.maths.evidence_gamma import GammaStatistics, gamma_statistics, recovered_columns
from explorer.maths.evidence_names import FAMILIES
from explorer.maths.gram import Scaling

SCALINGS: tuple[Scaling, ...] = ("unit", "axes")


def column_basis(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Orthonormal basis of the column space of centred values.

    The columns are first mixed by a fixed rotation, so that those that depend on others come out as the
    last ones of the factorisation, where they are told by their size, instead of anywhere.

    Parameters
    ----------
    values : Tensor, shape (..., N, Dv)

    Returns
    -------
    basis : Tensor, shape (..., N, m)
        m = min(N, Dv); columns beyond the numerical rank are zero.
    factor : Tensor, shape (..., m, Dv)
        basis @ factor is the centred, mixed values: the same Gram matrix up to that rotation.
    rank : Tensor, shape (...)
    """
    centred = values - values.mean(-2, keepdim=True)
    mix = _rotation(values.shape[-1]).to(values)
    mixed = (mix @ centred.mT).mT
    basis, factor = torch.linalg.qr(mixed)
    tolerance = torch.finfo(values.dtype).eps * max(values.shape[-2:])
    size = factor.diagonal(dim1=-2, dim2=-1).abs()
    kept = size > tolerance * factor.flatten(-2).norm(dim=-1)[..., None]
    return basis * kept[..., None, :], factor, kept.sum(-1)


@lru_cache(maxsize=8)
def _rotation(size: int) -> Tensor:
    return torch.from_numpy(np.linalg.qr(np.random.default_rng(size).standard_normal((size, size)))[0])


def rbf_kernel(values: Tensor) -> Tensor:
    """Centred RBF kernel matrix over its Frobenius norm, so that kernel CKA is a sum of products.

    exp(−d²/2σ²) with σ² the median of the non-zero squared distances between tokens. The rows of V* span
    many decades: less the shortest row, they lose what all share, and distances between short rows keep
    their digits. A distance is zero where two rows agree to half of their own digits.

    Parameters
    ----------
    values : Tensor, shape (..., N, D)

    Returns
    -------
    Tensor, shape (..., N, N)
    """
    lengths = values.square().sum(-1)
    shortest = lengths.argmin(-1)[..., None, None].expand(*values.shape[:-2], 1, values.shape[-1])
    rows = values - values.gather(-2, shortest)
    squares = rows.square().sum(-1)
    distance = (rows @ rows.mT).mul_(-2).add_(squares[..., None]).add_(squares[..., None, :])
    tiny = lengths.mul_(16 * torch.finfo(values.dtype).eps)
    distance.masked_fill_(distance <= torch.maximum(tiny[..., None], tiny[..., None, :]), 0.0)
    kernel = distance.div_((-2 * _median_above_zero(distance))[..., None, None]).exp_()
    mean = kernel.mean(-1, keepdim=True)
    centre = mean - mean.mean(-2, keepdim=True) / 2
    kernel.sub_(centre).sub_(centre.mT)
    return kernel.div_(kernel.flatten(-2).norm(dim=-1)[..., None, None])


def _median_above_zero(distance: Tensor) -> Tensor:
    """Median over pairs of the squared distances (..., N, N) that are not zero."""
    pairs = np.take(distance.flatten(-2).cpu().numpy(), _pairs(distance.shape[-1]), axis=-1)
    count = pairs.shape[-1]
    zeros = (pairs == 0).sum(-1, keepdims=True)
    middle = ((zeros + count) // 2).clip(max=count - 1)
    pairs.partition(np.unique(middle), axis=-1)
    upper = np.take_along_axis(pairs, middle, -1)
    lower = np.where(np.arange(count) < middle, pairs, 0.0).max(-1, keepdims=True)
    median = np.where((zeros + count) % 2, upper, (lower + upper) / 2)
    return torch.from_numpy(median[..., 0]).to(distance.device)


@lru_cache(maxsize=4)
def _pairs(n: int) -> NDArray[np.intp]:
    """Where the pairs of N tokens lie in a flat N × N matrix."""
    rows, columns = np.triu_indices(n, 1)
    return rows * n + columns


@dataclass(frozen=True, eq=False)
class Target:
    """V* of one head or of a batch of heads, with all of it that many values are compared with.

    Attributes
    ----------
    star : Tensor, shape (..., 2, N, Dv)
        V* in both `SCALINGS`, over exp(log_size): columns beyond the rank are zero.
    log_size : Tensor, shape (..., 2)
    basis : Tensor, shape (..., N, m + Dv)
        Orthonormal basis of the column space of centred V*, which the scaling does not change, and beside
        it the eigenvectors a_d themselves, of which V* are the rows over g.
    rank : Tensor, shape (...)
        Of V*.
    vector_rank : Tensor, shape (...)
        How many eigenvectors are above rounding; the columns beyond are zero.
    inner : Tensor, shape (..., m, 2 Dv)
        The basis of V* times V* in both scalings, each over the root of its Gram's Frobenius norm.
    kernel : Tensor, shape (..., 2, N, N)
        `rbf_kernel` of V*.
    gram, log_scale, log_g : Tensor, shapes (..., N, N), (...), (..., N)
        Centred key Gram matrix over exp(log_scale), and log g of the keys.
    """

    star: Tensor
    log_size: Tensor
    basis: Tensor
    rank: Tensor
    vector_rank: Tensor
    inner: Tensor
    kernel: Tensor
    gram: Tensor
    log_scale: Tensor
    log_g: Tensor

    @classmethod
    def of(
        cls, star: Tensor, log_size: Tensor, vectors: Tensor, gram: Tensor, log_scale: Tensor, log_g: Tensor
    ) -> Target:
        """Prepare V* once; `vectors` are the eigenvectors (..., N, Dv), for the rest see the class."""
        basis, _, rank = column_basis(star[..., 0, :, :])
        inner = _unit_gram(basis[..., None, :, :].mT @ star)
        return cls(
            star=star,
            log_size=log_size,
            basis=torch.cat([basis, vectors], -1),
            rank=rank,
            vector_rank=(vectors != 0).any(-2).sum(-1),
            inner=inner.movedim(-3, -2).flatten(-2),
            kernel=rbf_kernel(star),
            gram=gram,
            log_scale=log_scale,
            log_g=log_g,
        )

    def __getitem__(self, head: int) -> Target:
        """Return one head of a batch."""
        return Target(**{name: part[head] for name, part in vars(self).items()})


def _unit_gram(x: Tensor) -> Tensor:
    """Scale x (..., r, D) so that ‖xᵀx‖_F is 1."""
    return x / (x.mT @ x).flatten(-2).norm(dim=-1).sqrt()[..., None, None]


def linear_measures(values: Tensor, target: Target) -> dict[str, Tensor]:
    """Overlap and linear CKA, which need one factorisation: cheap enough for hundreds of draws.

    Parameters
    ----------
    values : Tensor, shape (..., N, Dv)
    target : Target
        Of the same batch, or of one head for any batch of values.

    Returns
    -------
    dict of str to Tensor, shape (...)
    """
    basis, factor, rank = column_basis(values)
    widths = [target.inner.shape[-2], target.basis.shape[-1] - target.inner.shape[-2]]
    with_star, with_vectors = (basis.mT @ target.basis).split(widths, -1)
    aligned = _unit_gram(factor).mT @ (with_star @ target.inner)
    cka = aligned.unflatten(-1, (2, -1)).square().sum((-3, -1))
    return {
        "overlap": with_star.square().sum((-2, -1)) / torch.minimum(rank, target.rank),
        "overlap_vectors": with_vectors.square().sum((-2, -1)) / torch.minimum(rank, target.vector_rank),
        "linear_cka_unit": cka[..., 0],
        "linear_cka_axes": cka[..., 1],
    }


def direct_measures(
    values: Tensor, target: Target, families: Collection[str] = tuple(FAMILIES)
) -> dict[str, Tensor]:
    """Kernel CKA, cosines and errors, those of `families`; arguments and result as in `linear_measures`."""
    both = values[..., None, :, :]
    found = {}
    if "kernel_cka" in families:
        found["kernel_cka"] = (rbf_kernel(both) * target.kernel).sum((-2, -1))
    if "cosine" in families:
        found["cosine"], found["cosine_matched"] = cosines(both, target.star)
    if "frobenius" in families:
        found |= relative_errors(both, target.star, target.log_size)
    return {
        f"{key}_{scaling}": figures[..., i]
        for key, figures in found.items()
        for i, scaling in enumerate(SCALINGS)
    }


def gamma_measures(learned: GammaStatistics) -> dict[str, Tensor]:
    """Means over columns of the γ test's relative spread and angle."""
    return {"gamma_relative": learned.relative_mean.nanmean(-1), "gamma_angle": learned.angle.nanmean(-1)}


def costly_measures(
    values: Tensor, target: Target, families: Collection[str] = tuple(FAMILIES)
) -> dict[str, Tensor]:
    """All but `linear_measures`, those of `families`; arguments and result as there."""
    found = direct_measures(values, target, families)
    if "gamma" in families:
        columns, log_abs = recovered_columns(values, target.log_g)
        found |= gamma_measures(gamma_statistics(target.gram, target.log_scale, columns, log_abs))
    return found


def cosines(values: Tensor, star: Tensor) -> tuple[Tensor, Tensor]:
    """Mean cosine of tokens' values V_j and V*_j, as they stand and under the best one-to-one matching.

    Parameters
    ----------
    values, star : Tensor, shape (..., N, Dv)
    """
    table = _unit_rows(values) @ _unit_rows(star).mT
    flat = table.reshape(-1, *table.shape[-2:]).cpu().numpy()
    matched = [cosine[linear_sum_assignment(cosine, maximize=True)].mean() for cosine in flat]
    return table.diagonal(dim1=-2, dim2=-1).mean(-1), torch.tensor(matched).reshape(table.shape[:-2]).to(
        table
    )


def _unit_rows(x: Tensor) -> Tensor:
    """Scale rows to length 1, however short they are: the squares of the shortest of V* are no numbers."""
    tiny = torch.finfo(x.dtype).tiny
    rows = x / x.abs().amax(-1, keepdim=True).clamp(min=tiny)
    return rows / rows.norm(dim=-1, keepdim=True).clamp(min=tiny)


def relative_errors(values: Tensor, star: Tensor, log_size: Tensor) -> dict[str, Tensor]:
    """‖V − V*‖/‖V‖ as it stands, at the best scale, and at the best scale and rotation; NaN if one is 0.

    Parameters
    ----------
    values, star : Tensor, shape (..., N, Dv)
        V, and V* over exp(log_size).
    log_size : Tensor, shape (...)
    """
    length = values.flatten(-2).norm(dim=-1)[..., None, None]
    unit = values / length
    direction = star / star.flatten(-2).norm(dim=-1)[..., None, None]
    inner = (unit * direction).sum((-2, -1))[..., None, None]
    raw = unit - star * (log_size.exp()[..., None, None] / length)
    nuclear = _nuclear_norm(unit.mT @ direction)
    return {
        "frobenius": raw.flatten(-2).norm(dim=-1),
        "frobenius_scaled": (unit - inner * direction).flatten(-2).norm(dim=-1),
        "frobenius_procrustes": (1 - nuclear.square()).clamp(min=0).sqrt(),
    }


def _nuclear_norm(x: Tensor) -> Tensor:
    """Sum of singular values, NaN where x is; the decomposition of a whole batch fails with one of those."""
    undefined = x.isnan().any(-1).any(-1)
    return torch.linalg.svdvals(x.nan_to_num(nan=0.0)).sum(-1).masked_fill(undefined, torch.nan)
