"""Synthetic heads: data of known structure, queries equal to keys, values a rotation of the clean keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from explorer.errors import GramscopeError
from explorer.models.base import Capture, LayerHeads, ShouldStop, Source, Token, never
from explorer.models.memory import refuse_unless_free
from explorer.models.recipes import Recipe
from explorer.params import Input

Array = NDArray[np.float64]
COPIES = 6
"""Arrays of tokens × dimensions that are held at once while a head is made and captured."""


def _clusters(recipe: Recipe, rng: Generator) -> tuple[Array, list[str]]:
    centres = rng.normal(0.0, 1.5, (recipe.components, recipe.dim))
    labels = rng.integers(0, recipe.components, recipe.tokens)
    keys = centres[labels] + rng.normal(0.0, recipe.noise, (recipe.tokens, recipe.dim))
    return keys, [f"c{label}" for label in labels]


def _low_rank(recipe: Recipe, rng: Generator) -> tuple[Array, list[str]]:
    left = rng.normal(size=(recipe.tokens, recipe.components))
    right = rng.normal(size=(recipe.components, recipe.dim)) / np.sqrt(recipe.components)
    return left @ right + rng.normal(0.0, recipe.noise, (recipe.tokens, recipe.dim)), []


def _spectrum(recipe: Recipe, rng: Generator) -> tuple[Array, list[str]]:
    deviations = np.arange(1, recipe.dim + 1) ** (-recipe.decay / 2)
    return rng.normal(size=(recipe.tokens, recipe.dim)) * deviations, []


def _spiked(recipe: Recipe, rng: Generator) -> tuple[Array, list[str]]:
    spike = rng.normal(size=recipe.dim)
    spike /= np.linalg.norm(spike)
    along = rng.normal(size=(recipe.tokens, 1)) * np.sqrt(recipe.strength)
    return rng.normal(size=(recipe.tokens, recipe.dim)) + along * spike, []


_GENERATORS = {"clusters": _clusters, "low-rank": _low_rank, "spectrum": _spectrum, "spiked": _spiked}
NAMES = {
    "clusters": "clusters",
    "low-rank": "low rank plus noise",
    "spectrum": "Gaussian, power-law spectrum",
    "spiked": "spiked covariance",
}


class SyntheticSource(Source):
    """One head of one layer, made from a `Recipe`.

    Keys have unit deviation over all entries; queries equal keys; V = K R with R a random
    orthogonal matrix, made from the clean keys, so that it stays clean when keys are contaminated.

    Raises
    ------
    GramscopeError
        If the recipe cannot be made (no token, no cluster, …), or not within the memory that is free.
    """

    def __init__(self, recipe: Recipe | None = None) -> None:
        self.recipe = recipe = recipe or Recipe()
        if min(recipe.tokens, recipe.dim, recipe.components) < 1 or recipe.noise < 0 or recipe.strength < 0:
            raise GramscopeError(
                "A synthetic head needs at least one token, one dimension and one component, and noise and "
                "spike strength of 0 or more."
            )
        refuse_unless_free(
            COPIES * 8 * recipe.dim * (recipe.tokens + recipe.dim), torch.device("cpu"),
            f"A synthetic head of {recipe.tokens:,} tokens and {recipe.dim:,} dimensions",
            "Ask for fewer of them, or close other programs.",
        )  # fmt: skip
        self.name = f"synthetic: {NAMES[recipe.kind]}"
        self.kind = "synthetic"
        self.layers = self.heads = 1
        self.symmetric = True
        self.facts = {
            "family": self.name,
            "layers": "1",
            "heads": "1",
            "head_dim": str(recipe.dim),
            "tokens": str(recipe.tokens),
            "mask": "none",
            "dtype": "float64",
        }
        self._tensors, self._labels = self._make()

    def _make(self) -> tuple[dict[str, torch.Tensor], list[str]]:
        rng = np.random.default_rng(self.recipe.seed)
        keys, labels = _GENERATORS[self.recipe.kind](self.recipe, rng)
        deviation = keys.std()
        if deviation > 0:
            keys = keys / deviation
        rotation, _ = np.linalg.qr(rng.normal(size=(self.recipe.dim, self.recipe.dim)))
        made = {"k": keys, "v": keys @ rotation, "w_v": rotation.T}
        return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in made.items()}, labels

    def capture(
        self,
        layers: Sequence[int],
        input: Input,
        device: torch.device,
        should_stop: ShouldStop = never,
    ) -> Capture:
        """Return the head; `input` is ignored."""
        dtype = torch.float32 if device.type == "mps" else torch.float64
        tensors = {name: tensor.to(device, dtype) for name, tensor in self._tensors.items()}
        k, v = tensors["k"], tensors["v"]
        heads = LayerHeads(
            q=k[None], k=k[None], v=v[None], scale=self.recipe.dim**-0.5, x=k, w_v=tensors["w_v"][None]
        )
        tokens = tuple(
            Token(f"{i}·{self._labels[i]}" if self._labels else str(i)) for i in range(self.recipe.tokens)
        )
        return Capture(tokens=tokens, layers=dict.fromkeys(layers, heads))
