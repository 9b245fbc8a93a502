"""The stages of one picture, each a function of the stage before it and of the parameters that it reads."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.maths.attention import attention_weights, fused_attention, widest
from explorer.maths.contamination import contaminate
from explorer.maths.gram import (
    Eigenpairs,
    Gram,
    eigenpairs,
    key_gram,
    refine_eigenpairs,
    value_matrix,
    variance_share,
)
from explorer.maths.projection import ProjectionErrors, project_keys, projection_errors
from explorer.maths.references import clipped_attention, uniform_attention
from explorer.maths.rpc import Pap, pap
from explorer.models.base import Head
from explorer.params import Params
from explorer.result import Array, Errors, Projection, Pursuit, Spectrum

CHEAP = 256
"""Tokens up to which the full eigenproblem is solved at every step of a drag."""
FULL = 1024
"""Tokens up to which all eigenpairs are computed at rest; beyond, the leading ones."""
LEADING = 32
SHOWN = 16
"""Eigenvectors that are shown; a few more make warm-started ones accurate."""
LN10 = math.log(10.0)


def prepare(head: Head, query: int | None) -> Head:
    """Restrict a head to what the query sees, in the widest precision of its device."""
    head = head.seen_by(query)
    wide = {name: widest(getattr(head, name)) for name in ("q", "k", "v")}
    return replace(head, **wide, bias=None if head.bias is None else widest(head.bias))


def soft(head: Head, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return softmax attention with the head's own scale, mask, bias and cap."""
    return fused_attention(q, k, v, head.scale, head.mask, head.bias, head.softcap)


def solve(gram: Gram, warm: Tensor | None = None) -> Eigenpairs:
    """Return eigenpairs: from nearby vectors where these are given, else exactly."""
    if warm is not None:
        return refine_eigenpairs(gram, warm)
    return eigenpairs(gram, None if gram.matrix.shape[-1] <= FULL else LEADING)


@dataclass(frozen=True, eq=False)
class Clean:
    """A head before contamination, and what depends on nothing else."""

    head: Head
    queries: Tensor
    gram: Gram
    pairs: Eigenpairs
    output: Tensor
    errors: ProjectionErrors
    vstar: Tensor
    log_scale: float
    keys_on_axes: Tensor


def clean(head: Head, symmetric: bool) -> Clean:
    """Compute the clean head's Gram matrix, axes and output."""
    queries = head.k if symmetric else head.q
    gram = key_gram(head.k, head.scale)
    pairs = solve(gram)
    output = soft(head, queries, head.k, head.v)
    vstar, log_scale = value_matrix(gram, pairs.leading(SHOWN), "axes")
    keys_on_axes, _ = project_keys(gram, pairs.leading(SHOWN))
    return Clean(
        head, queries, gram, pairs, output, projection_errors(queries, gram, pairs, output),
        vstar, float(log_scale), keys_on_axes,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Moved:
    """The same head with contaminated keys."""

    head: Head
    queries: Tensor
    hit: Tensor
    weights: Tensor
    """softmax(τ q' k'ᵀ) over all keys shown, without mask: the kernel's own."""
    output: Tensor


def move(c: Clean, p: Params) -> Moved:
    """Contaminate the head's keys (and values, where asked) and attend with them."""
    hit = contaminate(c.head.k, p.contamination, p.level, p.magnitude, p.seed)
    v = c.head.v
    if p.contaminate_values:
        v = contaminate(v, p.contamination, p.level, p.magnitude, p.seed).values
    head = replace(c.head, k=hit.values, v=v)
    queries = head.k if p.queries == "symmetric" else c.queries
    weights = attention_weights(queries, head.k, head.scale)
    plain = head.mask is None and head.plain_kernel
    output = weights @ v if plain else soft(head, queries, head.k, v)
    return Moved(head, queries, hit.hit, weights, output)


def pursue(head: Head, queries: Tensor, p: Params) -> Pap:
    """Run principal attention pursuit on a head."""
    return pap(
        queries, head.k, head.v, head.scale,
        form=p.form, queries=p.queries, width=pursuit_width(head, p), lam=p.lam, mu=p.mu,
        iterations=p.iterations, mask=head.mask, bias=head.bias, softcap=head.softcap, trace=True,
    )  # fmt: skip


def pursuit_width(head: Head, p: Params) -> int:
    """Return W of μ = N·W/(4‖K‖₁): the model's width in the published form, else D."""
    return head.width if p.form == "published" else head.k.shape[-1]


def spectrum(gram: Gram, pairs: Eigenpairs, like: Eigenpairs | None = None) -> Spectrum:
    """Describe a spectrum; vectors take the signs that agree with those of `like`."""
    log_scale = float(gram.log_scale) / LN10
    above = pairs.values > gram.tolerance
    count = int(above.sum())
    shown = pairs.leading(min(SHOWN, count))
    vectors = shown.vectors
    if like is not None:
        other = like.leading(vectors.shape[-1]).vectors
        common = other.shape[-1]
        agree = (vectors[:, :common] * other).sum(-2, keepdim=True) < 0
        vectors = torch.cat(
            [torch.where(agree, -vectors[:, :common], vectors[:, :common]), vectors[:, common:]], -1
        )
    return Spectrum(
        log10_values=numpy(pairs.values[:count].log10()) + log_scale,
        share=numpy(variance_share(gram, pairs)[:count]),
        vectors=numpy(vectors),
        identifiable=shown.identifiable.cpu().numpy(),
        log10_tolerance=float(gram.tolerance.log10()) + log_scale,
        rank=int(pairs.rank) if pairs.exact and pairs.values.shape[-1] == gram.matrix.shape[-1] else None,
        exact=pairs.exact,
    )


def projection(c: Clean, m: Moved, p: Params) -> Projection | None:
    """Place queries and keys, clean and contaminated, on two axes of the clean keys; None without two."""
    axes = list(p.axes)
    if int(c.pairs.rank) <= max(axes) or max(axes) >= SHOWN:
        return None
    vstar = c.vstar[:, axes]
    scale = c.head.scale
    keys = c.keys_on_axes[:, axes]
    queries = keys if p.queries == "symmetric" else attention_weights(c.queries, c.head.k, scale) @ vstar
    moved_queries = m.weights @ vstar
    moved_keys = attention_weights(m.head.k, c.head.k, scale) @ vstar
    centre = keys.mean(0) if p.centred else torch.zeros_like(keys[0])
    points = [numpy(x - centre) for x in (queries, keys, moved_queries, moved_keys)]
    largest = max((float(np.abs(x).max(initial=0.0)) for x in points), default=0.0)
    digits = math.floor(math.log10(largest)) if largest > 0 else 0
    unit = digits + c.log_scale / LN10
    return Projection(*(x / 10.0**digits for x in points), axes=p.axes, log10_unit=unit)


def relative(x: Tensor, reference: Tensor) -> float:
    """Return ‖x − reference‖/‖reference‖; NaN where the reference is zero."""
    size = float(reference.norm())
    return float((x - reference).norm()) / size if size > 0 else math.nan


def by_token(x: Tensor, reference: Tensor) -> Array:
    """Return each token's error, so scaled that the root mean square over tokens is `relative`."""
    size = float(reference.square().sum(-1).mean().sqrt())
    return numpy((x - reference).norm(dim=-1)) / (size if size > 0 else math.nan)


def errors(c: Clean, m: Moved, clean_rpc: Pap | None, rpc: Pap | None) -> Errors:
    """Compute the three errors and the two references of one level."""
    missing = np.full(c.output.shape[0], math.nan)
    uniform = uniform_attention(m.head.v, m.head.mask)
    own = None if m.queries is m.head.k else m.queries
    clipped = clipped_attention(
        own, m.head.k, m.head.v, m.head.scale, m.head.mask, m.head.bias, m.head.softcap
    )
    both = rpc is not None and clean_rpc is not None
    return Errors(
        softmax=relative(m.output, c.output),
        rpc=relative(rpc.output, clean_rpc.output) if both else math.nan,
        rpc_to_softmax=relative(rpc.output, c.output) if rpc is not None else math.nan,
        uniform=relative(uniform, c.output),
        clipped=relative(clipped, c.output),
        softmax_by_token=by_token(m.output, c.output),
        rpc_by_token=by_token(rpc.output, clean_rpc.output) if both else missing,
    )


def pursuit(m: Moved, clean_rpc: Pap, rpc: Pap, lam: float) -> Pursuit:
    """Describe how the pursuit went."""
    caught, hit = rpc.sparse != 0, m.hit
    both = float((caught & hit).sum())
    contaminated = bool(hit.any())
    return Pursuit(
        residuals=numpy(rpc.residuals),
        clean_residuals=numpy(clean_rpc.residuals),
        lam=lam,
        mu=float(rpc.mu),
        threshold=float(rpc.threshold),
        cut=float(caught.double().mean()) if caught.device.type != "mps" else float(caught.float().mean()),
        precision=both / float(caught.sum()) if contaminated and bool(caught.any()) else None,
        recall=both / float(hit.sum()) if contaminated else None,
    )


def why_no_pursuit(head: Head) -> str:
    """Return why RPC is not defined for a head; empty where it is."""
    dv, d = head.v.shape[-1], head.k.shape[-1]
    if dv == d:
        return ""
    return f"RPC needs values as wide as keys, and here Dv = {dv}, D = {d}: only softmax is shown."


def numpy(x: Tensor | None) -> Array:
    """Return a float64 array of a tensor."""
    if x is None:
        raise GramscopeError("A trace was asked for that was not kept.")
    return x.detach().cpu().double().numpy()
