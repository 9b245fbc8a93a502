"""What a person asks of the evidence for V = V*; no torch, so that the window can offer it at once."""

from __future__ import annotations

from dataclasses import dataclass

NULLS = ("permutation", "gaussian", "projection", "rotation")
FAMILIES = ("kernel_cka", "cosine", "frobenius", "gamma")


@dataclass(frozen=True, slots=True)
class Asked:
    """Which numbers are wanted.

    Attributes
    ----------
    cheap, costly : int
        Draws of overlap and linear CKA, and of every other measure, under each null.
    seed : int
    nulls, families : tuple of str
        Nulls that are drawn at random, and costly measures, by the keys of `explorer.maths.evidence_names`.
    untrained : int
        How many times the architecture is re-initialised for the null of that name.
    inputs : int
        How many inputs, from the present one on.
    series : bool
        Whether all checkpoints of a series are measured, or the open one alone.
    """

    cheap: int = 200
    costly: int = 20
    seed: int = 0
    nulls: tuple[str, ...] = NULLS
    families: tuple[str, ...] = FAMILIES
    untrained: int = 0
    inputs: int = 1
    series: bool = False
