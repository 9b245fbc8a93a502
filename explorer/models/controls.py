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
from explorer.models.recipes import Recipe
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


CONTROLS: dict[str, Callable[[Tensor, Generator], Tensor]] = {
    "V*, exactly": exact,
    "V* rotated": rotated,
    "V* under a general map": mapped,
    "V* of shuffled tokens": shuffled,
    "Gaussian values": gaussian,
}
PROJECTED = "random map of the tokens"
"""One head more: it may be above shuffled tokens, but not above a random projection."""


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
    """Positive and negative controls on synthetic keys: a column of heads by kind, a layer by noise.

    The tokens' features X hold the values of all heads, mixed by a rotation, so that each is a linear map
    of the tokens and a random projection of them is a fair comparison. `Input.index` is the seed.

    Parameters
    ----------
    noise : sequence of float
        Sizes of the noise, over the root mean square of V*, one layer each.
    recipe : Recipe or None
        The keys; None: the default clusters.

    Attributes
    ----------
    head_names : tuple of str
        What the values of each head are.
    """

    def __init__(self, noise: Sequence[float] = NOISE, recipe: Recipe | None = None) -> None:
        if not noise or min(noise) < 0:
            raise GramscopeError("Controls need at least one noise size, and none below 0.")
        self.noise = tuple(noise)
        self.recipe = recipe or Recipe()
        self.name = "controls: values that are V*, or are not"
        self.kind = "synthetic"
        self.layers, self.samples = len(self.noise), 8
        self.head_names = (*CONTROLS, PROJECTED)
        self.heads = len(self.head_names)
        self.symmetric = True
        self.facts = {
            "family": self.name,
            **{f"head {i}": name for i, name in enumerate(self.head_names)},
            **{f"layer {i}": f"noise {size:g} of V*'s size" for i, size in enumerate(self.noise)},
            "head_dim": str(self.recipe.dim),
            "tokens": str(self.recipe.tokens),
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
        keys, scale = self._keys(input.index)
        made = {layer: self._layer(keys, scale, layer, input.index, device) for layer in layers}
        return Capture(tuple(Token(str(i)) for i in range(len(keys))), made)

    def _keys(self, index: int) -> tuple[Tensor, float]:
        recipe = replace(self.recipe, seed=self.recipe.seed + index)
        heads = SyntheticSource(recipe).capture([0], Input(), torch.device("cpu")).layers[0]
        return heads.k[0], heads.scale

    def _layer(self, keys: Tensor, scale: float, layer: int, index: int, device: torch.device) -> LayerHeads:
        rng = np.random.default_rng((self.recipe.seed, index, layer))
        star = prescribed_values(keys, scale)
        values = [make(star, rng) for make in CONTROLS.values()]
        values = [v + self.noise[layer] * torch.from_numpy(rng.standard_normal(v.shape)) for v in values]
        features = torch.cat(values, -1)
        mix = random_rotation(features.shape[-1], rng)
        projected = torch.from_numpy(rng.standard_normal((star.shape[-1], len(mix)))) / len(mix) ** 0.5
        w_v = torch.stack([*mix.split(star.shape[-1]), projected])
        x = features @ mix
        dtype = torch.float32 if device.type == "mps" else torch.float64
        x, w_v, k = (tensor.to(device, dtype) for tensor in (x, w_v, keys.expand(self.heads, -1, -1)))
        return LayerHeads(q=k, k=k, v=x @ w_v.mT, scale=scale, x=x, w_v=w_v)
