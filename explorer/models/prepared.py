"""An input made ready for a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from torch import Tensor

from explorer.models.base import Kind, Token
from explorer.params import Input


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a model is called with, and how a person should read it.

    Attributes
    ----------
    arguments : dict of str to Tensor
        Of the model's forward, a batch of one.
    tokens : tuple of Token
        As many as attention sees.
    image, grid, truncated_from, notes, text, changed, origin
        See `explorer.models.base.Capture`.
    """

    arguments: dict[str, Tensor]
    tokens: tuple[Token, ...]
    image: np.ndarray | None = None
    grid: tuple[int, int] | None = None
    truncated_from: int | None = None
    notes: tuple[str, ...] = ()
    text: str = ""
    changed: tuple[bool, ...] = ()
    origin: tuple[int, ...] = ()


class Reader(Protocol):
    """Turns an `Input` into what a model reads.

    Attributes
    ----------
    kind : str
    samples : int
        How many built-in inputs there are.
    missing : tuple of str
        What the model's folder lacks, and what stands in for it.
    """

    kind: Kind
    samples: int
    missing: tuple[str, ...]

    def count(self, input: Input) -> int:
        """How many lines or images the input's file or folder has; else the built-in samples."""

    def read(self, input: Input, limit: int | None = None) -> Prepared:
        """Prepare an input, cut to `limit` tokens where it is longer, its change made; attacks are not."""
