"""The stages of one picture, each a function of the stage before it and of the parameters that it reads."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from explorer.detail import Decomposition
from explorer.health import kernel_health
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
from explorer.maths.outputs import Convention, Outputs, error_by_token, head_outputs, support_scores
from explorer.maths.outputs import errors as output_errors
from explorer.maths.projection import ProjectionErrors, project_keys, projection_errors
from explorer.maths.rpc import Pap, default_lambda
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
_THREADS = torch.get_num_threads()


def prepare(head: Head, query: int | None) -> Head:
    """Restrict a head to what the query sees, in the widest precision of its device."""
    head = head.seen_by(query)
    bias = None if head.bias is None else widest(head.bias)
    return replace(head, q=widest(head.q), k=widest(head.k), v=widest(head.v), bias=bias)


def use_threads(tokens: int | None = None) -> None:
    """Let the calling thread compute on as many cores as `tokens` are worth; None: on all.

    Below a few hundred tokens the cores wait for each other longer than they work, above all on a busy
    machine.
    """
    torch.set_num_threads(1 if tokens is not None and tokens <= CHEAP else _THREADS)


def solve(gram: Gram, warm: Tensor | None = None) -> Eigenpairs:
    """Return eigenpairs: from nearby vectors where these are given, else exactly."""
    if warm is not None:
        return refine_eigenpairs(gram, warm)
    n = gram.matrix.shape[-1]
    return eigenpairs(gram, None if n <= FULL else LEADING)


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
    queries_on_axes: Tensor


def clean(head: Head, symmetric: bool) -> Clean:
    """Compute the clean head's Gram matrix, axes and output."""
    queries = head.k if symmetric else head.q
    gram = key_gram(head.k, head.scale)
    pairs = solve(gram)
    output = fused_attention(queries, head.k, head.v, head.scale, head.mask, head.bias, head.softcap)
    vstar, log_scale = value_matrix(gram, pairs.leading(SHOWN), "axes")
    keys_on_axes, unit = project_keys(gram, pairs.leading(SHOWN))
    keys_on_axes = keys_on_axes * (unit - log_scale).exp()
    queries_on_axes = keys_on_axes
    if not symmetric:
        queries_on_axes = attention_weights(queries, head.k, head.scale) @ vstar
    return Clean(
        head, queries, gram, pairs, output, projection_errors(queries, gram, pairs, output),
        vstar, float(log_scale), keys_on_axes, queries_on_axes,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Moved:
    """The same head with contaminated keys."""

    head: Head
    queries: Tensor
    hit: Tensor
    weights: Tensor
    """softmax(τ q' k'ᵀ) over all keys shown, without mask: the kernel's own."""


def move(c: Clean, p: Params) -> Moved:
    """Contaminate the head's keys, and its values where asked."""
    hit = contaminate(c.head.k, p.contamination, p.level, p.magnitude, p.seed)
    v = c.head.v
    if p.contaminate_values:
        v = contaminate(v, p.contamination, p.level, p.magnitude, p.seed).values
    head = replace(c.head, k=hit.values, v=v)
    queries = head.k if p.queries == "symmetric" else c.queries
    return Moved(head, queries, hit.hit, attention_weights(queries, head.k, head.scale))


def convention(head: Head, p: Params) -> Convention:
    """Return how this head is asked to attend; W is the model's width in the published form, else D."""
    return Convention(
        form=p.form, queries=p.queries, width=head.width if p.form == "published" else head.k.shape[-1],
        lam=p.lam, mu=p.mu, iterations=p.iterations,
        mask=head.mask, bias=head.bias, softcap=head.softcap,
    )  # fmt: skip


def attend(head: Head, queries: Tensor, p: Params) -> Outputs:
    """Compute the head's output by every attention that is compared."""
    return head_outputs(queries, head.k, head.v, head.scale, convention(head, p), trace=True)


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
        health=kernel_health(gram, pairs, SHOWN),
    )


def projection(c: Clean, m: Moved, p: Params) -> Projection | None:
    """Place queries and keys, clean and contaminated, on two axes of the clean keys; None without two."""
    axes = list(p.axes)
    if int(c.pairs.rank) <= max(axes) or max(axes) >= SHOWN:
        return None
    vstar = c.vstar[:, axes]
    keys, queries = c.keys_on_axes[:, axes], c.queries_on_axes[:, axes]
    moved_queries, moved_keys = queries, keys
    if bool(m.hit.any()):
        moved_queries = m.weights @ vstar
        moved_keys = attention_weights(m.head.k, c.head.k, c.head.scale) @ vstar
    centre = keys.mean(0) if p.centred else torch.zeros_like(keys[0])
    points = [numpy(x - centre) for x in (queries, keys, moved_queries, moved_keys)]
    largest = max((float(np.abs(x).max(initial=0.0)) for x in points), default=0.0)
    scale10 = c.log_scale / LN10
    unit = math.floor(math.log10(largest) + scale10) if largest > 0 else 0
    queries_at, keys_at, moved_queries_at, moved_keys_at = (x * 10.0 ** (scale10 - unit) for x in points)
    return Projection(queries_at, keys_at, moved_queries_at, moved_keys_at, p.axes, float(unit))


def errors(clean: Outputs, moved: Outputs) -> Errors:
    """Compute the three errors and the two references of one level; NaN where RPC is not defined."""
    found = {name: float(error) for name, error in output_errors(clean, moved).items()}
    softmax = numpy(error_by_token(moved.softmax, clean.softmax))
    rpc = np.full_like(softmax, math.nan)
    if moved.rpc is not None and clean.rpc is not None:
        rpc = numpy(error_by_token(moved.rpc.output, clean.rpc.output))
    missing = {"rpc": math.nan, "rpc_to_softmax": math.nan}
    return Errors(**(missing | found), softmax_by_token=softmax, rpc_by_token=rpc)


def pursuit(m: Moved, clean: Outputs, moved: Outputs, p: Params) -> Pursuit | None:
    """Describe how the pursuit went; None where there is none."""
    rpc = moved.rpc
    if rpc is None or clean.rpc is None or rpc.residuals is None or clean.rpc.residuals is None:
        return None
    precision, recall = support_scores(rpc.sparse, m.hit)
    return Pursuit(
        residuals=numpy(rpc.residuals),
        clean_residuals=numpy(clean.rpc.residuals),
        lam=default_lambda(p.form, *m.head.k.shape) if p.lam is None else p.lam,
        mu=float(rpc.mu),
        threshold=float(rpc.threshold),
        cut=float((rpc.sparse != 0).float().mean()),
        precision=precision,
        recall=recall,
    )


def decomposition(c: Clean, m: Moved, rpc: Pap | None) -> Decomposition | None:
    """Lay the pursuit's L and S beside what was added to the keys; None without a pursuit."""
    if rpc is None or rpc.trace_low is None or rpc.trace_sparse is None:
        return None
    return Decomposition(
        keys=numpy(m.head.k),
        added=numpy(m.head.k - c.head.k),
        hit=m.hit.cpu().numpy(),
        low=numpy(rpc.trace_low),
        sparse=numpy(rpc.trace_sparse),
    )


def why_no_pursuit(head: Head) -> str:
    """Return why RPC is not defined for a head; empty where it is."""
    dv, d = head.v.shape[-1], head.k.shape[-1]
    if dv == d:
        return ""
    return f"RPC needs values as wide as keys, and here Dv = {dv}, D = {d}: only softmax is shown."


def numpy(x: Tensor) -> Array:
    """Return a float64 array of a tensor."""
    return x.detach().cpu().double().numpy()
