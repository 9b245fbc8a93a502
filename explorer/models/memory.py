"""How much a capture needs, so that a long input is cut to what fits instead of failing half-way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import psutil
import torch

from explorer.errors import GramscopeError

PICTURE = 8 * 8
"""Bytes for a pair of tokens that the picture of one head takes: eight float64 matrices."""

BIASED = ("t5", "mt5", "umt5", "switch_transformers", "mpnet", "beit")
"""Families that add a number of their own to the score of every pair in every head."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes of a capture of one layer of N tokens: `per_token` N + `per_pair` N².

    `passing` and `passing_pair` are what the forward pass needs besides for each token and pair of
    tokens, whichever layers are kept.
    """

    per_token: int
    per_pair: int
    passing: int
    passing_pair: int = 0

    def bytes(self, tokens: int, layers: int = 1) -> int:
        """Return what keeping so many layers of so many tokens takes, the forward pass included."""
        kept = layers * (self.per_token * tokens + self.per_pair * tokens**2)
        return kept + self.passing * tokens + (self.passing_pair + PICTURE) * tokens**2

    def tokens_that_fit(self, budget: int, layers: int = 1) -> int:
        """Return the most tokens whose capture takes at most `budget` bytes."""
        square = layers * self.per_pair + self.passing_pair + PICTURE
        linear = layers * self.per_token + self.passing
        return max(1, int((math.sqrt(linear**2 + 4 * square * budget) - linear) / (2 * square)))


def footprint(config: Any, itemsize: int) -> Footprint:
    """Estimate from a transformers configuration and the weights' bytes a number."""
    heads, width = config.num_attention_heads, config.hidden_size
    head_dim = getattr(config, "head_dim", None) or width // heads
    kv_heads = getattr(config, "num_key_value_heads", None) or heads
    inner = getattr(config, "intermediate_size", None) or 4 * width
    has_bias = config.model_type in BIASED
    whole_scores = has_bias or getattr(config, "attn_logit_softcapping", None) is not None
    return Footprint(
        per_token=itemsize * ((heads + 2 * kv_heads) * head_dim + width),
        per_pair=1 + (itemsize * heads if has_bias else 0),
        passing=itemsize * (4 * width + 2 * inner),
        passing_pair=3 * itemsize * heads if whole_scores else 0,
    )


def free_bytes(device: torch.device) -> int:
    """Return the memory that is free on a device now."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return psutil.virtual_memory().available


def refuse_unless_free(needed: int, device: torch.device, what: str, remedy: str) -> None:
    """Speak before the machine swaps: raise where something does not fit into the memory that is free.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        The beginning of the sentence, as in "A picture of 50,000 tokens".
    remedy : str
        What to do, a sentence.

    Raises
    ------
    GramscopeError
        With how much is needed, how much is free, and the remedy.
    """
    free = free_bytes(device)
    if needed > free:
        where = "on this machine" if device.type == "cpu" else f"on {device}"
        raise GramscopeError(
            f"{what} needs about {_gigabytes(needed)} of memory, and {_gigabytes(free)} are free {where}. "
            f"{remedy}"
        )


def refuse_large_picture(tokens: int, device: torch.device) -> None:
    """Raise `GramscopeError` where the N × N matrices of one head of so many tokens do not fit."""
    refuse_unless_free(
        PICTURE * tokens**2, device,
        f"A picture of {tokens:,} tokens, with its {tokens:,} × {tokens:,} matrices,",
        "Use fewer tokens, an earlier query token of a masked head, or close other programs.",
    )  # fmt: skip


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 5e7 else f"{count / 1e6:,.1f} MB"
