"""The centred key Gram matrix in the log domain, its eigenpairs, and V*.

The feature map is φ(x) = φ̂(x)/g(x) with φ̂(x)·φ̂(y) = k(x, y) = exp(τ x·y) and g(x) = Σ_j k(x, k_j) (Teo and
Nguyen, arXiv 2406.13762, section 2). Numbers beyond any floating point range carry their scale apart: a
function that returns `(x, log_scale)` means x · exp(log_scale). Logarithms are natural, and in float64
where the device has it, whatever the keys' own precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from explorer.maths.attention import upcast, widest
from explorer.maths.lanczos import leading_pairs

Scaling = Literal["axes", "unit"]


@dataclass(frozen=True, eq=False, slots=True)
class Gram:
    """Centred Gram matrix K̃ = H K_φ H of the keys, K_φ[i, j] = k(k_i, k_j) / (g(k_i) g(k_j)).

    Attributes
    ----------
    deviations : Tensor, shape (…, N, D)
        The keys less their mean, in the widest precision.
    mean : Tensor, shape (…, 1, D)
        The mean key.
    scale : float
        τ.
    matrix : Tensor, shape (…, N, N)
        K̃ · exp(−log_scale).
    log_scale : Tensor, shape (…)
        log of the largest entry of K_φ.
    lse : Tensor, shape (…, N)
        log g(k_j).
    shifted_lse : Tensor, shape (…, N)
        log (1/N) Σ_i exp(τ k_j·(k_i − mean)), which keeps the digits of lse that small keys have.
    row_means : Tensor, shape (…, N)
        Row means of K_φ · exp(−log_scale), less 1.
    tolerance : Tensor, shape (…)
        eps·N·‖K_φ‖ in units of exp(log_scale), the norm being the largest row sum, which bounds the
        spectral norm. Eigenvalues under it are rounding. Scores beyond N, whose own rounding is
        larger than that of the sums, take the place of N.
    """

    deviations: Tensor
    mean: Tensor
    scale: float
    matrix: Tensor
    log_scale: Tensor
    lse: Tensor
    shifted_lse: Tensor
    row_means: Tensor
    tolerance: Tensor


@dataclass(frozen=True, eq=False, slots=True)
class Eigenpairs:
    """Eigenpairs K̃ a_d = γ_d a_d of a `Gram`, descending.

    Attributes
    ----------
    values : Tensor, shape (…, r)
        γ_d · exp(−log_scale), not negative. Those at or under the Gram's tolerance are rounding.
    vectors : Tensor, shape (…, N, r)
        Unit norm, the entry of largest magnitude positive.
    rank : Tensor of int, shape (…)
        How many eigenvalues are above the tolerance: of all N where all were solved for, else of these r.
    identifiable : Tensor of bool, shape (…, r)
        The eigenvalue is above the tolerance, and so is its distance to both neighbours; elsewhere any
        rotation among the neighbours' vectors is as good. The last one of a truncated set is judged
        by its upper neighbour alone where its lower one was not computed.
    exact : bool
        False for the approximate leading pairs of `refine_eigenpairs`.
    """

    values: Tensor
    vectors: Tensor
    rank: Tensor
    identifiable: Tensor
    exact: bool

    def leading(self, count: int) -> Eigenpairs:
        """Return the first `count` pairs; `rank` stays."""
        return replace(
            self,
            values=self.values[..., :count],
            vectors=self.vectors[..., :count],
            identifiable=self.identifiable[..., :count],
        )


def key_gram(k: Tensor, scale: float) -> Gram:
    """Build the centred Gram matrix of the keys without leaving the floating point range.

    With m the mean key, d_j = k_j − m and l_i = log (1/N) Σ_j exp(τ k_i·d_j), the logarithm of an entry is
    log K_φ[i, j] = τ d_i·d_j − l_i − l_j − τ‖m‖² − 2 log N: what all keys share costs no digits. The largest
    (on the diagonal, since K_φ is positive semi-definite) becomes the scale. H exp(X) H = H expm1(X) H keeps
    the digits of nearly equal entries (small keys).

    Parameters
    ----------
    k : Tensor, shape (…, N, D)
        Keys; half precision is computed in float32.
    scale : float
        τ.
    """
    k = upcast(k)
    keys = widest(k)
    n = k.shape[-2]
    mean = keys.mean(-2, keepdim=True)
    deviations = keys - mean
    x = (deviations * scale) @ deviations.mT
    tilt = (deviations @ mean.mT)[..., 0] * scale
    diagonal = x.diagonal(dim1=-2, dim2=-1).clone()
    shifted = log_mean_exp(x + tilt[..., None, :])
    half = diagonal.sub(shifted, alpha=2).amax(-1, keepdim=True) / 2
    shift = shifted + half
    x.sub_(shift[..., None]).sub_(shift[..., None, :])
    g = x.to(k.dtype).expm1_()
    rows = g.mean(-1)
    centre = rows - rows.mean(-1, keepdim=True) / 2
    g.sub_(centre[..., None]).sub_(centre[..., None, :])
    common = scale * mean.square().sum((-2, -1))
    log_n = math.log(n)
    return Gram(
        deviations=deviations, mean=mean, scale=scale, matrix=g,
        log_scale=2 * (half[..., 0] - log_n) - common,
        lse=shifted + tilt + (common + log_n)[..., None], shifted_lse=shifted, row_means=rows,
        tolerance=_tolerance(rows, diagonal.amax(-1) + tilt.abs().amax(-1)),
    )  # fmt: skip


def _tolerance(row_means: Tensor, largest_score: Tensor) -> Tensor:
    n = row_means.shape[-1]
    largest_row = (n * (1 + row_means.amax(-1))).clamp_min(1.0)
    rounding = torch.finfo(largest_score.dtype).eps * largest_score
    return largest_row * rounding.clamp_min(torch.finfo(row_means.dtype).eps * n).to(row_means.dtype)


def log_mean_exp(scores: Tensor) -> Tensor:
    """Compute log (1/N) Σ_j exp(s_ij), right to rounding however small or large; overwrites `scores`."""
    top = scores.amax(-1, keepdim=True)
    return top[..., 0] + scores.sub_(top).expm1_().mean(-1).log1p_()


LARGE = 1024
"""Tokens beyond which the leading pairs alone are solved for, where one matrix lies on the CPU."""
_FEW = 16
"""Of so many eigenpairs at most one is wanted for that to be worth it."""


def eigenpairs(gram: Gram, count: int | None = None) -> Eigenpairs:
    """Solve for the leading `count` eigenpairs (None: all N), to rounding.

    All are solved for and cut, but for few of one large matrix on the CPU: there Lanczos iteration takes a
    small part of the time, and `rank` counts these alone.
    """
    matrix = gram.matrix
    n = matrix.shape[-1]
    if (
        count is not None
        and matrix.ndim == 2
        and matrix.device.type == "cpu"
        and n > max(LARGE, _FEW * count)
    ):
        found = leading_pairs(matrix, count + 1)
        if found is not None:
            pairs = _describe(gram, *found, exact=True).leading(count)
            return replace(pairs, rank=pairs.rank.clamp_max(count))
    values, vectors = torch.linalg.eigh(matrix)
    pairs = _describe(gram, values.flip(-1), vectors.flip(-1), exact=True)
    return pairs if count is None else pairs.leading(count)


def refine_eigenpairs(gram: Gram, start: Tensor, steps: int = 1) -> Eigenpairs:
    """Approximate the leading eigenpairs by subspace iteration from nearby vectors, with Rayleigh–Ritz.

    Parameters
    ----------
    gram : Gram
    start : Tensor, shape (…, N, r)
        Eigenvectors of a similar matrix. A few more than are shown make those shown accurate.
    steps : int
        Products with the matrix before the projection; each shrinks the error by γ_{r+1}/γ_d.
    """
    basis = start.to(gram.matrix)
    for _ in range(steps):
        basis = torch.linalg.qr(gram.matrix @ basis).Q
    values, rotation = torch.linalg.eigh(basis.mT @ (gram.matrix @ basis))
    return _describe(gram, values.flip(-1), basis @ rotation.flip(-1), exact=False)


def _describe(gram: Gram, values: Tensor, vectors: Tensor, exact: bool) -> Eigenpairs:
    values = values.clamp_min(0.0)
    tolerance = gram.tolerance[..., None]
    above = values > tolerance
    apart = values[..., :-1] - values[..., 1:] > tolerance
    edge = torch.ones_like(above[..., :1])
    identifiable = above & torch.cat([edge, apart], -1) & torch.cat([apart, edge], -1)
    return Eigenpairs(values, _signed(vectors), above.sum(-1), identifiable, exact)


def _signed(vectors: Tensor) -> Tensor:
    """Flip each column so that its entry of largest magnitude is positive."""
    largest = vectors.abs().argmax(-2, keepdim=True)
    return torch.where(vectors.gather(-2, largest) < 0, -vectors, vectors)


def variance_share(gram: Gram, pairs: Eigenpairs) -> Tensor:
    """Compute γ_d over the trace of K̃, shape (…, r); 0 where the trace itself is rounding."""
    trace = gram.matrix.diagonal(dim1=-2, dim2=-1).sum(-1)
    nothing = trace <= gram.tolerance
    share = pairs.values / torch.where(nothing, 1.0, trace)[..., None]
    return share.masked_fill(nothing[..., None], 0.0)


def participation(gram: Gram) -> Tensor:
    """Compute (Σγ)²/Σγ², shape (…): over how many axes the variance is spread; 0 where there is none."""
    trace = gram.matrix.diagonal(dim1=-2, dim2=-1).sum(-1)
    nothing = trace <= gram.tolerance
    ratio = (trace / torch.where(nothing, 1.0, gram.matrix.norm(dim=(-2, -1)))) ** 2
    return ratio.masked_fill(nothing, 0.0)


def components_for(share: Tensor, fraction: float) -> Tensor:
    """Count the leading components that hold `fraction` of the variance, shape (…).

    `share` is `variance_share`, shape (…, r); r + 1 means that these r do not hold it.
    """
    return (share.cumsum(-1) < fraction).sum(-1) + 1


def inverse_roots(gram: Gram, pairs: Eigenpairs) -> Tensor:
    """Compute 1/√γ_d in units of exp(−log_scale/2), shape (…, r); 0 at and under the tolerance."""
    above = pairs.values > gram.tolerance[..., None]
    return torch.where(above, pairs.values, 1.0).rsqrt().masked_fill(~above, 0.0)


def value_matrix(gram: Gram, pairs: Eigenpairs, scaling: Scaling) -> tuple[Tensor, Tensor]:
    """Compute the values that kernel PCA prescribes, V*_jd = (a_jd − mean_j a_jd)/g(k_j).

    Parameters
    ----------
    scaling : {"axes", "unit"}
        "axes": a_dᵀ K̃ a_d = 1, so that attention with V* projects onto unit axes u_d; "unit": ‖a_d‖ = 1,
        as in the reproduction study (arXiv 2505.07908).

    Returns
    -------
    vstar : Tensor, shape (…, N, r)
        Columns at and under the tolerance are zero.
    log_scale : Tensor, shape (…)
    """
    a = pairs.vectors - pairs.vectors.mean(-2, keepdim=True)
    roots = inverse_roots(gram, pairs)
    a = a * (roots if scaling == "axes" else (roots > 0))[..., None, :]
    smallest = gram.lse.amin(-1)
    vstar = a * (smallest[..., None] - gram.lse).exp().to(a.dtype)[..., None]
    return vstar, (-gram.log_scale / 2 if scaling == "axes" else 0.0) - smallest
