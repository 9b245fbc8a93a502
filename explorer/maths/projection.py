"""Queries and keys in feature space: positions on the principal axes, norms, and projection errors.

As in `explorer.maths.gram`, `(x, log_scale)` means x · exp(log_scale), and logarithms are natural.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.maths.attention import attention_weights, widest
from explorer.maths.gram import Eigenpairs, Gram, axes_scale, inverse_roots, log_mean_exp, value_matrix


def project(
    q: Tensor, gram: Gram, pairs: Eigenpairs, centred: bool = False, weights: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Compute ⟨φ(q_i), u_d⟩ = Σ_j softmax_j(τ q_i·k_j) V*_jd on the unit principal axes u_d.

    Parameters
    ----------
    q : Tensor, shape (…, M, D)
        Queries, or keys.
    centred : bool
        Subtract the mean map (1/N) Σ_j φ(k_j): scikit-learn's `KernelPCA(kernel="precomputed").transform`.
    weights : Tensor, shape (…, M, N), optional
        softmax(τ q kᵀ), where it is at hand.

    Returns
    -------
    h : Tensor, shape (…, M, r)
        Zero on axes at and under the tolerance.
    log_scale : Tensor, shape (…)
        That of `project_keys` and of `value_matrix` with "axes".
    """
    vstar, log_scale = value_matrix(gram, pairs, "axes")
    if weights is None:
        weights = attention_weights(widest(q), widest(gram.keys), gram.scale)
    h = weights.to(vstar.dtype) @ vstar
    return (h - _mean_map(gram, pairs) if centred else h), log_scale


def project_keys(gram: Gram, pairs: Eigenpairs, centred: bool = False) -> tuple[Tensor, Tensor]:
    """Compute ⟨φ(k_j), u_d⟩ without attention: √γ_d a_jd, plus the mean map unless centred."""
    roots = inverse_roots(gram, pairs)
    h = pairs.vectors * (pairs.values * roots * _units(gram)[..., None])[..., None, :]
    return (h if centred else h + _mean_map(gram, pairs)), axes_scale(gram)


def _mean_map(gram: Gram, pairs: Eigenpairs) -> Tensor:
    """Compute ⟨(1/N) Σ_j φ(k_j), u_d⟩ in units of exp(axes_scale), shape (…, 1, r)."""
    a = pairs.vectors - pairs.vectors.mean(-2, keepdim=True)
    means = (gram.row_means[..., None, :] @ a) * inverse_roots(gram, pairs)[..., None, :]
    return means * _units(gram)[..., None, None]


def _units(gram: Gram) -> Tensor:
    """Compute exp(log_scale/2) in units of exp(axes_scale); at most 1."""
    return (gram.log_scale + gram.lse.amin(-1)).exp().to(gram.matrix.dtype)


def log_partition(q: Tensor, gram: Gram) -> Tensor:
    """Compute log g(q_i) = log Σ_j exp(τ q_i·k_j), shape (…, M)."""
    scores = (widest(q) * gram.scale) @ widest(gram.keys).mT
    return log_mean_exp(scores) + math.log(scores.shape[-1])


def log_norm2(q: Tensor, gram: Gram) -> Tensor:
    """Compute log ‖φ(q_i)‖² = τ q_i·q_i − 2 log g(q_i), shape (…, M)."""
    return gram.scale * widest(q).square().sum(-1) - 2 * log_partition(q, gram)


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
    h, log_scale = project(q, gram, pairs)
    norms = log_norm2(q, gram)
    log_phi = norms.logsumexp(-1) - math.log(norms.shape[-1])
    log_projection = _log_mean_square(h) + 2 * log_scale
    log_output = _log_mean_square(output)
    return ProjectionErrors(
        log_norms=norms,
        log_phi=log_phi,
        log_projection=log_projection,
        log_output=log_output,
        log_error_axes=_log_difference(log_phi, torch.minimum(log_projection, log_phi)),
        log_error_learned=_log_difference(log_phi, log_output),
        learned_negative=log_output > log_phi,
    )


def _log_mean_square(x: Tensor) -> Tensor:
    """Compute log of the mean over tokens of ‖x_i‖²; the log of the smallest number for zero."""
    mean = widest(x).square().sum(-1).mean(-1)
    return mean.clamp_min(torch.finfo(mean.dtype).tiny).log()


def _log_difference(a: Tensor, b: Tensor) -> Tensor:
    """Compute log |exp(a) − exp(b)|, at least that of eps · max."""
    ratio = -torch.expm1(-(a - b).abs())
    return torch.maximum(a, b) + ratio.clamp_min(torch.finfo(ratio.dtype).eps).log()
