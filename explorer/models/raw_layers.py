"""From named entries of a file to layers of heads."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.raw_axes import Evidence, arrange
from explorer.models.raw_names import Place, Role, read_name

HIDDEN_BELOW = -1000.0
"""An additive mask hides what it lowers by more than this."""
Parts = dict[Role, Any]


@dataclass(frozen=True, eq=False)
class RawLayer:
    """One layer of captured heads, for every input of a batch.

    Attributes
    ----------
    q, k, v : Tensor, shape (B, H, N, D)
    scale : float or None
        None: the file does not say.
    x : Tensor, shape (B, N, C), or None
    w_v : Tensor, shape (Hkv, Dv, C), or None
    mask : Tensor of bool, shape (N, N), or None
    bias : Tensor, shape (Hq, N, N), or None
    softcap : float or None
    order : str
        How the axes were read.
    numbers : tuple of int
        The heads' true numbers, where the names have them.
    unused : tuple of str
        Parts whose shapes did not fit.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    scale: float | None
    x: Tensor | None
    w_v: Tensor | None
    mask: Tensor | None
    bias: Tensor | None
    softcap: float | None
    order: str
    numbers: tuple[int, ...]
    unused: tuple[str, ...]


def group(entries: Iterable[tuple[str, Any]]) -> dict[int, Parts]:
    """Sort named entries into layers; what carries no number belongs to every layer.

    Raises
    ------
    GramscopeError
        If a layer has two of q, k and v without the third, or its heads differ in shape.
    """
    found: dict[int | None, dict[Place, Any]] = defaultdict(dict)
    for name, leaf in entries:
        if place := read_name(name):
            found[place.layer].setdefault(place, leaf)
    shared = _join_heads(found.pop(None, {}))
    numbered = {layer: _join_heads(places) for layer, places in found.items() if layer is not None}
    if not any({"q", "k", "v"} & parts.keys() for parts in numbered.values()):
        return {layer: parts for layer, parts in _spread(shared).items() if _is_attention(parts, layer)}
    layers = {layer: {**shared, **parts} for layer, parts in sorted(numbered.items())}
    return {layer: parts for layer, parts in layers.items() if _is_attention(parts, layer)}


def _spread(parts: Parts) -> dict[int, Parts]:
    """Take arrays of four dimensions without a layer's number apart into layers."""
    q = parts.get("q")
    if not isinstance(q, Tensor) or q.ndim != 4:
        return {0: parts}
    dimensions: dict[Role, int] = {"q": 4, "k": 4, "v": 4, "x": 3, "w_v": 4, "mask": 3, "bias": 4}
    return {
        layer: {
            role: leaf[layer]
            if isinstance(leaf, Tensor) and leaf.ndim == dimensions.get(role) and len(leaf) == len(q)
            else leaf
            for role, leaf in parts.items()
        }
        for layer in range(len(q))
    }


def _is_attention(parts: Parts, layer: int) -> bool:
    lacking = [role for role in ("q", "k", "v") if role not in parts]
    if len(lacking) == 1:
        raise GramscopeError(
            f"Layer {layer} has no {lacking[0]}: q, k and v are needed (where the keys are the queries, "
            "save them twice)."
        )
    return not lacking


def _join_heads(places: Mapping[Place, Any]) -> Parts:
    """Put heads that were saved one by one side by side, in the order of their numbers."""
    parts: Parts = {place.role: leaf for place, leaf in places.items() if place.head is None}
    heads = sorted({place.head for place in places if place.head is not None})
    for role in {place.role for place in places if place.head is not None} - parts.keys():
        leaves = [leaf for place, leaf in _by_head(places) if place.role == role]
        if role not in ("q", "k", "v", "w_v"):
            parts[role] = leaves[0]
            continue
        try:
            parts[role] = torch.stack([_as_tensor(leaf, role) for leaf in leaves])
        except RuntimeError as error:
            raise GramscopeError(f"The heads' {role} differ in shape within a layer.", str(error)) from error
    if heads:
        parts["heads"] = heads
    return parts


def _by_head(places: Mapping[Place, Any]) -> list[tuple[Place, Any]]:
    return sorted(places.items(), key=lambda entry: -1 if entry[0].head is None else entry[0].head)


def _as_tensor(leaf: Any, role: str) -> Tensor:
    if not isinstance(leaf, Tensor) or leaf.is_complex() or leaf.layout != torch.strided:
        is_what = f"a tensor of {leaf.dtype}" if isinstance(leaf, Tensor) else f"a {type(leaf).__name__}"
        raise GramscopeError(
            f"{role} should be a dense array of real numbers, and is {is_what}. Save it as float32."
        )
    return leaf


def _number(leaf: Any, role: str) -> float | None:
    if leaf is None:
        return None
    try:
        return float(leaf)
    except (TypeError, ValueError, RuntimeError) as error:
        raise GramscopeError(f"{role} should be one number.", str(error)) from error


def _count(leaf: Any) -> int | None:
    """Return a whole number that stands alone; anything else is about something else."""
    if (isinstance(leaf, Tensor) and leaf.numel() == 1) or (isinstance(leaf, str) and leaf.isdigit()):
        return int(leaf)
    return leaf if isinstance(leaf, int) else None


def read_layer(parts: Parts, tokens: int | None, heads: int | None) -> RawLayer:
    """Bring one layer's parts into order.

    Parameters
    ----------
    parts : dict
        What the file has of the layer, by role.
    tokens, heads : int or None
        How many tokens are named; how many query heads the person says there are.

    Raises
    ------
    NeedsHeads, GramscopeError
        See `explorer.models.raw_axes.arrange`; also for numbers that are not finite.
    """
    captured = [_as_tensor(parts[role], role) for role in ("q", "k", "v")]
    for role, part in zip(("q", "k", "v"), captured, strict=True):
        if not part.is_floating_point():
            raise GramscopeError(
                f"{role} holds {part.dtype} where floating-point numbers are needed: whole numbers may be "
                "quantised. Save q, k and v as float32, as they meet in the score."
            )
        if not bool(torch.isfinite(part).all()):
            raise GramscopeError(
                f"{role} holds NaN or infinity, of which no picture can be made. Capture the heads again."
            )
    numbers = parts.get("heads")
    many = len(numbers) if isinstance(numbers, list) else _count(numbers)
    x, mask, known = parts.get("x"), parts.get("mask"), {tokens} if tokens else set()
    if isinstance(x, Tensor) and x.ndim in (2, 3):
        known.add(x.shape[-2])
    if isinstance(mask, Tensor) and mask.ndim:
        known.add(mask.shape[-1])
    evidence = Evidence(frozenset(known), heads or many)
    (q, k, v), order = arrange(captured, evidence)
    fitting, unused = _fit_optional(parts, q, k, v)
    return RawLayer(
        q, k, v, _number(parts.get("scale"), "scale"), **fitting,
        softcap=_number(parts.get("softcap"), "softcap"), order=order,
        numbers=tuple(numbers) if isinstance(numbers, list) else (), unused=unused,
    )  # fmt: skip


def _fit_optional(
    parts: Parts, q: Tensor, k: Tensor, v: Tensor
) -> tuple[dict[str, Tensor | None], tuple[str, ...]]:
    """Reshape what is there of x, w_v, mask and bias, and name what does not fit."""
    batch, heads, tokens, _ = q.shape
    x = parts.get("x")
    width: int = x.shape[-1] if isinstance(x, Tensor) and x.ndim else 0
    fitting: dict[str, Tensor | None] = {
        "x": _reshaped(x, (batch, tokens, width)),
        "w_v": None,
        "mask": _visible(parts.get("mask"), tokens),
        "bias": _reshaped(parts.get("bias"), (heads, tokens, tokens)),
    }
    if fitting["x"] is not None:
        fitting["w_v"] = _value_weights(parts.get("w_v"), fitting["x"][0], v[0])
    return fitting, tuple(role for role, part in fitting.items() if part is None and role in parts)


def _reshaped(part: Any, shape: tuple[int, ...]) -> Tensor | None:
    """Return floats as `shape` where there are as many; None for anything else."""
    if not isinstance(part, Tensor) or not part.is_floating_point() or part.numel() != math.prod(shape):
        return None
    return part.reshape(shape)


def _value_weights(part: Any, x: Tensor, v: Tensor) -> Tensor | None:
    """Return value weights (Hkv, Dv, C) that give v = x w_vᵀ up to a bias; None if they do not.

    Parameters
    ----------
    part : Tensor
        (Hkv, Dv, C), (Hkv·Dv, C) or its transpose.
    x : Tensor, shape (N, C)
    v : Tensor, shape (Hkv, N, Dv)
    """
    shape = (v.shape[0], v.shape[2], x.shape[1])
    readings = [part, part.T] if isinstance(part, Tensor) and part.ndim == 2 else [part]
    for reading in readings:
        weights = _reshaped(reading, shape)
        if weights is None:
            continue
        rest = v.double() - x.double() @ weights.double().mT
        uneven = rest - rest.mean(-2, keepdim=True)
        if (
            uneven.norm()
            <= max(torch.finfo(v.dtype).eps, torch.finfo(x.dtype).eps) ** 0.5 * v.double().norm()
        ):
            return weights
    return None


def _visible(mask: Any, tokens: int) -> Tensor | None:
    """Turn a mask of truth values, of zeros and ones, or one that is added to scores, into truth values.

    One value a token hides that token's key from every query.
    """
    if not isinstance(mask, Tensor) or mask.numel() not in (tokens, tokens**2):
        return None
    square = mask.reshape(-1, tokens).expand(tokens, tokens)
    if square.dtype == torch.bool:
        return square
    return square != 0 if bool((square >= 0).all()) and bool(square.any()) else square > HIDDEN_BELOW
