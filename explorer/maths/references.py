"""Attentions that RPC-Attention is held against: scaled, uniform, and softmax on clipped keys."""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.maths.attention import fused_attention, upcast

CLIP = 3.0
"""Where keys are clipped, in robust deviations from the median."""
_MAD_OF_NORMAL = 0.6745


def scaled_attention(
    q: Tensor, k: Tensor, v: Tensor, scale: float, s: float | Tensor, mask: Tensor | None = None
) -> Tensor:
    """Compute softmax(τQKᵀ)(I − s·softmax(τKKᵀ))V, shape (…, M, Dv) (arXiv 2406.13762).

    Parameters
    ----------
    s : float or Tensor broadcastable to (…, N, Dv)
    mask : Tensor of bool, shape (…, N, N), optional
        Who sees whom, in both products.
    """
    return fused_attention(q, k, upcast(v) - s * fused_attention(k, k, v, scale, mask), scale, mask)


def uniform_attention(v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Compute the mean of the values that each query sees: the output that no contamination of keys moves.

    Parameters
    ----------
    v : Tensor, shape (…, N, Dv)
    mask : Tensor of bool, shape (…, N, N), optional

    Returns
    -------
    Tensor, shape (…, N, Dv)
        Zero for a query that sees nothing.
    """
    v = upcast(v)
    if mask is None:
        return v.mean(-2, keepdim=True).expand_as(v)
    seen = mask.to(v.dtype)
    return seen @ v / seen.sum(-1, keepdim=True).clamp_min(1.0)


def clip_keys(k: Tensor, limit: float = CLIP) -> Tensor:
    """Clip every feature to its median over tokens ± `limit` robust deviations (MAD / 0.6745).

    The median of an even number of tokens is the lower middle one. A feature that is the same in more
    than half of the tokens has no deviation and becomes constant.
    """
    columns = upcast(k).mT.contiguous()
    centre = columns.median(-1, keepdim=True).values
    radius = (columns - centre).abs().median(-1, keepdim=True).values * (limit / _MAD_OF_NORMAL)
    return torch.minimum(torch.maximum(columns, centre - radius), centre + radius).mT


def clipped_attention(
    q: Tensor | None,
    k: Tensor,
    v: Tensor,
    scale: float,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    softcap: float | None = None,
) -> Tensor:
    """Compute softmax attention on clipped keys, the cheap robust fix.

    Parameters
    ----------
    q : Tensor, shape (…, M, D), or None
        None: queries are keys, and are clipped as they are.
    """
    clipped = clip_keys(k)
    return fused_attention(clipped if q is None else q, clipped, v, scale, mask, bias, softcap)
