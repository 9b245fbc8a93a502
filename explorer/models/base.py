"""The seam between whatever holds attention heads and the mathematics: `Source`, `Capture`, `Head`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.params import ENTERS, Contamination, Entry, Input, Target

Kind = Literal["synthetic", "text", "image", "heads"]
ShouldStop = Callable[[], bool]


def never() -> bool:
    """Never ask a computation to stop."""
    return False


@dataclass(frozen=True, slots=True)
class Token:
    """One token as a person should read it.

    Attributes
    ----------
    text : str
        Readable text ("the", "ing"), or "r,c" for an image patch.
    special : bool
        True for class, separator, register and padding tokens.
    patch : (int, int) or None
        Row and column in the patch grid of an image.
    word_start : bool
        False where the token continues the word of the previous token.
    """

    text: str
    special: bool = False
    patch: tuple[int, int] | None = None
    word_start: bool = True


@dataclass(frozen=True, eq=False)
class Head:
    """One attention head on one input.

    Attributes
    ----------
    q, k : Tensor, shape (N, D)
        Queries and keys as they meet in the score: after rotary embedding, with the family's own
        pre-scaling undone, so that the score is `scale * q @ k.T` (+ `bias`, capped by `softcap`).
    v : Tensor, shape (N, Dv)
    scale : float
        The paper's τ.
    width : int
        The model's width, query heads times D; D for a raw or synthetic head.
    layer, index, kv_index : int
        True numbers; `kv_index` is the key head that serves this query head.
    tokens : tuple of Token
    mask : Tensor of bool, shape (N, N), or None
        True where the query of the row may see the key of the column; None: all.
    bias : Tensor, shape (N, N), or None
        Added to the scores (T5).
    softcap : float or None
        Scores become `softcap * tanh(score / softcap)` before mask and bias (Gemma 2).
    x : Tensor, shape (N, C), or None
        What the layer's value projection reads.
    w_v : Tensor, shape (Dv, C), or None
        The head's value weights, so that v = x w_vᵀ (+ a bias).
    """

    q: Tensor
    k: Tensor
    v: Tensor
    scale: float
    width: int
    layer: int = 0
    index: int = 0
    kv_index: int = 0
    tokens: tuple[Token, ...] = ()
    mask: Tensor | None = None
    bias: Tensor | None = None
    softcap: float | None = None
    x: Tensor | None = None
    w_v: Tensor | None = None

    @property
    def plain_kernel(self) -> bool:
        """Whether the scores are τ q·k and nothing else, so that the kernel is exp(τ x·y)."""
        return self.bias is None and self.softcap is None

    def seen_by(self, query: int | None = None) -> Head:
        """Restrict the head to the tokens that one query may see.

        Parameters
        ----------
        query : int or None
            The query token; None: the last one that sees any key.

        Returns
        -------
        Head
            The head on those tokens (with the query itself), its mask restricted; the same object
            where nothing is hidden from the query.

        Raises
        ------
        IndexError
            If there is no such token.
        """
        if self.mask is None:
            return self
        n = self.k.shape[0]
        if query is None:
            query = int(torch.nonzero(self.mask.any(-1)).max())
        if not 0 <= query < n:
            raise IndexError(f"there is no token {query}: the input has {n}")
        visible = self.mask[query].clone()
        visible[query] = True
        keep = torch.nonzero(visible).flatten()
        if len(keep) == n:
            return replace(self, mask=None if bool(self.mask.all()) else self.mask)
        mask = self.mask[keep][:, keep]
        return replace(
            self,
            q=self.q[keep], k=self.k[keep], v=self.v[keep],
            tokens=tuple(self.tokens[i] for i in keep.tolist()) if self.tokens else (),
            mask=None if bool(mask.all()) else mask,
            bias=None if self.bias is None else self.bias[keep][:, keep],
            x=None if self.x is None else self.x[keep],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class LayerHeads:
    """All heads of one layer on one input: (Hq, N, D) queries, (Hkv, N, ·) keys and values."""

    q: Tensor
    k: Tensor
    v: Tensor
    scale: float
    mask: Tensor | None = None
    bias: Tensor | None = None
    softcap: float | None = None
    x: Tensor | None = None
    w_v: Tensor | None = None
    """Value weights by key head, (Hkv, Dv, C)."""

    @property
    def bytes(self) -> int:
        """Memory of all tensors."""
        parts = (self.q, self.k, self.v, self.mask, self.bias, self.x, self.w_v)
        return sum(part.numel() * part.element_size() for part in parts if part is not None)


@dataclass(frozen=True, eq=False)
class Capture:
    """What a source gave for one input.

    Attributes
    ----------
    tokens : tuple of Token
    layers : dict of int to LayerHeads
        Only the layers asked for.
    image : ndarray of uint8, shape (H, W, 3), or None
        The image as the model sees it (resized, cropped; before normalisation).
    grid : (int, int) or None
        Rows and columns of patches.
    truncated_from : int or None
        The input's own length where it was cut to what fits.
    notes : tuple of str
        Sentences that the person must know (a default stood in for a missing tokenizer, …).
    text : str
        The text that was read; empty for other inputs.
    changed : tuple of bool
        For each token whether the input's change has touched it; empty: the input is clean.
    origin : tuple of int
        For each token its place in the clean input; empty: the same place.
    """

    tokens: tuple[Token, ...]
    layers: dict[int, LayerHeads]
    image: np.ndarray | None = None
    grid: tuple[int, int] | None = None
    truncated_from: int | None = None
    notes: tuple[str, ...] = field(default=())
    text: str = ""
    changed: tuple[bool, ...] = ()
    origin: tuple[int, ...] = ()

    def head(self, layer: int, index: int) -> Head:
        """Return one query head with the key head that serves it."""
        heads = self.layers[layer]
        kv = index * heads.k.shape[0] // heads.q.shape[0]
        return Head(
            q=heads.q[index], k=heads.k[kv], v=heads.v[kv],
            scale=heads.scale, width=heads.q.shape[0] * heads.q.shape[-1],
            layer=layer, index=index, kv_index=kv, tokens=self.tokens,
            mask=heads.mask, bias=None if heads.bias is None else heads.bias[index],
            softcap=heads.softcap, x=heads.x, w_v=None if heads.w_v is None else heads.w_v[kv],
        )  # fmt: skip


class Source(ABC):
    """Something that gives attention heads for an input.

    Attributes
    ----------
    name : str
        What the source bar shows.
    kind : str
        Which input it reads: "text", "image"; or none: "synthetic", "heads".
    layers, heads : int
        How many of each (query heads).
    samples : int
        How many built-in inputs `Input(index=...)` chooses from.
    first_layer : int
        The first layer that there is.
    symmetric : bool
        Whether the model's queries are its keys.
    entries : tuple of str
        Where contamination can enter.
    targets : tuple of str
        What a gradient attack can raise.
    facts : dict of str to str
        What `gramscope inspect` prints: family, head_dim, KV heads, mask, dtype, size, what is missing.
    """

    name: str
    kind: Kind
    layers: int
    heads: int
    samples: int = 1
    first_layer: int = 0
    symmetric: bool = False
    entries: tuple[Entry, ...] = ("keys",)
    targets: tuple[Target, ...] = ()
    facts: dict[str, str]

    @abstractmethod
    def capture(
        self,
        layers: Sequence[int],
        input: Input,
        device: torch.device,
        should_stop: ShouldStop = never,
    ) -> Capture:
        """Run the input and keep the heads of `layers`.

        Raises
        ------
        GramscopeError
            If the input does not suit the model, with what would.
        Stopped
            If `should_stop` said so.
        """

    def refuse_entry(self, kind: Contamination) -> None:
        """Raise where contamination of a kind cannot enter.

        Raises
        ------
        GramscopeError
            With what can be done instead.
        """
        entry = ENTERS[kind]
        if entry in self.entries:
            return
        if entry == "attack" and self.kind == "text":
            raise GramscopeError(
                "A gradient attack moves numbers a little, and tokens are no such numbers: it is for images "
                "only. Swap, mask or delete words instead."
            )
        reads = {"text": "reads text", "image": "looks at images"}.get(self.kind, "reads no input")
        raise GramscopeError(
            f"{self.name} {reads}: “{kind}” cannot be done to it. Choose another kind of contamination."
        )

    def count(self, input: Input) -> int:
        """How many inputs `Input.index` chooses from: lines, images, or built-in samples."""
        return self.samples

    def close(self) -> None:  # noqa: B027 - most sources hold nothing
        """Free what the source holds."""
