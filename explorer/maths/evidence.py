"""Evidence for or against one claim: the values of a head are what kernel PCA of its keys prescribes.

The claim is Teo and Nguyen's (arXiv 2406.13762), its dispute Sarıtaş and Yıldız's (arXiv 2505.07908). Here
every measure of both, for all key heads of a layer at once, in float64, and their draws under nulls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from explorer.maths.attention import exact
from explorer.maths.evidence_alignment import (
    SCALINGS,
    Target,
    direct_measures,
    gamma_measures,
    linear_measures,
)
from explorer.maths.evidence_gamma import LN10, GammaStatistics, gamma_statistics, recovered_columns
from explorer.maths.gram import Eigenpairs, Gram, eigenpairs, key_gram, participation, value_matrix
from explorer.maths.projection import projection_errors

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What was measured of R key heads that share N tokens, and of the query heads that they serve.

    Attributes
    ----------
    measures : dict of str to ndarray, shape (R,)
        Agreement of V and V*, by the keys of `explorer.maths.evidence_names.MEASURES`.
    spectra : dict of str to dict of str to ndarray
        "keys" and "standardised": `log10_values` (R, r) of the Gram matrix, NaN under the tolerance, and by
        head (R,) the `rank`, `log10_largest`, `share_1` and `share_3` of the trace, and `participation`.
    gamma : dict of str to dict of str to ndarray, shape (R, Dv)
        "learned" (columns â = g V) and "eigenvectors" (a check of the solver, NaN under the tolerance): the
        fields of `GammaStatistics` by column.
    projections : dict of str to ndarray, shape (Hq,)
        log₁₀ of the mean of ‖φ(q)‖² (`log10_phi`), of ‖h‖² on the true axes (`log10_projection`) and of
        the learned output (`log10_output`); of the errors in both forms (`log10_error_axes`,
        `log10_error_learned` with `sign_error_learned`); and `error_share`, error on the true axes over
        mean ‖φ‖², between 0 and 1.
    norms : dict of str to ndarray, shape (Hq, N)
        log₁₀ ‖φ(q_i)‖² (`phi`) and of the learned output (`output`), token by token.
    health : dict of str to ndarray, shape (R,)
        `largest_score` (τ k·k; exp of it overflows half precision beyond 11, single beyond 88),
        `under_tolerance` (eigenvalues not told from rounding), `indistinct` (columns of V* whose eigenvalue
        is too close to a neighbour's, or under the tolerance), `undefined_gamma` (entries of V exactly 0)
        and `chance_overlap`.
    """

    measures: dict[str, Array]
    spectra: dict[str, dict[str, Array]]
    gamma: dict[str, dict[str, Array]]
    projections: dict[str, Array]
    norms: dict[str, Array]
    health: dict[str, Array]


def prescribed(gram: Gram, pairs: Eigenpairs, width: int) -> Target:
    """Prepare V* of `width` columns, in both scalings, for comparison.

    Columns beyond the number of eigenvalues above rounding are zero.
    """
    leading = pairs.leading(width)
    missing = (0, width - leading.vectors.shape[-1])
    stars, log_sizes = zip(*(value_matrix(gram, leading, name) for name in SCALINGS), strict=True)
    above = leading.values > gram.tolerance[..., None]
    return Target.of(
        pad(torch.stack(stars, -3), missing),
        torch.stack(log_sizes, -1),
        pad(leading.vectors * above[..., None, :], missing),
        gram.matrix,
        gram.log_scale,
        gram.lse,
    )


def standardised(k: Tensor) -> Tensor:
    """Each token's key over its features, minus mean, by the unbiased deviation (the study's script).

    A key whose features are all equal becomes 0.
    """
    centred = k - k.mean(-1, keepdim=True)
    deviation = centred.norm(dim=-1, keepdim=True) / math.sqrt(k.shape[-1] - 1)
    return centred / deviation.clamp(min=torch.finfo(k.dtype).tiny)


def measure_heads(q: Tensor, k: Tensor, v: Tensor, output: Tensor, scale: float) -> tuple[Evidence, Target]:
    """Measure all heads of a layer on one input, without nulls.

    Parameters
    ----------
    q : Tensor, shape (Hq, N, D)
    k : Tensor, shape (R, N, D)
        Query head h is served by key head h·R // Hq.
    v : Tensor, shape (R, N, Dv)
    output : Tensor, shape (Hq, N, Dv)
        The heads' learned output, softmax(τ QKᵀ)V or what the model makes of it.
    scale : float
        τ.

    Returns
    -------
    Evidence
    Target
        For `draws_of`.
    """
    q, k, v, output = exact(q), exact(k), exact(v), exact(output)
    gram = key_gram(k, scale)
    pairs = eigenpairs(gram)
    target = prescribed(gram, pairs, v.shape[-1])
    normal = key_gram(standardised(k), scale)
    leading = pairs.leading(v.shape[-1])
    above = leading.values > gram.tolerance[..., None]
    learned, solver = _gamma(gram, v, leading.vectors * above[..., None, :])
    measures = linear_measures(v, target) | direct_measures(v, target) | gamma_measures(learned)
    projections, norms = _projections(q, gram, leading, output)
    evidence = Evidence(
        measures={name: as_array(value) for name, value in measures.items()},
        spectra={
            "keys": _spectrum(gram, pairs.values),
            "standardised": _spectrum(normal, torch.linalg.eigvalsh(normal.matrix).flip(-1)),
        },
        gamma={"learned": _arrays(learned), "eigenvectors": _arrays(solver)},
        projections=projections,
        norms=norms,
        health=_health(k, scale, pairs, target, learned),
    )
    return evidence, target


def as_array(x: Tensor) -> Array:
    """Return a tensor as a float64 array in main memory."""
    return x.detach().cpu().double().numpy()


def _gamma(gram: Gram, v: Tensor, vectors: Tensor) -> tuple[GammaStatistics, GammaStatistics]:
    """Take both readings of the γ test at once: columns recovered from the values, and the eigenvectors."""
    columns, log_abs = recovered_columns(v, gram.lse)
    columns, log_abs = torch.cat([columns, vectors], -1), torch.cat([log_abs, vectors.abs().log()], -1)
    both = vars(gamma_statistics(gram.matrix, gram.log_scale, columns, log_abs))
    parts = {name: value.split([v.shape[-1], vectors.shape[-1]], -1) for name, value in both.items()}
    learned, solver = ({name: pair[i] for name, pair in parts.items()} for i in range(2))
    return GammaStatistics(**learned), GammaStatistics(**solver)


def _arrays(statistics: GammaStatistics) -> dict[str, Array]:
    return {name: as_array(value) for name, value in vars(statistics).items()}


def _spectrum(gram: Gram, values: Tensor) -> dict[str, Array]:
    above = values > gram.tolerance[..., None]
    log_values = (values.log() + gram.log_scale[..., None]) / LN10
    trace = gram.matrix.diagonal(dim1=-2, dim2=-1).sum(-1)
    return {
        "log10_values": as_array(log_values.masked_fill(~above, torch.nan)),
        "rank": as_array(above.sum(-1)),
        "log10_largest": as_array(log_values[..., 0]),
        "share_1": as_array(values[..., 0] / trace),
        "share_3": as_array(values[..., :3].sum(-1) / trace),
        "participation": as_array(participation(gram)),
    }


def _projections(
    q: Tensor, gram: Gram, leading: Eigenpairs, output: Tensor
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return projection errors and norms by query head; each key head serves a group of query heads."""
    groups = zip(*(x.unflatten(0, (gram.lse.shape[0], -1)).unbind(1) for x in (q, output)), strict=True)
    found = [projection_errors(queries, gram, leading, outputs) for queries, outputs in groups]

    def by_head(field: str) -> Tensor:
        return torch.stack([getattr(errors, field) for errors in found], 1).flatten(0, 1)

    names = ("phi", "projection", "output", "error_axes", "error_learned")
    projections = {f"log10_{name}": as_array(by_head(f"log_{name}") / LN10) for name in names}
    projections["sign_error_learned"] = np.where(as_array(by_head("learned_negative")) > 0, -1.0, 1.0)
    projections["error_share"] = 10 ** (projections["log10_error_axes"] - projections["log10_phi"])
    norms = {
        "phi": as_array(by_head("log_norms") / LN10),
        "output": as_array(output.square().sum(-1).log10()),
    }
    return projections, norms


def _health(
    k: Tensor, scale: float, pairs: Eigenpairs, target: Target, learned: GammaStatistics
) -> dict[str, Array]:
    tokens, width = target.star.shape[-2:]
    distinct = pairs.identifiable[..., :width].sum(-1)
    return {
        "largest_score": as_array(scale * k.square().sum(-1).amax(-1)),
        "under_tolerance": as_array((tokens - 1 - pairs.rank).clamp(min=0)),
        "indistinct": as_array(width - distinct),
        "undefined_gamma": as_array(learned.excluded.sum(-1)),
        "chance_overlap": np.full(k.shape[0], min(width / (tokens - 1), 1.0)),
    }
