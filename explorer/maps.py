"""The N × N map that the attention panel shows, with its title and formula."""

from __future__ import annotations

import math

import numpy as np
from torch import Tensor

from explorer.maths.attention import attention_weights
from explorer.maths.gram import Gram
from explorer.maths.rpc import Pap, rpc_weights
from explorer.params import Params
from explorer.result import Array
from explorer.stages import LN10, Clean, Moved, numpy


def attention_map(
    p: Params, clean: Clean, moved: Moved, rpc: Pap | None, gram: Gram
) -> tuple[Array, str, str]:
    """Return the map of `p.variant`, what it is in words, and its formula; NaN where a mask hides a key."""
    dirty = p.level > 0
    keys = "K′" if dirty else "K"
    own = "Q′" if dirty and p.key_kind is None else "Q"
    queries = keys if p.queries == "symmetric" else own
    soft = f"softmax(τ {queries} {keys}ᵀ)"
    pursued = "softmax(τ C Cᵀ)" if p.queries == "symmetric" else f"softmax(τ {own} Cᵀ)"
    after = " after contamination" if dirty else ""
    if p.variant == "gram":
        return _gram(gram, after)
    if p.variant == "model":
        weights = _left(_weights(clean, clean.head.q), moved)
        return _hidden(numpy(weights), moved), "The head's own attention, clean", "softmax(τ Q Kᵀ)"
    softmax = _moved(moved)
    if p.variant == "softmax":
        return _hidden(numpy(softmax), moved), f"Softmax attention{after}", soft
    if p.variant in ("rpc", "difference"):
        if rpc is None:
            empty = np.full((moved.head.k.shape[0],) * 2, math.nan)
            return empty, "RPC is not defined for this head", ""
        if p.variant == "rpc":
            return _hidden(numpy(_rpc(rpc, moved)), moved), f"RPC attention{after}", pursued
        difference = _rpc(rpc, moved) - softmax
        return _hidden(numpy(difference), moved), f"RPC − softmax{after}", f"{pursued} − {soft}"
    change = softmax - _left(_weights(clean, clean.queries), moved)
    before = "softmax(τ K Kᵀ)" if p.queries == "symmetric" else "softmax(τ Q Kᵀ)"
    return _hidden(numpy(change), moved), "Softmax, contaminated − clean", f"{soft} − {before}"


def _weights(clean: Clean, queries: Tensor) -> Tensor:
    head = clean.head
    return attention_weights(queries, head.k, head.scale, head.mask, head.bias, head.softcap)


def _moved(moved: Moved) -> Tensor:
    head = moved.head
    if head.mask is None and head.plain_kernel:
        return moved.weights
    return attention_weights(moved.queries, head.k, head.scale, head.mask, head.bias, head.softcap)


def _rpc(rpc: Pap, moved: Moved) -> Tensor:
    head = moved.head
    return rpc_weights(rpc, head.scale, head.mask, head.bias, head.softcap)


def _gram(gram: Gram, after: str) -> tuple[Array, str, str]:
    values = numpy(gram.matrix)
    largest = float(np.abs(values).max(initial=0.0))
    scale10 = float(gram.log_scale) / LN10
    unit = math.floor(math.log10(largest) + scale10) if largest > 0 else 0
    formula = f"K̃ = H K_φ H, in units of 10^{unit}"
    return values * 10.0 ** (scale10 - unit), f"Centred key Gram matrix{after}", formula


def _left(weights: Tensor, moved: Moved) -> Tensor:
    """Return the weights between the tokens that are left; without the others rows add up to less than 1."""
    return moved.left(moved.left(weights).mT).mT


def _hidden(values: Array, moved: Moved) -> Array:
    if moved.head.mask is None:
        return values
    return np.where(moved.head.mask.cpu().numpy(), values, math.nan)
