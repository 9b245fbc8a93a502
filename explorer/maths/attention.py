"""Softmax attention: a readable reference, and the fused path beside it that gives the same."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention


def upcast(x: Tensor) -> Tensor:
    """Return `x` in single precision at least: float16 and bfloat16 become float32."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def widest(x: Tensor) -> Tensor:
    """Return `x` in the widest precision of its device: float64, but float32 on MPS, which has no float64."""
    return x.float() if x.device.type == "mps" else x.double()


def exact(x: Tensor) -> Tensor:
    """Return `x` in float64, moved to the CPU where its device has no float64."""
    return (x.cpu() if x.device.type == "mps" else x).double()


def match_heads(keys: Tensor, heads: int) -> Tensor:
    """Repeat each key (or value) head for the query heads that it serves (grouped-query attention).

    Parameters
    ----------
    keys : Tensor, shape (…, Hkv, N, D)
    heads : int
        Number of query heads, a multiple of Hkv; query head h is served by key head h·Hkv // heads.

    Returns
    -------
    Tensor, shape (…, heads, N, D)
    """
    served = keys.shape[-3]
    return keys if served == heads else keys.repeat_interleave(heads // served, dim=-3)


def attention_scores(
    q: Tensor, k: Tensor, scale: float, bias: Tensor | None = None, softcap: float | None = None
) -> Tensor:
    """Compute τ q_i·k_j, capped and with the bias added, shape (…, M, N): what softmax is taken of."""
    scores = upcast(q) @ upcast(k).mT * scale
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    return scores if bias is None else scores + bias


def attention_weights(
    q: Tensor,
    k: Tensor,
    scale: float,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    softcap: float | None = None,
) -> Tensor:
    """Compute softmax_j(τ q_i·k_j), row by row.

    Parameters
    ----------
    q : Tensor, shape (…, M, D)
    k : Tensor, shape (…, N, D)
    scale : float
        τ.
    mask : Tensor of bool, shape (…, M, N), optional
        True where the query may see the key.
    bias : Tensor, shape (…, M, N), optional
        Added to the scores (T5).
    softcap : float, optional
        Scores become `softcap * tanh(score / softcap)` before the bias (Gemma 2).

    Returns
    -------
    Tensor, shape (…, M, N)
        Rows sum to 1; a row whose query sees nothing is zero. float32 for half-precision input.
    """
    scores = attention_scores(q, k, scale, bias, softcap)
    if mask is None:
        return scores.softmax(-1)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    softcap: float | None = None,
) -> Tensor:
    """Compute the head's output Σ_j softmax_j(τ q_i·k_j) v_j, shape (…, M, Dv), with the weights in view.

    Parameters as in `attention_weights`; v has shape (…, N, Dv).
    """
    return attention_weights(q, k, scale, mask, bias, softcap) @ upcast(v)


def fused_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    softcap: float | None = None,
) -> Tensor:
    """Compute what `attention` computes by PyTorch's fused kernel, which never forms the (M, N) weights.

    Capped scores have no fused kernel: they take the readable path.
    """
    if softcap is not None:
        return attention(q, k, v, scale, mask, bias, softcap)
    q, k, v = upcast(q), upcast(k), upcast(v)
    leads = {x.shape[:-2] for x in (q, k, v)}
    lead = leads.pop() if len(leads) == 1 else torch.broadcast_shapes(*leads)
    q, k, v = (_as_heads(x, lead) for x in (q, k, v))
    added = _added(mask, bias, q.dtype)
    if added is not None and added.ndim > 2:
        added = _as_heads(added, lead)
    out = scaled_dot_product_attention(q, k, v, attn_mask=added, scale=scale)
    out = out.reshape(*lead, *out.shape[-2:])
    return out if mask is None else out.masked_fill(~mask.any(-1, keepdim=True), 0.0)


def _as_heads(x: Tensor, lead: torch.Size) -> Tensor:
    """Reshape (…, N, D) to (1, heads, N, D): with other numbers of dimensions the kernel is not fused."""
    if x.shape[:-2] != lead:
        x = x.expand(*lead, *x.shape[-2:])
    return x.reshape(1, -1, *x.shape[-2:])


def _added(mask: Tensor | None, bias: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """Join mask and bias into what the kernel adds to the scores."""
    if bias is None or mask is None:
        return mask if bias is None else bias.to(dtype)
    return bias.to(dtype).masked_fill(~mask, -torch.inf)
