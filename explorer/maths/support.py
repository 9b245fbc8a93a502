"""How well the sparse part of the pursuit finds the contaminated entries, over λ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from explorer.errors import Stopped
from explorer.maths.attention import upcast
from explorer.maths.outputs import Convention, attend_rpc

_BATCH_WEIGHTS = 1 << 19


@dataclass(frozen=True, eq=False, slots=True)
class SupportSweep:
    """What is in S by λ so far; NaN where not computed yet, or where there is nothing to divide by.

    Attributes
    ----------
    lams : Tensor, shape (m,)
    cut : Tensor, shape (m,)
        Share of the entries of K in the support of S.
    precision, recall : Tensor, shape (m,)
        Share of S's entries that are contaminated, and of the contaminated entries that are in S.
    done : int
        How many λ are computed.
    """

    lams: Tensor
    cut: Tensor
    precision: Tensor
    recall: Tensor
    done: int


def support_sweep(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    convention: Convention,
    hit: Tensor,
    *,
    lams: Sequence[float],
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[SupportSweep]:
    """Compare the support of the last S with the contaminated entries at every λ, one yield a batch.

    Parameters
    ----------
    q, k, v : Tensor, shape (N, D)
        With contamination.
    convention : Convention
        Its λ is not read.
    hit : Tensor of bool, shape (N, D)

    Raises
    ------
    GramscopeError
        If the values are not as wide as the keys.
    Stopped
        If `should_stop` said so between batches.
    """
    q, k, v = upcast(q), upcast(k), upcast(v)
    strengths = torch.tensor(lams).to(k)
    cut, precision, recall = (k.new_full((len(lams),), torch.nan) for _ in range(3))
    per_batch = max(1, _BATCH_WEIGHTS // (k.shape[0] * max(k.shape)))
    for begin in range(0, len(lams), per_batch):
        if should_stop():
            raise Stopped
        part = slice(begin, begin + per_batch)
        many = k.expand(len(strengths[part]), *k.shape)
        found = attend_rpc(q, many, v, scale, replace(convention, lam=strengths[part])).sparse != 0
        in_support = found.sum((-2, -1)).to(k)
        both = (found & hit).sum((-2, -1)).to(k)
        cut[part] = in_support / hit.numel()
        precision[part] = both / in_support if bool(hit.any()) else torch.nan
        recall[part] = both / hit.sum()
        done = min(begin + per_batch, len(lams))
        yield SupportSweep(
            torch.tensor(lams, dtype=torch.float64), cut.clone(), precision.clone(), recall.clone(), done
        )
