"""Queries and keys in feature space: positions on the principal axes, norms, and projection errors.

As in `explorer.maths.gram`, `(x, log_scale)` means x · exp(log_scale), and logarithms are natural and in the
widest precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.maths.attention import widest
from explorer.maths.gram import Eigenpairs, Gram, inverse_roots, log_mean_exp


def project(q: Tensor, gram: Gram, pairs: Eigenpairs, centred: bool = False) -> tuple[Tensor, Tensor]:
    """Compute ⟨φ(q_i), u_d⟩ on the unit principal axes u_d.

    This is Σ_j softmax_j(τ q_i·k_j) V*_jd, attention with the values of `value_matrix`, computed as
    Σ_j k(q_i, k_j)/(g(q_i) g(k_j)) a_jd, whose logarithms leave each query its own scale.

    Parameters
    ----------
    q : Tensor, shape (…, M, D)
        Queries, or keys.
    centred : bool
        Subtract the mean map (1/N) Σ_j φ(k_j): scikit-learn's `KernelPCA(kernel="precomputed").transform`.

    Returns
    -------
    h : Tensor, shape (…, M, r)
        In units of exp(log_scale_i); zero on axes at and under the tolerance.
    log_scale : Tensor, shape (…, M)
    """
    return _project(*_scores(q, gram), gram, pairs, centred)


def _scores(q: Tensor, gram: Gram) -> tuple[Tensor, Tensor]:
    """Return τ (q_i − m)·d_j, shape (…, M, N), and log (1/N) Σ_j exp(τ q_i·d_j), shape (…, M)."""
    d, m = gram.deviations, gram.mean
    scores = ((widest(q) - m) * gram.scale) @ d.mT
    tilt = (gram.scale * (d @ m.mT)).mT
    return scores, log_mean_exp(scores + tilt)


def _project(
    scores: Tensor, shift: Tensor, gram: Gram, pairs: Eigenpairs, centred: bool = False
) -> tuple[Tensor, Tensor]:
    """Project what `_scores` gave, which it overwrites."""
    common = gram.scale * gram.mean.square().sum(-1) + 2 * math.log(scores.shape[-1])
    x = scores.sub_(shift[..., None]).sub_((gram.shifted_lse + common)[..., None, :])
    unit = x.amax(-1, keepdim=True)
    if centred:
        unit = torch.maximum(unit, gram.log_scale[..., None, None])
    a = _axes(gram, pairs)
    h = x.sub_(unit).to(a.dtype).expm1_() @ a
    if centred:
        h = h - _mean_map(gram, a) * (gram.log_scale[..., None, None] - unit).exp().to(a.dtype)
    return h, (unit - gram.log_scale[..., None, None] / 2)[..., 0]


def project_keys(gram: Gram, pairs: Eigenpairs, centred: bool = False) -> tuple[Tensor, Tensor]:
    """Compute ⟨φ(k_j), u_d⟩ = √γ_d a_jd, plus the mean map unless centred.

    Returns
    -------
    h : Tensor, shape (…, N, r)
        In units of exp(log_scale); zero on axes at and under the tolerance.
    log_scale : Tensor, shape (…)
    """
    a = _axes(gram, pairs)
    h = a * pairs.values[..., None, :]
    return (h if centred else h + _mean_map(gram, a)), gram.log_scale / 2


def _axes(gram: Gram, pairs: Eigenpairs) -> Tensor:
    """Return coefficients of the unit axes in units of exp(−log_scale/2), columns summing to zero."""
    a = pairs.vectors - pairs.vectors.mean(-2, keepdim=True)
    return a * inverse_roots(gram, pairs)[..., None, :]


def _mean_map(gram: Gram, a: Tensor) -> Tensor:
    """Compute ⟨(1/N) Σ_j φ(k_j), u_d⟩ in units of exp(log_scale/2), shape (…, 1, r)."""
    return gram.row_means[..., None, :] @ a


def log_partition(q: Tensor, gram: Gram) -> Tensor:
    """Compute log g(q_i) = log Σ_j exp(τ q_i·k_j), shape (…, M)."""
    q = widest(q)
    common = gram.scale * (q @ gram.mean.mT)[..., 0] + math.log(gram.deviations.shape[-2])
    return log_mean_exp((q * gram.scale) @ gram.deviations.mT) + common


def log_norm2(q: Tensor, gram: Gram) -> Tensor:
    """Compute log ‖φ(q_i)‖² = τ q_i·q_i − 2 log g(q_i), shape (…, M)."""
    return _log_norm2(q, _scores(q, gram)[1], gram)


def _log_norm2(q: Tensor, shift: Tensor, gram: Gram) -> Tensor:
    q, m = widest(q), gram.mean
    log_n = math.log(gram.deviations.shape[-2])
    return gram.scale * ((q - m).square().sum(-1) - m.square().sum(-1)) - 2 * (shift + log_n)


@dataclass(frozen=True, eq=False, slots=True)
class ProjectionErrors:
    """Mean squared norms over queries and the two forms of the projection error, as logarithms, each (…).

    Attributes
    ----------
    log_norms : Tensor, shape (…, M)
        ‖φ(q_i)‖², query by query.
    log_phi : Tensor
        (1/N) Σ_i ‖φ(q_i)‖².
    log_projection : Tensor
        (1/N) Σ_i ‖h_i‖² of the projections onto the true axes.
    log_output : Tensor
        (1/N) Σ_i ‖o_i‖² of the head's learned output.
    log_error_axes : Tensor
        (1/N) Σ_i (‖φ(q_i)‖² − ‖h_i‖²), at least eps · (1/N) Σ‖φ(q_i)‖², under which it is rounding.
    log_error_learned : Tensor
        |(1/N) Σ_i (‖φ(q_i)‖² − ‖o_i‖²)|, the paper's form, with the same floor.
    learned_negative : Tensor of bool
        Whether the paper's form is negative: the learned output is longer than what it should project.
    """

    log_norms: Tensor
    log_phi: Tensor
    log_projection: Tensor
    log_output: Tensor
    log_error_axes: Tensor
    log_error_learned: Tensor
    learned_negative: Tensor


def projection_errors(q: Tensor, gram: Gram, pairs: Eigenpairs, output: Tensor) -> ProjectionErrors:
    """Compare what the queries are in feature space with what the axes, and the learned output, hold of it.

    Parameters
    ----------
    q : Tensor, shape (…, M, D)
    output : Tensor, shape (…, M, Dv)
        The head's learned output for these queries.
    """
    scores, shift = _scores(q, gram)
    norms = _log_norm2(q, shift, gram)
    h, log_scale = _project(scores, shift, gram, pairs)
    log_n = math.log(q.shape[-2])
    log_phi = norms.logsumexp(-1) - log_n
    log_projection = (_log_square(h) + 2 * log_scale).logsumexp(-1) - log_n
    log_output = _log_square(output).logsumexp(-1) - log_n
    return ProjectionErrors(
        log_norms=norms,
        log_phi=log_phi,
        log_projection=log_projection,
        log_output=log_output,
        log_error_axes=_log_difference(log_phi, torch.minimum(log_projection, log_phi)),
        log_error_learned=_log_difference(log_phi, log_output),
        learned_negative=log_output > log_phi,
    )


def _log_square(x: Tensor) -> Tensor:
    """Compute log ‖x_i‖², shape (…, M); the log of the smallest normal number for zero."""
    size = widest(x).square().sum(-1)
    return size.clamp_min(torch.finfo(size.dtype).tiny).log()


def _log_difference(a: Tensor, b: Tensor) -> Tensor:
    """Compute log |exp(a) − exp(b)|, at least that of eps · max."""
    ratio = -torch.expm1(-(a - b).abs())
    return torch.maximum(a, b) + ratio.clamp_min(torch.finfo(ratio.dtype).eps).log()
