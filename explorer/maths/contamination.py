"""Seeded, nested contamination of a head's keys (or values).

A ranking that depends only on the shape and the seed decides who is hit: a higher level hits the same
entries and more, and going back restores the same numbers. It is drawn by numpy on the CPU, so the device
changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from explorer.params import KeyKind


@dataclass(frozen=True, eq=False, slots=True)
class Contaminated:
    """Contaminated numbers.

    Attributes
    ----------
    values : Tensor, shape (…, N, D)
    hit : Tensor of bool, shape (…, N, D)
        Which entries are contaminated.
    """

    values: Tensor
    hit: Tensor


def contaminate(x: Tensor, kind: KeyKind, level: float, magnitude: float, seed: int) -> Contaminated:
    """Contaminate one head's keys, or its values with the same hits (for the same shape and seed).

    The unit is σ, the deviation of all N·D entries of `x` about their mean.

    Parameters
    ----------
    x : Tensor, shape (N, D)
    kind : str
        "sparse": ± magnitude·σ is added to a fraction of the entries, signs random.
        "tokens": a vector of length magnitude·σ and random direction is added to a fraction of the tokens
        (the same tokens whatever D).
        "gaussian": independent noise of deviation level·σ is added to every entry; no magnitude.
        "replace": a fraction of the entries becomes ± magnitude·σ.
    level : float
        The fraction, 0 to 1 (rounded to whole entries or tokens); for "gaussian" the relative deviation.
    magnitude : float
        In units of σ.
    seed : int

    Returns
    -------
    Contaminated
        At level 0, `x` bit for bit and no hits.
    """
    many = contaminate_many(x, kind, [level], magnitude, [seed])
    return Contaminated(many.values[0, 0], many.hit[0, 0])


def contaminate_many(
    x: Tensor, kind: KeyKind, levels: Sequence[float], magnitude: float, seeds: Sequence[int]
) -> Contaminated:
    """Contaminate at every level with every seed at once: shapes (seeds, levels, N, D)."""
    n, d = x.shape
    drawn = [_draw(kind, n, d, seed) for seed in seeds]
    rank = torch.stack([ranks for ranks, _ in drawn]).to(x.device)[:, None]
    pattern = torch.stack([patterns for _, patterns in drawn]).to(x)[:, None]
    deviation = x.std(correction=0)
    if kind == "gaussian":
        strength = torch.tensor(levels).to(x)[:, None, None]
        hit = (strength > 0).expand(len(seeds), -1, n, d)
        return Contaminated(torch.where(hit, x + strength * deviation * pattern, x), hit)
    ranked = n if kind == "tokens" else n * d
    counts = torch.tensor([round(level * ranked) for level in levels], device=x.device)[:, None, None]
    hit = (rank < counts).expand(-1, -1, n, d)
    moved = magnitude * deviation * pattern
    return Contaminated(torch.where(hit, moved if kind == "replace" else x + moved, x), hit)


@lru_cache(maxsize=64)
def _draw(kind: KeyKind, n: int, d: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw who is hit in which order, (n, d) or (n, 1), and by what in units of its strength, (n, d)."""
    rng = np.random.default_rng(seed)
    if kind == "gaussian":
        return torch.zeros(n, 1), torch.from_numpy(rng.normal(size=(n, d)))
    if kind == "tokens":
        order = rng.permutation(n)
        direction = rng.normal(size=(n, d))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        return torch.from_numpy(np.argsort(order)[:, None]), torch.from_numpy(direction)
    rank = np.argsort(rng.permutation(n * d)).reshape(n, d)
    return torch.from_numpy(rank), torch.from_numpy(rng.choice([-1.0, 1.0], size=(n, d)))
