"""Which axis of captured queries, keys and values is which: recognised by what fits, or asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.choices import NeedsHeads

Order = Literal["heads, tokens, head_dim", "tokens, heads, head_dim"]
WIDEST_HEAD = 256
"""Wider than any head in use: heads side by side in one matrix, unless the person says otherwise."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What else is known of a layer: numbers of tokens (from x, names, a mask) and of query heads."""

    tokens: frozenset[int]
    heads: int | None


def arrange(parts: Sequence[Tensor], evidence: Evidence) -> tuple[list[Tensor], str]:
    """Bring q, k and v into the order (batch, heads, tokens, head_dim).

    Parameters
    ----------
    parts : sequence of Tensor
        q, k and v, each of 2 to 4 dimensions.
    evidence : Evidence

    Returns
    -------
    (list of Tensor, str)
        q, k, v of shape (B, H, N, D), and how their axes were read.

    Raises
    ------
    NeedsHeads
        If two readings fit equally, or heads lie side by side and nothing says how many.
    GramscopeError
        If none fits.
    """
    dimensions = {part.ndim for part in parts}
    if len(dimensions) != 1 or not dimensions <= {2, 3, 4}:
        raise _unfit(parts, "they should have the same number of dimensions, 2 to 4")
    if dimensions == {2} or (dimensions == {3} and all(part.shape[0] == 1 for part in parts)):
        return _arrange_matrices([part.reshape(part.shape[-2:]) for part in parts], evidence)
    batched = [part if part.ndim == 4 else part[None] for part in parts]
    order = _choose(batched, evidence)
    if order == "tokens, heads, head_dim":
        batched = [part.transpose(1, 2) for part in batched]
    return [part.contiguous() for part in batched], order


def _fits(shapes: Sequence[Sequence[int]], evidence: Evidence) -> bool:
    """Whether shapes (batch, heads, tokens, head_dim) of q, k and v can be one layer's."""
    q, k, v = shapes
    return (
        q[0] == k[0] == v[0]
        and q[2] == k[2] == v[2]
        and q[3] == k[3]
        and k[1] == v[1]
        and q[1] % k[1] == 0
        and evidence.tokens <= {q[2]}
        and evidence.heads in (None, q[1])
    )


def _choose(parts: Sequence[Tensor], evidence: Evidence) -> Order:
    shapes = [tuple(part.shape) for part in parts]
    if not all(min(shape) for shape in shapes):
        raise _unfit(parts, "they are empty")
    swapped = [(shape[0], shape[2], shape[1], shape[3]) for shape in shapes]
    straight, crossed = (_fits(found, evidence) for found in (shapes, swapped))
    first, second = shapes[0][1:3]
    if straight and crossed and first > second:
        raise NeedsHeads(
            f"The queries have shape {shapes[0][1:] if shapes[0][0] == 1 else shapes[0]}: is that "
            f"{_some(second, 'head')} of {_some(first, 'token')}, or {_some(first, 'head')} of "
            f"{_some(second, 'token')}?",
            (second, first),
        )
    if straight:
        return "heads, tokens, head_dim"
    if crossed:
        return "tokens, heads, head_dim"
    known = ", ".join(map(str, sorted(evidence.tokens))) or "unknown"
    raise _unfit(parts, f"no order of heads, tokens and head_dim fits all three ({known} tokens otherwise)")


def _some(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _arrange_matrices(parts: Sequence[Tensor], evidence: Evidence) -> tuple[list[Tensor], str]:
    """Read (tokens, dim), or the other way round where only that fits; split heads that lie side by side."""
    alone = Evidence(evidence.tokens, None)
    readings = {"tokens, head_dim": list(parts), "head_dim, tokens": [part.T for part in parts]}
    fitting = [
        (order, matrices)
        for order, matrices in readings.items()
        if matrices[0].numel() and _fits([(1, 1, *part.shape) for part in matrices], alone)
    ]
    if not fitting:
        raise _unfit(parts, "no order of tokens and head_dim fits all three")
    order, matrices = fitting[0]
    widths = [part.shape[1] for part in matrices]
    heads = evidence.heads or _only_head(widths)
    if any(width % heads for width in widths):
        raise GramscopeError(f"{heads} heads do not divide the width of {widths[0]}. Choose a divisor.")
    split = [part.unflatten(1, (heads, -1)).transpose(0, 1)[None].contiguous() for part in matrices]
    return split, order if heads == 1 else "tokens, heads side by side"


def _only_head(widths: Sequence[int]) -> int:
    if max(widths) <= WIDEST_HEAD:
        return 1
    common = math.gcd(*widths)
    fitting = [n for n in range(2, common + 1) if common % n == 0 and 8 <= widths[0] // n <= WIDEST_HEAD]
    fitting.sort(key=lambda number: abs(math.log2(widths[0] / number / 64)))
    raise NeedsHeads(
        f"The queries are {widths[0]} wide: how many heads lie side by side in them?", (*fitting, 1)
    )


def _unfit(parts: Sequence[Tensor], why: str) -> GramscopeError:
    shapes = ", ".join(
        f"{name} {tuple(part.shape)}" for name, part in zip(("q", "k", "v"), parts, strict=True)
    )
    return GramscopeError(
        f"The heads in the file have shapes {shapes}: {why}. Save them as (heads, tokens, head_dim), of one "
        "self-attention layer each."
    )
