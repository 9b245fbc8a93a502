"""Captured heads of one layer, restricted to what they see and put together for the measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.maths.attention import attention_weights, exact, match_heads
from explorer.models.base import Capture, Head
from explorer.report.batches import batches, refuse_large_batch

FEWEST_TOKENS = 4


@dataclass(frozen=True, eq=False)
class Stack:
    """Heads of one layer in float64 (in main memory where their device has none).

    Attributes
    ----------
    heads : tuple of int
        The query heads asked for.
    key_heads : tuple of int
        The key heads that serve them, ascending.
    served : tuple of int
        All query heads of those key heads, in the order of `q`.
    q, output : Tensor, shapes (Hq, N, D), (Hq, N, Dv)
        Queries, and what the heads give for them under the model's own mask.
    k, v : Tensor, shapes (R, N, D), (R, N, Dv)
    scale : float
        τ.
    x : Tensor, shape (N, C), or None
    w_v : tuple of Tensor, shape (Dv, C), or of None
        By key head.
    notes : tuple of str
    """

    heads: tuple[int, ...]
    key_heads: tuple[int, ...]
    served: tuple[int, ...]
    q: Tensor
    k: Tensor
    v: Tensor
    output: Tensor
    scale: float
    x: Tensor | None
    w_v: tuple[Tensor | None, ...]
    notes: tuple[str, ...]


def stack_heads(capture: Capture, layer: int, heads: Sequence[int] | None = None) -> Stack:
    """Take heads out of a capture, each restricted to what the last token sees.

    Parameters
    ----------
    heads : sequence of int or None
        Query heads by their true numbers; None: all.

    Raises
    ------
    GramscopeError
        If there is no such head, too little to measure, or too much for the memory that is free.
    """
    captured = capture.layers[layer]
    count, group = captured.q.shape[0], captured.q.shape[0] // captured.k.shape[0]
    chosen = tuple(range(count)) if heads is None else tuple(heads)
    if unknown := [head for head in chosen if not 0 <= head < count]:
        raise GramscopeError(
            f"There is no head {unknown[0]} in layer {layer}: its heads are 0 to {count - 1}."
        )
    key_heads = tuple(sorted({head // group for head in chosen}))
    served = tuple(key * group + member for key in key_heads for member in range(group))
    seen = [capture.head(layer, head).seen_by() for head in served]
    first, by_key = seen[0], seen[::group]
    q, k, v = (torch.stack([exact(part) for part in parts]) for parts in (
        [head.q for head in seen], [head.k for head in by_key], [head.v for head in by_key]
    ))  # fmt: skip
    _refuse(layer, q, k, v)
    refuse_large_batch(len(k), k.shape[1], k.device)
    return Stack(
        heads=chosen, key_heads=key_heads, served=served, q=q, k=k, v=v,
        output=_output(seen, q, k, v), scale=first.scale,
        x=None if first.x is None else exact(first.x),
        w_v=tuple(None if head.w_v is None else exact(head.w_v) for head in by_key),
        notes=(*capture.notes, *_notes(capture, layer, first)),
    )  # fmt: skip


def _refuse(layer: int, q: Tensor, k: Tensor, v: Tensor) -> None:
    if (tokens := k.shape[1]) < FEWEST_TOKENS:
        count = "1 token" if tokens == 1 else f"{tokens} tokens"
        raise GramscopeError(
            f"The input has {count}, and comparing values with eigenvectors needs at least {FEWEST_TOKENS}. "
            "Choose a longer one."
        )
    if not all(bool(torch.isfinite(x).all()) for x in (q, k, v)):
        raise GramscopeError(f"Layer {layer} gives NaN or infinity for this input: nothing can be measured.")


def _output(seen: Sequence[Head], q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return what each head gives for these tokens, masked as the model masks it."""
    k, v = match_heads(k, len(q)), match_heads(v, len(q))
    return torch.cat([_attend(seen[rows], q[rows], k[rows], v[rows]) for rows in batches(*q.shape[:2])])


def _attend(seen: Sequence[Head], q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    biases = [exact(head.bias) for head in seen if head.bias is not None]
    weights = attention_weights(
        q,
        k,
        seen[0].scale,
        mask=seen[0].mask,
        bias=torch.stack(biases) if biases else None,
        softcap=seen[0].softcap,
    )
    return weights @ v


def _notes(capture: Capture, layer: int, head: Head) -> tuple[str, ...]:
    notes = []
    if capture.layers[layer].mask is not None:
        notes.append(
            f"Masked attention: the {head.k.shape[0]} tokens that the last one sees are the keys. Queries "
            "are projected as if each saw all of them, which is exact for the last one only; the learned "
            "outputs are the model's own."
        )
    if not head.plain_kernel:
        what = "a position bias" if head.bias is not None else "a cap"
        notes.append(
            f"The scores carry {what}: the kernel of the Gram matrix is not exp(τ x·y) in this model."
        )
    return tuple(notes)
