"""One call of attention inside a model's forward pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from explorer.models.offline import transformers


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """One call of attention inside a forward pass.

    Attributes
    ----------
    module : Module
        The attention layer that calls.
    q : Tensor, shape (B, Hq, N, D)
        Queries after rotary embedding, as the model passes them.
    k, v : Tensor, shape (B, Hkv, N, ·)
        Before any repetition for grouped queries.
    scale : float
        What the model multiplies the scores with.
    mask : Tensor of bool, shape (B or 1, 1, N, N), or None
        True where seen. None does not mean all where `causal` is set: see `visible`.
    causal : bool
    bias : Tensor, shape (B or 1, Hq, N, N), or None
    softcap : float or None
    beyond : str
        What the model adds that is in none of these, a clause; empty: nothing.
    native : Tensor, shape (B, Hq, N, Dv), or None
        The model's own output, where it had computed it before it could be asked.
    layer : int
        The layer's true number.
    outer : callable or None
        The handler around the present one, see `proceed`.
    """

    module: nn.Module
    q: Tensor
    k: Tensor
    v: Tensor
    scale: float
    mask: Tensor | None = None
    causal: bool = False
    bias: Tensor | None = None
    softcap: float | None = None
    beyond: str = ""
    native: Tensor | None = None
    layer: int = 0
    outer: Callable[[AttentionCall], Tensor] | None = None

    @property
    def prescale(self) -> float:
        """By how much the model has scaled `q` already (OPT and its kin pass scaling 1 then)."""
        own = getattr(self.module, "scaling", None)
        return float(own) if self.scale == 1.0 and isinstance(own, float) else 1.0

    @cached_property
    def visible(self) -> Tensor | None:
        """The mask, with causality in it: (B or 1, 1, N, N) of bool; None: every key is seen."""
        if self.mask is not None or not self.causal:
            return self.mask
        places = torch.arange(self.k.shape[-2], device=self.q.device)
        return (places <= places[: self.q.shape[-2], None])[None, None]

    @property
    def keys(self) -> Tensor:
        """Keys repeated for the query heads that they serve, (B, Hq, N, D)."""
        return self.k.repeat_interleave(self.q.shape[1] // self.k.shape[1], dim=1)

    @property
    def values(self) -> Tensor:
        """Values repeated for the query heads that they serve, (B, Hq, N, Dv)."""
        return self.v.repeat_interleave(self.q.shape[1] // self.v.shape[1], dim=1)

    def proceed(self) -> Tensor:
        """Return what would be computed without the present handler, (B, Hq, N, Dv)."""
        return self.softmax() if self.outer is None else self.outer(self)

    def softmax(self) -> Tensor:
        """Return what the untouched model computes, by the same kernel, (B, Hq, N, Dv)."""
        if self.native is not None:
            return self.native
        if self.softcap is not None:
            return self._capped(self.softcap)
        forward = transformers("integrations.sdpa_attention").sdpa_attention_forward
        output, _ = forward(
            self.module, self.q, self.k, self.v, self.mask,
            scaling=self.scale, is_causal=self.causal, position_bias=self.bias,
        )  # fmt: skip
        return output.transpose(1, 2)

    def _capped(self, cap: float) -> Tensor:
        scores = (self.q @ self.keys.mT) * self.scale
        scores = torch.tanh(scores / cap) * cap
        if self.visible is not None:
            scores = scores.masked_fill(~self.visible, torch.finfo(scores.dtype).min)
        return scores.softmax(-1, dtype=torch.float32).to(self.v.dtype) @ self.values
