"""Measures of many draws under a null, taken together; one head at a time, so that memory stays small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from torch import Tensor, cat

from explorer.maths.evidence import Array, as_array
from explorer.maths.evidence_alignment import Target, costly_measures, linear_measures
from explorer.maths.evidence_names import FAMILIES
from explorer.maths.evidence_nulls import LayerInput, gaussian, permuted, singular_part

Draw = Callable[[int, Generator], Tensor]
DRAWN = ("permutation", "gaussian", "projection", "rotation")
"""The nulls that are drawn at random; the untrained model's are measured."""
BLOCK_BYTES = 64_000_000
"""Draws are taken together up to about this much memory, but at least one."""


@dataclass(frozen=True, slots=True)
class Draws:
    """How many draws each null takes.

    Attributes
    ----------
    cheap : int
        Of overlap and linear CKA.
    costly : int
        Of every other measure.
    seed : int
        Equal seeds give equal draws.
    nulls : tuple of str
        Which are drawn, of `DRAWN`.
    families : tuple of str
        Which costly measures are drawn, of `explorer.maths.evidence_names.FAMILIES`.
    """

    cheap: int = 200
    costly: int = 20
    seed: int = 0
    nulls: tuple[str, ...] = DRAWN
    families: tuple[str, ...] = tuple(FAMILIES)


def nulls_of(values: Tensor, layer_input: LayerInput | None, w_v: Tensor | None) -> dict[str, Draw]:
    """Return how to draw one head's values under each null that can be drawn.

    Parameters
    ----------
    values : Tensor, shape (N, Dv)
    layer_input : LayerInput or None
        Needed for "projection" and "rotation".
    w_v : Tensor, shape (Dv, C), or None
        Needed for "rotation".
    """
    nulls: dict[str, Draw] = {
        "permutation": lambda count, rng: permuted(values, count, rng),
        "gaussian": lambda count, rng: gaussian(values, count, rng),
    }
    if layer_input is not None:
        nulls["projection"] = lambda count, rng: layer_input.projected(values, count, rng)
        if w_v is not None:
            learned = singular_part(w_v)
            nulls["rotation"] = lambda count, rng: layer_input.rotated(learned, count, rng)
    return nulls


def measure_draws(draw: Draw, target: Target, draws: Draws, stream: tuple[int, ...] = ()) -> dict[str, Array]:
    """Measure draws of one head's values against its V*.

    Parameters
    ----------
    draw : callable
        From `nulls_of`.
    target : Target
        Of that head alone.
    draws : Draws
    stream : tuple of int
        Tells heads and nulls apart, so that each has draws of its own.

    Returns
    -------
    dict of str to ndarray, shape (draws,)
        `draws.cheap` or `draws.costly` of each measure.
    """
    tokens, width = target.star.shape[-2:]
    rng = np.random.default_rng((draws.seed, *stream))
    found = _in_blocks(draw, linear_measures, target, draws.cheap, 32 * tokens * width, rng)
    if not draws.families:
        return found
    measures = partial(costly_measures, families=draws.families)
    return found | _in_blocks(draw, measures, target, draws.costly, 32 * tokens * (tokens + 4 * width), rng)


def _in_blocks(
    draw: Draw,
    measures: Callable[[Tensor, Target], Mapping[str, Tensor]],
    target: Target,
    count: int,
    bytes_each: int,
    rng: Generator,
) -> dict[str, Array]:
    parts = [dict(measures(draw(size, rng), target)) for size in _sizes(count, BLOCK_BYTES // bytes_each)]
    return {name: as_array(cat([part[name] for part in parts])) for name in (parts[0] if parts else ())}


def _sizes(count: int, block: int) -> Iterator[int]:
    block = max(block, 1)
    while count > 0:
        yield min(count, block)
        count -= block
