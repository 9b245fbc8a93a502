"""Numerical health: how close a head comes to what floating point can hold."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from explorer.maths.attention import attention_scores
from explorer.maths.gram import Eigenpairs, Gram
from explorer.models.base import Head
from explorer.result import KernelHealth, ScoreHealth

HALF_LIMIT = math.log(torch.finfo(torch.float16).max)
"""The logit, 11.09, above which exp overflows in half precision (65504)."""


def score_health(head: Head, captured: torch.dtype) -> ScoreHealth:
    """Look at the scores of a head's own attention; `captured` is the precision that the source gave."""
    scores = attention_scores(head.q, head.k, head.scale, head.bias, head.softcap)
    seen = scores.flatten() if head.mask is None else scores[head.mask]
    over = int((seen > HALF_LIMIT).sum())
    return ScoreHealth(str(captured).removeprefix("torch."), float(seen.max()), over / seen.numel())


def kernel_health(gram: Gram, pairs: Eigenpairs, shown: int) -> KernelHealth:
    """Look at the kernel matrix of keys (N, D), its eigenvalues and the gaps of the first `shown`."""
    own = (gram.deviations + gram.mean).square().sum(-1) * gram.scale
    complete = pairs.exact and pairs.values.shape[-1] == gram.matrix.shape[-1]
    return KernelHealth(
        largest_logit=float(own.max()),
        over_half=int((own > HALF_LIMIT).sum()),
        rank_single=_rank(gram, pairs, torch.float32) if complete else None,
        rank_half=_rank(gram, pairs, torch.float16) if complete else None,
        clipped=int((pairs.values == 0).sum()) if complete else None,
        gaps=_gaps(gram, pairs, shown).cpu().double().numpy(),
    )


def _rank(gram: Gram, pairs: Eigenpairs, dtype: torch.dtype) -> int:
    """Count the eigenvalues above the tolerance that `dtype` would have."""
    coarser = max(torch.finfo(dtype).eps / torch.finfo(gram.matrix.dtype).eps, 1.0)
    return int((pairs.values > gram.tolerance * coarser).sum())


def _gaps(gram: Gram, pairs: Eigenpairs, shown: int) -> Tensor:
    """Return each shown eigenvalue's distance to its nearer neighbour, in units of the tolerance."""
    values = pairs.values[: shown + 1]
    apart = (values[:-1] - values[1:]) / gram.tolerance
    edge = apart.new_full((1,), math.inf)
    nearer = torch.minimum(torch.cat([edge, apart]), torch.cat([apart, edge]))
    above = int((values[:shown] > gram.tolerance).sum())
    return nearer[:above]
