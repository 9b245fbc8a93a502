"""Everything a person can set about the picture, frozen; no torch, so that the window can open before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

Contamination = Literal["sparse", "tokens", "gaussian", "replace"]
Form = Literal["published", "pcp"]
Queries = Literal["symmetric", "asymmetric"]
Variant = Literal["softmax", "rpc", "difference", "change", "gram", "model"]

LEVEL_MAX: dict[Contamination, float] = {"sparse": 0.5, "tokens": 0.5, "gaussian": 2.0, "replace": 0.5}
"""How far the slider goes: a share of entries or tokens, or the noise's deviation over the data's."""


@dataclass(frozen=True, slots=True)
class Input:
    """What is fed to a model.

    Attributes
    ----------
    text : str
        The text itself, for a source that reads text; empty: use `path` or the built-in sample.
    path : str
        A file (image, tensor, text with a line each) or a folder of images; empty: a built-in sample.
    index : int
        Which line, image or built-in sample.
    """

    text: str = ""
    path: str = ""
    index: int = 0


@dataclass(frozen=True, slots=True)
class Params:
    """One request, whole: equal parameters and equal source give the same numbers.

    Attributes
    ----------
    layer, head : int
        True numbers in the checkpoint, from 0.
    query : int or None
        The query token whose visible keys form the Gram of a masked head; None: the last token.
    input : Input
        What the model reads.
    contamination, level, magnitude, seed, contaminate_values
        What happens to the keys (`explorer.maths.contamination`); `level` is a fraction in [0, 1].
    form, queries, lam, mu, iterations
        Principal attention pursuit (`explorer.maths.rpc`); None for `lam` and `mu` means the form's default.
    variant : str
        Which map the attention panel shows.
    axes : (int, int)
        The principal axes of the projection panel, from 0.
    centred : bool
        Whether projections subtract the mean map.
    device : str
        "auto", "cpu", "cuda" or "mps".
    """

    layer: int = 0
    head: int = 0
    query: int | None = None
    input: Input = Input()
    contamination: Contamination = "sparse"
    level: float = 0.0
    magnitude: float = 10.0
    seed: int = 0
    contaminate_values: bool = False
    form: Form = "published"
    queries: Queries = "symmetric"
    lam: float | None = None
    mu: float | None = None
    iterations: int = 4
    variant: Variant = "softmax"
    axes: tuple[int, int] = (0, 1)
    centred: bool = False
    device: str = "auto"

    def but(self, **changes: Any) -> Params:
        """Return a copy with `changes`."""
        return replace(self, **changes)
