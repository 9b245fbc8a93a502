"""A vision transformer with timm's parameter names, whose attention can be watched and exchanged.

The model is an ordinary differentiable torch module: gradients reach the pixels through any attention
that is itself differentiable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.errors import Stopped
from explorer.models.base import ShouldStop, never
from explorer.models.safety import Progress, silent
from explorer.models.vit_attention import AttentionFn, scaled, softmax

EPSILON = 1e-6


@dataclass(frozen=True, slots=True)
class VitConfig:
    """Everything that the parameters' shapes do not leave open once the heads are known.

    Attributes
    ----------
    dim, depth, heads, hidden : int
        Width, blocks, attention heads, and the width of the feed-forward layer (after its gate).
    patch, grid : (int, int)
        Height and width of a patch in pixels; rows and columns of patches.
    channels, classes, dist_classes : int
        Of the image; of `head` and of `head_dist` (0: there is none).
    class_token, dist_token : bool
    registers : int
        Register tokens, which follow the class and distillation tokens.
    positioned : int
        How many of these leading tokens have a position of their own in `pos_embed`.
    keys_are_queries : bool
        `qkv` is 2·dim wide and holds keys and values (SymViT, RPC-SymViT).
    attention_scale : tuple of int or None
        Shape of `attn.s` of scaled attention.
    qk_norm, layer_scale, gated, norm_pre, norm, fc_norm : bool
        Which optional parts there are; `fc_norm` goes with the mean of the patches as the readout.
    """

    dim: int
    depth: int
    heads: int
    hidden: int
    patch: tuple[int, int]
    grid: tuple[int, int]
    channels: int = 3
    classes: int = 0
    dist_classes: int = 0
    class_token: bool = True
    dist_token: bool = False
    registers: int = 0
    positioned: int = 1
    keys_are_queries: bool = False
    attention_scale: tuple[int, ...] | None = None
    qk_norm: bool = False
    layer_scale: bool = False
    gated: bool = False
    norm_pre: bool = False
    norm: bool = True
    fc_norm: bool = False

    @property
    def prefix(self) -> int:
        """Class, distillation and register tokens together."""
        return self.class_token + self.dist_token + self.registers

    @property
    def patches(self) -> int:
        """Patches of one image."""
        return self.grid[0] * self.grid[1]

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the image in pixels."""
        return self.grid[0] * self.patch[0], self.grid[1] * self.patch[1]


class Seen(NamedTuple):
    """What one attention layer worked on: x (B, N, C), and q, k, v (B, H, N, D) as they meet in the score."""

    x: Tensor
    q: Tensor
    k: Tensor
    v: Tensor


_exchanged: ContextVar[Mapping[nn.Module, AttentionFn]] = ContextVar(
    "exchanged attention", default=MappingProxyType({})
)
_watched: ContextVar[Mapping[nn.Module, list[Seen]]] = ContextVar(
    "watched attention", default=MappingProxyType({})
)
"""Of this thread, so that one may exchange or watch attention while another runs the same model."""

T = TypeVar("T")


@contextmanager
def _setting(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


class Attention(nn.Module):
    """Self-attention of one block.

    Attributes
    ----------
    attend : AttentionFn
        What is done with q, k and v, unless `Vit.attending` exchanges it for a while.
    """

    def __init__(self, config: VitConfig, layer: int) -> None:
        super().__init__()
        head_dim = config.dim // config.heads
        self.layer, self.heads, self.scale = layer, config.heads, head_dim**-0.5
        self.parts = 2 if config.keys_are_queries else 3
        self.qkv = nn.Linear(config.dim, self.parts * config.dim)
        self.q_norm = nn.LayerNorm(head_dim, EPSILON) if config.qk_norm else nn.Identity()
        self.k_norm = nn.LayerNorm(head_dim, EPSILON) if config.qk_norm else nn.Identity()
        self.proj = nn.Linear(config.dim, config.dim)
        self.attend: AttentionFn = softmax
        if config.attention_scale is not None:
            self.s = nn.Parameter(torch.zeros(config.attention_scale))
            self.attend = self._scaled

    def _scaled(self, q: Tensor, k: Tensor, v: Tensor, scale: float, layer: int) -> Tensor:
        s = self.s if self.s.numel() == 1 else self.s.reshape(self.heads, 1, 1)
        return scaled(s)(q, k, v, scale, layer)

    @property
    def current(self) -> AttentionFn:
        """What is done with q, k and v in this thread now."""
        return _exchanged.get().get(self, self.attend)

    def value_weights(self) -> Tensor:
        """Return the heads' value weights, (H, D, C)."""
        dim = self.proj.in_features
        return self.qkv.weight[-dim:].reshape(self.heads, dim // self.heads, dim)

    def forward(self, x: Tensor) -> Tensor:
        """Map tokens (B, N, C) to (B, N, C)."""
        batch, tokens, dim = x.shape
        parts = self.qkv(x).reshape(batch, tokens, self.parts, self.heads, dim // self.heads)
        *queries, k, v = parts.permute(2, 0, 3, 1, 4)
        k = self.k_norm(k)
        q = self.q_norm(queries[0]) if queries else k
        if self in (watched := _watched.get()):
            watched[self].append(Seen(x, q, k, v))
        out = self.current(q, k, v, self.scale, self.layer)
        return self.proj(out.transpose(1, 2).reshape(batch, tokens, dim))


class LayerScale(nn.Module):
    """Multiply each feature by a learned factor."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        """Scale x (..., C)."""
        return x * self.gamma


class Mlp(nn.Module):
    """The feed-forward layer, with GELU, or with a SiLU gate (DINOv2 giant)."""

    def __init__(self, config: VitConfig) -> None:
        super().__init__()
        self.gated = config.gated
        self.fc1 = nn.Linear(config.dim, config.hidden * (2 if config.gated else 1))
        self.fc2 = nn.Linear(config.hidden, config.dim)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., C) to (..., C)."""
        x = self.fc1(x)
        if not self.gated:
            return self.fc2(functional.gelu(x))
        gate, x = x.chunk(2, -1)
        return self.fc2(functional.silu(gate) * x)


class Block(nn.Module):
    """Attention and feed-forward, each normalised before and added to its input."""

    def __init__(self, config: VitConfig, layer: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(config.dim, EPSILON)
        self.attn = Attention(config, layer)
        self.ls1 = LayerScale(config.dim) if config.layer_scale else nn.Identity()
        self.norm2 = nn.LayerNorm(config.dim, EPSILON)
        self.mlp = Mlp(config)
        self.ls2 = LayerScale(config.dim) if config.layer_scale else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Map tokens (B, N, C) to (B, N, C)."""
        x = x + self.ls1(self.attn(self.norm1(x)))
        return x + self.ls2(self.mlp(self.norm2(x)))


class PatchEmbed(nn.Module):
    """One token a patch."""

    def __init__(self, config: VitConfig) -> None:
        super().__init__()
        self.proj = nn.Conv2d(config.channels, config.dim, config.patch, config.patch)

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, channels, H, W) to patch tokens (B, P, C), row by row."""
        return self.proj(images).flatten(2).transpose(1, 2)


class Vit(nn.Module):
    """The whole model; its parameters have timm's names.

    Parameters
    ----------
    config : VitConfig
    """

    cls_token: nn.Parameter | None
    dist_token: nn.Parameter | None
    reg_token: nn.Parameter | None

    def __init__(self, config: VitConfig) -> None:
        super().__init__()
        self.config = config
        dim = config.dim
        self.patch_embed = PatchEmbed(config)
        for name, count in (
            ("cls_token", int(config.class_token)),
            ("dist_token", int(config.dist_token)),
            ("reg_token", config.registers),
        ):
            self.register_parameter(name, nn.Parameter(torch.zeros(1, count, dim)) if count else None)
        self.pos_embed = nn.Parameter(torch.zeros(1, config.positioned + config.patches, dim))
        self.norm_pre = nn.LayerNorm(dim, EPSILON) if config.norm_pre else nn.Identity()
        self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.depth))
        self.norm = nn.LayerNorm(dim, EPSILON) if config.norm else nn.Identity()
        self.fc_norm = nn.LayerNorm(dim, EPSILON) if config.fc_norm else nn.Identity()
        self.head = nn.Linear(dim, config.classes) if config.classes else None
        self.head_dist = nn.Linear(dim, config.dist_classes) if config.dist_classes else None

    def attention(self, layer: int) -> Attention:
        """Return the attention module of one layer."""
        return self.blocks[layer].attn  # type: ignore[return-value]

    def embed(self, images: Tensor) -> Tensor:
        """Map images (B, channels, H, W) to what the first block reads, (B, N, C)."""
        patches = self.patch_embed(images)
        extra = [t for t in (self.cls_token, self.dist_token, self.reg_token) if t is not None]
        prefix = torch.cat([*extra, self.pos_embed[:, :0]], dim=1)
        lead, rest = self.pos_embed.split([self.config.positioned, self.config.patches], dim=1)
        prefix = prefix + functional.pad(lead, (0, 0, 0, self.config.prefix - self.config.positioned))
        return self.norm_pre(torch.cat([prefix.expand(len(images), -1, -1), patches + rest], dim=1))

    def run(
        self,
        images: Tensor,
        last: int | None = None,
        should_stop: ShouldStop = never,
        progress: Progress = silent,
    ) -> Tensor:
        """Run the blocks up to and including `last`, all by default; `progress` is told of layers.

        Parameters
        ----------
        images : Tensor, shape (B, channels, H, W)
            Normalised pixels.

        Returns
        -------
        Tensor, shape (B, N, C)

        Raises
        ------
        Stopped
            If `should_stop` said so between two blocks.
        """
        x = self.embed(images)
        blocks = self.blocks[: None if last is None else last + 1]
        for layer, block in enumerate(blocks):
            if should_stop():
                raise Stopped
            x = block(x)
            progress(layer + 1, len(blocks), f"layer {layer}")
        return x

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits, (B, classes); of a distilled model the mean of its two heads'."""
        if self.head is None:
            raise ValueError("the model has no classification head")
        x = self.norm(self.run(images))
        if self.config.fc_norm or not self.config.class_token:
            return self.head(self.fc_norm(x[:, self.config.prefix :].mean(1)))
        logits = self.head(x[:, 0])
        return logits if self.head_dist is None else (logits + self.head_dist(x[:, 1])) / 2

    def attend_by_default(self, attend: AttentionFn) -> None:
        """Give every layer another attention for good: the one that the model was trained with."""
        for layer in range(self.config.depth):
            self.attention(layer).attend = attend

    @contextmanager
    def attending(self, attend: AttentionFn, layers: Iterable[int] | None = None) -> Iterator[None]:
        """Exchange the attention of `layers` (all by default) for this thread, inside the `with` block."""
        chosen = range(self.config.depth) if layers is None else layers
        exchanged = {self.attention(layer): attend for layer in chosen}
        with _setting(_exchanged, {**_exchanged.get(), **exchanged}):
            yield

    @contextmanager
    def watching(self, layers: Iterable[int]) -> Iterator[dict[int, list[Seen]]]:
        """Collect what `layers` work on in this thread inside the `with` block, one `Seen` a forward pass."""
        kept: dict[int, list[Seen]] = {layer: [] for layer in layers}
        watched = {self.attention(layer): seen for layer, seen in kept.items()}
        with _setting(_watched, {**_watched.get(), **watched}):
            yield kept
