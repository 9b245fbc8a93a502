"""Sources for tests: heads of chosen shape, and a count of how often they were captured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from explorer.models.base import Capture, LayerHeads, ShouldStop, Source, Token, never
from explorer.params import Input


class FixedSource(Source):
    """Random heads, the same at every capture.

    Parameters
    ----------
    tokens, dim, value_dim : int
    causal : bool
    key_heads : int
        Of `heads` query heads.
    change : callable, optional
        Applied to each LayerHeads before it is given out.
    """

    def __init__(
        self,
        tokens: int = 12,
        dim: int = 4,
        value_dim: int | None = None,
        *,
        layers: int = 2,
        heads: int = 4,
        key_heads: int = 4,
        causal: bool = False,
        dtype: torch.dtype = torch.float32,
        change: Callable[[LayerHeads], LayerHeads] = lambda heads: heads,
    ) -> None:
        self.name, self.kind = "fixed", "heads"
        self.layers, self.heads, self.captures = layers, heads, 0
        self.facts = {}
        self._shape = (tokens, dim, value_dim or dim, key_heads, causal, dtype)
        self._change = change

    def capture(
        self,
        layers: Sequence[int],
        input: Input,
        device: torch.device,
        should_stop: ShouldStop = never,
    ) -> Capture:
        self.captures += 1
        n = self._shape[0]
        tokens = tuple(Token(f"t{i}") for i in range(n))
        return Capture(
            tokens=tokens, layers={layer: self._heads(layer, device) for layer in layers}, text="t" * n
        )

    def _heads(self, layer: int, device: torch.device) -> LayerHeads:
        n, d, dv, key_heads, causal, dtype = self._shape
        draw = torch.Generator().manual_seed(layer)
        q, k, v = (
            torch.randn(h, n, w, generator=draw).to(device, dtype)
            for h, w in ((self.heads, d), (key_heads, d), (key_heads, dv))
        )
        mask = torch.ones(n, n, dtype=torch.bool).tril() if causal else None
        return self._change(LayerHeads(q=q, k=k, v=v, scale=d**-0.5, mask=mask))
