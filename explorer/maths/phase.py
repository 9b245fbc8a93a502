"""The phase diagram: for which λ and level RPC-Attention does better than softmax."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from explorer.errors import Stopped
from explorer.maths.attention import upcast
from explorer.maths.contamination import contaminate_many
from explorer.maths.outputs import Convention, attend_rpc, relative_error, softmax_output
from explorer.params import KeyKind

_BATCH_WEIGHTS = 1 << 19
"""Largest number of attention weights (or entries) of a batch: some hundredths of a second on a processor."""


@dataclass(frozen=True, eq=False, slots=True)
class Phase:
    """Errors over λ and level so far; NaN where not computed yet.

    Attributes
    ----------
    lams, levels : Tensor, shape (a,) and (b,)
    softmax : Tensor, shape (seeds, b)
        Contaminated softmax against its clean output.
    rpc, rpc_to_softmax : Tensor, shape (seeds, a, b)
        Contaminated RPC against its own clean output, and against softmax's.
    done : float
        Share of the points computed.
    """

    lams: Tensor
    levels: Tensor
    softmax: Tensor
    rpc: Tensor
    rpc_to_softmax: Tensor
    done: float

    def margin(self, own: bool = True) -> Tensor:
        """Return log₁₀(e_rpc / e_softmax), mean over the seeds so far, shape (a, b): negative, RPC is better.

        Parameters
        ----------
        own : bool
            RPC against its own clean output; else against softmax's. Levels that move nothing are NaN.
        """
        rpc = self.rpc if own else self.rpc_to_softmax
        softmax = self.softmax[:, None].clone()
        softmax[softmax == 0] = torch.nan
        tiny = torch.finfo(rpc.dtype).tiny
        return (rpc.clamp_min(tiny) / softmax).log10().nanmean(0)


def coarse_to_fine(rows: int, columns: int) -> list[tuple[int, int]]:
    """Order the points of a grid so that every prefix is spread over all of it.

    First those whose indices are both multiples of a power of two, then of half of it, and so on.
    """
    order: dict[tuple[int, int], None] = {}
    step = 1 << max(rows - 1, columns - 1, 1).bit_length()
    while step:
        order |= dict.fromkeys((i, j) for i in range(0, rows, step) for j in range(0, columns, step))
        step //= 2
    return list(order)


class _OnDemand:
    """Numbers by index, computed in one batch for those that are wanted and not there yet."""

    def __init__(self, count: int, compute: Callable[[list[int]], Tensor]) -> None:
        self._compute = compute
        self._known = [False] * count
        self._values: Tensor | None = None

    def at(self, wanted: list[int]) -> Tensor:
        """Return the numbers at `wanted`, stacked."""
        new = [i for i in dict.fromkeys(wanted) if not self._known[i]]
        if new:
            found = self._compute(new)
            if self._values is None:
                self._values = found.new_empty((len(self._known), *found.shape[1:]))
            self._values[new] = found
            for i in new:
                self._known[i] = True
        assert self._values is not None
        return self._values[wanted]


def phase_diagram(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    convention: Convention,
    *,
    kind: KeyKind,
    levels: Sequence[float],
    lams: Sequence[float],
    magnitude: float,
    seeds: Sequence[int],
    contaminate_values: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Phase]:
    """Compute the errors over λ and level, one yield a batch: seed by seed, each from coarse to fine.

    All tensors of a yield are the caller's to keep.

    Parameters
    ----------
    q, k, v : Tensor, shape (N, D)
    convention : Convention
        Its λ is not read.

    Raises
    ------
    GramscopeError
        If the values are not as wide as the keys.
    Stopped
        If `should_stop` said so between batches.
    """
    q, k, v = upcast(q), upcast(k), upcast(v)
    strengths = torch.tensor(lams).to(k)

    def pursued(at: list[int], keys: Tensor, values: Tensor) -> Tensor:
        return attend_rpc(q, keys, values, scale, replace(convention, lam=strengths[at])).output

    clean = softmax_output(q, k, v, scale, convention)
    own_clean = _OnDemand(len(lams), lambda at: pursued(at, k, v))
    softmax = k.new_full((len(seeds), len(levels)), torch.nan)
    rpc = k.new_full((len(seeds), len(lams), len(levels)), torch.nan)
    to_softmax = rpc.clone()
    order = coarse_to_fine(len(lams), len(levels))
    per_batch = max(1, _BATCH_WEIGHTS // (k.shape[0] * max(k.shape)))
    done = 0
    for s, seed in enumerate(seeds):
        keys = contaminate_many(k, kind, levels, magnitude, [seed]).values[0]
        values = (
            contaminate_many(v, kind, levels, magnitude, [seed]).values[0] if contaminate_values else None
        )
        for begin in range(0, len(order), per_batch):
            if should_stop():
                raise Stopped
            rows, columns = (list(part) for part in zip(*order[begin : begin + per_batch], strict=True))
            new = [j for j in dict.fromkeys(columns) if softmax[s, j].isnan()]
            if new:
                moved = softmax_output(q, keys[new], v if values is None else values[new], scale, convention)
                softmax[s, new] = relative_error(moved, clean)
            moved = pursued(rows, keys[columns], v if values is None else values[columns])
            rpc[s, rows, columns] = relative_error(moved, own_clean.at(rows))
            to_softmax[s, rows, columns] = relative_error(moved, clean)
            done += len(rows)
            yield Phase(
                torch.tensor(lams, dtype=torch.float64), torch.tensor(levels, dtype=torch.float64),
                softmax.clone(), rpc.clone(), to_softmax.clone(), done / (len(order) * len(seeds)),
            )  # fmt: skip
