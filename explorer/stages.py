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
from explorer.models.memory import refuse_large_picture
from explorer.params import KeyKind, Params
from explorer.reread import Reread, seen
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


def room_for(head: Head, query: int | None) -> None:
    """Raise `GramscopeError` where what the query sees of a head is too much for the memory that is free."""
    refuse_large_picture(len(seen(head, query)[1]), head.k.device)


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
    """The same head after contamination, of its keys or of what the model read.

    Attributes
    ----------
    head : Head
        Of the N' tokens that are left, all where none was deleted.
    queries : Tensor, shape (N', D)
    weights : Tensor, shape (N', N')
        softmax(τ q' k'ᵀ) over all keys shown, without mask: the kernel's own.
    touched : Tensor of bool, shape (N',)
        Tokens that were hit: an entry of their key, or their word or patch of the input.
    hit : Tensor of bool, shape (N', D), or None
        Which entries of the keys were hit; None where the contamination entered at the input.
    kept : Tensor of int, shape (N',), or None
        Each token's place among the clean ones; None: the same.
    still : bool
        Whether nothing is contaminated.
    """

    head: Head
    queries: Tensor
    weights: Tensor
    touched: Tensor
    hit: Tensor | None
    kept: Tensor | None = None
    still: bool = False

    def left(self, clean: Tensor) -> Tensor:
        """Return the rows of something clean, (N, ·), that belong to the tokens that are left."""
        return clean if self.kept is None else clean[self.kept]


def move(c: Clean, kind: KeyKind, p: Params) -> Moved:
    """Contaminate the head's keys, and its values where asked."""
    hit = contaminate(c.head.k, kind, p.level, p.magnitude, p.seed)
    v = c.head.v
    if p.contaminate_values:
        v = contaminate(v, kind, p.level, p.magnitude, p.seed).values
    head = replace(c.head, k=hit.values, v=v)
    queries = head.k if p.queries == "symmetric" else c.queries
    weights = attention_weights(queries, head.k, head.scale)
    touched = hit.hit.any(-1)
    return Moved(head, queries, weights, touched, hit.hit, still=not bool(touched.any()))


def leave(c: Clean) -> Moved:
    """Return the head as it is: nothing enters at the input."""
    hit = torch.zeros_like(c.head.k, dtype=torch.bool)
    weights = attention_weights(c.queries, c.head.k, c.head.scale)
    return Moved(c.head, c.queries, weights, hit.any(-1), hit, still=True)


def moved_by_input(again: Reread, symmetric: bool) -> Moved:
    """Take queries, keys and values of the head from the model's pass over the contaminated input."""
    head = prepare(again.whole, again.at)
    queries = head.k if symmetric else head.q
    weights = attention_weights(queries, head.k, head.scale)
    return Moved(head, queries, weights, again.touched, None, again.kept)


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


def clean_spectrum(c: Clean, m: Moved) -> Spectrum:
    """Describe the clean spectrum, its vectors at the tokens that are left."""
    return spectrum(c.gram, c.pairs, rows=m.kept)


def moved_spectrum(gram: Gram, pairs: Eigenpairs, c: Clean, m: Moved) -> Spectrum:
    """Describe the contaminated spectrum; vectors take the signs that agree with the clean ones."""
    return spectrum(gram, pairs, like=m.left(c.pairs.leading(SHOWN).vectors))


def spectrum(
    gram: Gram, pairs: Eigenpairs, like: Tensor | None = None, rows: Tensor | None = None
) -> Spectrum:
    """Describe a spectrum.

    Parameters
    ----------
    like : Tensor, shape (N, m), or None
        Vectors with whose signs those found should agree.
    rows : Tensor of int or None
        The tokens of which the vectors' entries are shown; None: all.
    """
    log_scale = float(gram.log_scale) / LN10
    above = pairs.values > gram.tolerance
    count = int(above.sum())
    shown = pairs.leading(min(SHOWN, count))
    vectors = shown.vectors
    if like is not None:
        other = like[:, : vectors.shape[-1]]
        common = other.shape[-1]
        agree = (vectors[:, :common] * other).sum(-2, keepdim=True) < 0
        vectors = torch.cat(
            [torch.where(agree, -vectors[:, :common], vectors[:, :common]), vectors[:, common:]], -1
        )
    return Spectrum(
        log10_values=numpy(pairs.values[:count].log10()) + log_scale,
        share=numpy(variance_share(gram, pairs)[:count]),
        vectors=numpy(vectors if rows is None else vectors[rows]),
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
    keys, queries = m.left(c.keys_on_axes), m.left(c.queries_on_axes)
    moved_queries, moved_keys = queries, keys
    if not m.still:
        moved_queries = m.weights @ m.left(c.vstar)
        moved_keys = attention_weights(m.head.k, c.head.k, c.head.scale) @ c.vstar
    centre = keys.mean(0) if p.centred else torch.zeros_like(keys[0])
    points = np.stack([numpy(x - centre) for x in (queries, keys, moved_queries, moved_keys)])
    largest = float(np.abs(points[..., axes]).max(initial=0.0))
    scale10 = c.log_scale / LN10
    unit = math.floor(math.log10(largest) + scale10) if largest > 0 else 0
    points *= 10.0 ** (scale10 - unit)
    queries_at, keys_at, moved_queries_at, moved_keys_at = points[..., axes]
    leading = points[..., : int(c.pairs.rank)]
    return Projection(queries_at, keys_at, moved_queries_at, moved_keys_at, p.axes, float(unit), leading)


def comparable(clean: Outputs, m: Moved) -> Outputs:
    """Return the clean outputs of the tokens that are left."""
    rpc = clean.rpc
    return replace(
        clean,
        softmax=m.left(clean.softmax),
        rpc=None if rpc is None else replace(rpc, output=m.left(rpc.output)),
        uniform=m.left(clean.uniform),
        clipped=m.left(clean.clipped),
    )


def errors(clean: Outputs, moved: Outputs, m: Moved) -> Errors:
    """Compute the three errors and the two references of one level; NaN where RPC is not defined.

    Each token that is left is compared with its own clean output.
    """
    clean = comparable(clean, m)
    found = {name: float(error) for name, error in output_errors(clean, moved).items()}
    softmax = numpy(error_by_token(moved.softmax, clean.softmax))
    rpc = np.full_like(softmax, math.nan)
    if moved.rpc is not None and clean.rpc is not None:
        rpc = numpy(error_by_token(moved.rpc.output, clean.rpc.output))
    missing = {"rpc": math.nan, "rpc_to_softmax": math.nan}
    return Errors(**(missing | found), softmax_by_token=softmax, rpc_by_token=rpc)


def pursuit(m: Moved, clean: Outputs, moved: Outputs, p: Params) -> Pursuit | None:
    """Describe how the pursuit went; None where there is none.

    S has no scores where every entry is contaminated: precision would be 1 whatever S is.
    """
    rpc = moved.rpc
    if rpc is None or clean.rpc is None or rpc.residuals is None or clean.rpc.residuals is None:
        return None
    precision, recall = None, None
    if m.hit is not None and not bool(m.hit.all()):
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
    added = m.head.k - m.left(c.head.k)
    return Decomposition(
        keys=numpy(m.head.k),
        added=numpy(added),
        hit=(added != 0 if m.hit is None else m.hit).cpu().numpy(),
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
