"""Heads whose values are V* by construction, or certainly are not: what each measure should say is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.maths.gram import eigenpairs, key_gram, value_matrix
from explorer.models.base import Capture, LayerHeads, ShouldStop, Source, Token, never
from explorer.models.recipes import CONTROL_NAMES, NOISY, Recipe, Values
from explorer.models.synthetic import SyntheticSource
from explorer.params import Input

NOISE = (0.0, 0.1, 0.3, 1.0, 3.0)
"""Deviation of the noise added to V*, over the root mean square of V*'s entries: one layer each."""


def exact(star: Tensor, rng: Generator) -> Tensor:
    """V* itself: every measure must accept."""
    return star


def rotated(star: Tensor, rng: Generator) -> Tensor:
    """V* R with a random rotation: CKA and overlap must accept, cosines and γ must not."""
    return star @ random_rotation(star.shape[-1], rng)


def mapped(star: Tensor, rng: Generator) -> Tensor:
    """V* M with a random map of condition 100: overlap alone must accept."""
    width = star.shape[-1]
    stretch = torch.logspace(-1, 1, width, dtype=star.dtype)
    return star @ (random_rotation(width, rng) * stretch) @ random_rotation(width, rng)


def shuffled(star: Tensor, rng: Generator) -> Tensor:
    """V* of other tokens: only the matching, which undoes it, may accept."""
    return star[torch.from_numpy(rng.permutation(star.shape[0]))]


def gaussian(star: Tensor, rng: Generator) -> Tensor:
    """Independent Gaussian values: nothing may accept."""
    return torch.from_numpy(rng.standard_normal(tuple(star.shape)))


Make = Callable[[Tensor, Generator], Tensor]
CONTROLS: dict[Values, Make] = {
    "exact": exact,
    "rotated": rotated,
    "mapped": mapped,
    "shuffled": shuffled,
    "gaussian": gaussian,
}
"""By kind; "projected" is a map of all of them: it may be above shuffled tokens, but not above a random
projection."""
HEADS = 6
"""Heads of one kind of control, each with keys of its own."""


def source_of(recipe: Recipe) -> Source:
    """Return the source that a recipe makes."""
    return SyntheticSource(recipe) if recipe.values == "rotation" else ControlSource(recipe=recipe)


def random_rotation(size: int, rng: Generator) -> Tensor:
    """Return a Haar-random orthogonal matrix, (size, size)."""
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    return torch.from_numpy(q * np.sign(np.diag(r)))


def prescribed_values(keys: Tensor, scale: float) -> Tensor:
    """Return V* of keys (N, D) with unit axes, as many columns as D, over its root mean square."""
    gram = key_gram(keys, scale)
    star, _ = value_matrix(gram, eigenpairs(gram, keys.shape[-1]), "axes")
    return star / star.square().mean().sqrt()


class ControlSource(Source):
    """Positive and negative controls on synthetic keys: a head of each kind, or several of one kind.

    The tokens' features X hold the values of all heads, mixed by a rotation, so that each is a linear map
    of the tokens and a random projection of them is a fair comparison. `Input.index` is the seed.

    Parameters
    ----------
    noise : sequence of float or None
        Sizes of the noise, over the root mean square of V*, one layer each; None: as the recipe says.
    recipe : Recipe or None
        The keys, and the kind of the values; None: the default clusters, with all kinds.

    Attributes
    ----------
    head_names, head_labels, layer_names : tuple of str
        What the values of each head are, in words and in one word, and the noise of each layer.
    """

    def __init__(self, noise: Sequence[float] | None = None, recipe: Recipe | None = None) -> None:
        self.recipe = recipe = recipe or Recipe(values="controls")
        together = recipe.values == "controls"
        sizes = NOISE if together else (recipe.value_noise if recipe.values in NOISY else 0.0,)
        self.noise = sizes if noise is None else tuple(noise)
        if not self.noise or min(self.noise) < 0:
            raise GramscopeError("Controls need at least one noise size, and none below 0.")
        kinds = tuple(CONTROL_NAMES) if together else (recipe.values,) * HEADS
        self.head_names = tuple(CONTROL_NAMES[kind] for kind in kinds)
        self.head_labels = kinds if together else ()
        self.layer_names = tuple(f"noise {size:g}" for size in self.noise)
        self.name = "controls: values that are V*, or are not"
        if not together:
            self.name = f"control: {CONTROL_NAMES[recipe.values]}"
        self.kind = "synthetic"
        self.layers, self.heads, self.samples = len(self.noise), len(kinds), 8
        self.symmetric = True
        self._makes = [CONTROLS.get(kind, exact) for kind in kinds if together <= (kind in CONTROLS)]
        self._own = 0 if recipe.values == "projected" else len(self._makes)
        self._keys_of = 1 if together else HEADS
        self.facts = {
            "family": self.name,
            **{f"head {i}": name for i, name in enumerate(self.head_names)},
            **{f"layer {i}": f"noise {size:g} of V*'s size" for i, size in enumerate(self.noise)},
            "head_dim": str(recipe.dim),
            "tokens": str(recipe.tokens),
            "mask": "none",
            "dtype": "float64",
        }

    def capture(
        self,
        layers: Sequence[int],
        input: Input,
        device: torch.device,
        should_stop: ShouldStop = never,
    ) -> Capture:
        """Make the heads of `layers`; of the input only `index` counts."""
        if unknown := [layer for layer in layers if not 0 <= layer < self.layers]:
            raise GramscopeError(f"There is no layer {unknown[0]}: the controls have {self.layers}.")
        scale = self.recipe.dim**-0.5
        keys = torch.stack([self._keys(input.index + self.samples * i) for i in range(self._keys_of)])
        stars = torch.stack([prescribed_values(each, scale) for each in keys])
        made = {layer: self._layer(keys, stars, layer, input.index, device) for layer in layers}
        return Capture(tuple(Token(str(i)) for i in range(keys.shape[1])), made)

    def _keys(self, shift: int) -> Tensor:
        recipe = replace(self.recipe, seed=self.recipe.seed + shift)
        return SyntheticSource(recipe).capture([0], Input(), torch.device("cpu")).layers[0].k[0]

    def _layer(self, keys: Tensor, stars: Tensor, layer: int, index: int, device: torch.device) -> LayerHeads:
        rng = np.random.default_rng((self.recipe.seed, index, layer))
        each = stars.expand(len(self._makes), -1, -1)
        values = [make(star, rng) for make, star in zip(self._makes, each, strict=True)]
        values = [v + self.noise[layer] * torch.from_numpy(rng.standard_normal(v.shape)) for v in values]
        features = torch.cat(values, -1)
        mix, width = random_rotation(features.shape[-1], rng), stars.shape[-1]
        projected = [
            torch.from_numpy(rng.standard_normal((width, len(mix)))) / len(mix) ** 0.5
            for _ in range(self.heads - self._own)
        ]
        w_v = torch.stack([*mix.split(width)[: self._own], *projected])
        x = features @ mix
        dtype = torch.float32 if device.type == "mps" else torch.float64
        x, w_v, k = (tensor.to(device, dtype) for tensor in (x, w_v, keys.expand(self.heads, -1, -1)))
        return LayerHeads(q=k, k=k, v=x @ w_v.mT, scale=self.recipe.dim**-0.5, x=x, w_v=w_v)
