"""What a synthetic head is made from; no torch, so that the window can offer it before torch is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SyntheticKind = Literal["clusters", "low-rank", "spectrum", "spiked"]
Values = Literal[
    "rotation", "controls", "exact", "rotated", "mapped", "shuffled", "gaussian", "projected"
]  # fmt: skip
CONTROL_NAMES: dict[Values, str] = {
    "exact": "V*, exactly",
    "rotated": "V* rotated",
    "mapped": "V* under a general map",
    "shuffled": "V* of shuffled tokens",
    "gaussian": "Gaussian values",
    "projected": "random map of the tokens",
}
"""Values of which it is known what each measure must say of them."""
NOISY: tuple[Values, ...] = ("exact", "rotated", "mapped", "shuffled")
"""Controls to which noise is added."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Parameters of a synthetic head.

    Attributes
    ----------
    kind : str
        "clusters": centres N(0, 1.5²), each token a random centre plus noise;
        "low-rank": a product of two Gaussian factors plus noise;
        "spectrum": Gaussian rows whose covariance has eigenvalues j^(−decay);
        "spiked": Gaussian rows with covariance I + θ u uᵀ.
    tokens, dim : int
        N and D.
    components : int
        Clusters, or the rank.
    noise : float
        Standard deviation of the noise, before keys are scaled to unit deviation.
    decay : float
        Exponent of the power-law spectrum.
    strength : float
        θ of the spike.
    seed : int
    values : str
        "rotation": V is K times a random rotation, one head; "controls": all of `CONTROL_NAMES`, a head
        each, and a layer for each size of noise; or one of them, several heads with keys of their own.
    value_noise : float
        Deviation of the noise added to V*, over the root mean square of V*'s entries, for `NOISY`.
    """

    kind: SyntheticKind = "clusters"
    tokens: int = 128
    dim: int = 32
    components: int = 6
    noise: float = 0.3
    decay: float = 1.0
    strength: float = 10.0
    seed: int = 0
    values: Values = "rotation"
    value_noise: float = 0.0
