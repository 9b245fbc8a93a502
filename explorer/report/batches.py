"""A layer's heads a batch at a time: only one batch's N × N matrices are ever in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.errors import Stopped
from explorer.maths.evidence import Evidence, measure_heads, prescribed
from explorer.maths.evidence_alignment import Target
from explorer.maths.gram import eigenpairs, key_gram
from explorer.models.base import ShouldStop, never
from explorer.models.memory import refuse_unless_free

MATRICES = 20
"""N × N matrices of float64 that measuring one head takes at the most."""
TOGETHER_BYTES = 512_000_000
"""Heads are measured together up to about this much memory, but at least one."""


def heads_at_once(tokens: int) -> int:
    """Return how many heads of so many tokens are measured together."""
    return max(1, TOGETHER_BYTES // (MATRICES * 8 * tokens**2))


def batches(heads: int, tokens: int) -> Iterator[slice]:
    """Yield slices of heads that are measured together."""
    size = heads_at_once(tokens)
    return (slice(start, start + size) for start in range(0, heads, size))


def refuse_large_batch(heads: int, tokens: int, device: torch.device) -> None:
    """Raise `GramscopeError` where the matrices of one batch do not fit into the memory that is free."""
    together = min(heads, heads_at_once(tokens))
    refuse_unless_free(
        together * MATRICES * 8 * tokens**2, device,
        f"Evidence on {tokens:,} tokens, with {tokens:,} × {tokens:,} matrices,",
        "Use a shorter input, or close other programs.",
    )  # fmt: skip


class Targets:
    """V* of a layer's key heads, made again batch by batch where they do not fit together.

    Parameters
    ----------
    k : Tensor, shape (R, N, D)
    width : int
        Dv.
    scale : float
        τ.
    """

    def __init__(self, k: Tensor, width: int, scale: float) -> None:
        self._k, self._width, self._scale = k, width, scale
        self._size = heads_at_once(k.shape[1])
        self._held: tuple[int, Target] | None = None

    def hold(self, batch: int, target: Target) -> None:
        """Keep what was made of a batch, in place of another."""
        self._held = batch, target

    def release(self) -> None:
        """Keep nothing."""
        self._held = None

    def of(self, row: int) -> Target:
        """Return V* of one key head."""
        batch, place = divmod(row, self._size)
        if self._held is None or self._held[0] != batch:
            self.release()
            gram = key_gram(self._k[batch * self._size : (batch + 1) * self._size], self._scale)
            self.hold(batch, prescribed(gram, eigenpairs(gram), self._width))
        assert self._held is not None
        return self._held[1][place]


def measure_in_batches(
    q: Tensor, k: Tensor, v: Tensor, output: Tensor, scale: float, should_stop: ShouldStop = never
) -> tuple[Evidence, Tensor, Targets]:
    """Measure all heads of a layer as `measure_heads` does, a batch at a time.

    Returns
    -------
    Evidence
    Tensor, shape (R, 2, N, Dv)
        V* in both `SCALINGS`, as `Target.star`.
    Targets

    Raises
    ------
    Stopped
        If `should_stop` said so between batches.
    """
    targets, group = Targets(k, v.shape[-1], scale), len(q) // len(k)
    parts, stars = [], []
    for batch, rows in enumerate(batches(*k.shape[:2])):
        if should_stop():
            raise Stopped
        targets.release()
        served = slice(rows.start * group, rows.stop * group)
        evidence, target = measure_heads(q[served], k[rows], v[rows], output[served], scale)
        parts.append(evidence)
        stars.append(target.star)
        targets.hold(batch, target)
        del target
    return _joined(parts), torch.cat(stars), targets


def _joined(parts: Sequence[Evidence]) -> Evidence:
    if len(parts) == 1:
        return parts[0]
    return Evidence(**_stacked([vars(part) for part in parts]))


def _stacked(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Put figures of batches of heads behind each other, key by key."""
    return {
        key: _stacked([part[key] for part in parts])
        if isinstance(figures, Mapping)
        else np.concatenate([part[key] for part in parts])
        for key, figures in parts[0].items()
    }
