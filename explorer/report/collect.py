"""From a source and an input to evidence, layer by layer: progressive, and stopped between heads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from explorer.errors import Stopped
from explorer.maths.evidence import Array, Evidence, as_array
from explorer.maths.evidence_alignment import SCALINGS
from explorer.maths.evidence_draws import DRAWN, Draw, Draws, measure_draws, nulls_of
from explorer.maths.evidence_names import NULLS
from explorer.maths.evidence_nulls import LayerInput
from explorer.models.base import Capture, ShouldStop, Source, never
from explorer.params import Input
from explorer.report.batches import Targets, measure_in_batches
from explorer.report.layer import LayerEvidence
from explorer.report.plan import LAYERS_AT_ONCE
from explorer.report.stack import Stack, stack_heads

SMALL = 1024
"""Tokens up to which one thread solves faster than several."""

Drawn = dict[tuple[str, int], dict[str, Array]]
"""Measures of draws by null, and by how many untrained models there were."""

NO_INPUT = "the source does not give what the layer's value projection reads"
NO_WEIGHTS = "the source does not give the value weights"
NO_UNTRAINED = "no untrained model was asked for"
NOT_ASKED = "it was not asked for"


def evidence(
    source: Source,
    input: Input,
    layers: Sequence[int],
    heads: Sequence[int] | None = None,
    *,
    device: torch.device,
    draws: Draws | None = None,
    untrained: Sequence[Source] = (),
    should_stop: ShouldStop = never,
) -> Iterator[LayerEvidence]:
    """Measure layers, each first without nulls, then again with each null added.

    Parameters
    ----------
    layers, heads : sequence of int
        True numbers; no heads means all.
    draws : Draws or None
        How many draws each null takes.
    untrained : sequence of Source
        The same architecture re-initialised, for the null of that name (`source.untrained(seed)`).

    Yields
    ------
    LayerEvidence
        The last one of each layer is `complete`.

    Raises
    ------
    GramscopeError
        If the source or the input does not suit.
    Stopped
        If `should_stop` said so.
    """
    for start in range(0, len(layers), LAYERS_AT_ONCE):
        group = layers[start : start + LAYERS_AT_ONCE]
        capture, *blank = (each.capture(group, input, device, should_stop) for each in (source, *untrained))
        for layer in group:
            yield from layer_evidence(capture, layer, heads, draws or Draws(), blank, should_stop)


def layer_evidence(
    capture: Capture,
    layer: int,
    heads: Sequence[int] | None = None,
    draws: Draws | None = None,
    untrained: Sequence[Capture] = (),
    should_stop: ShouldStop = never,
    drawn: Drawn | None = None,
) -> Iterator[LayerEvidence]:
    """Measure one captured layer; see `evidence`.

    Parameters
    ----------
    drawn : Drawn or None
        What was drawn of this layer before, with as many draws from the same seed; what is drawn is added.
    """
    draws, drawn = draws or Draws(), {} if drawn is None else drawn
    stack = stack_heads(capture, layer, heads)
    measured, star, targets = _measure(stack, should_stop)
    found = _without_nulls(layer, stack, measured, star, draws, bool(untrained))
    yield found
    with _threads(found.tokens):
        nulls = _nulls(stack)
    for null in NULLS:
        if null.key in nulls[0] and null.key in draws.nulls:
            known = null.key, 0
            if known not in drawn:
                drawn[known] = _draw(null.key, nulls, targets, draws, found, should_stop)
        elif null.key == "untrained" and untrained:
            known = null.key, len(untrained)
            if known not in drawn:
                targets.release()
                drawn[known] = _untrained(untrained, layer, len(stack.key_heads), should_stop)
        else:
            continue
        found = replace(found, draws={**found.draws, null.key: drawn[known]})
        yield found
    yield replace(found, complete=True)


@contextmanager
def _threads(tokens: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1 if tokens <= SMALL else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _measure(stack: Stack, should_stop: ShouldStop) -> tuple[Evidence, Tensor, Targets]:
    with _threads(stack.k.shape[1]):
        return measure_in_batches(stack.q, stack.k, stack.v, stack.output, stack.scale, should_stop)


def _without_nulls(
    layer: int, stack: Stack, measured: Evidence, star: Tensor, draws: Draws, untrained: bool
) -> LayerEvidence:
    wanted = [stack.served.index(head) for head in stack.heads]
    group = len(stack.served) // len(stack.key_heads)
    values = {"learned": stack.v} | {name: star[:, i] for i, name in enumerate(SCALINGS)}
    missing = {} if untrained else {"untrained": NO_UNTRAINED}
    missing |= {null: NOT_ASKED for null in DRAWN if null not in draws.nulls}
    if stack.x is None:
        missing |= {"projection": NO_INPUT, "rotation": NO_INPUT}
    elif stack.w_v[0] is None:
        missing |= {"rotation": NO_WEIGHTS}
    return LayerEvidence(
        layer=layer,
        heads=stack.heads,
        rows=tuple(place // group for place in wanted),
        key_heads=stack.key_heads,
        tokens=stack.v.shape[1],
        width=stack.v.shape[2],
        evidence=replace(
            measured,
            projections={name: figures[wanted] for name, figures in measured.projections.items()},
            norms={name: figures[wanted] for name, figures in measured.norms.items()},
        ),
        missing=missing,
        notes=stack.notes,
        values={name: as_array(_over_largest(x)) for name, x in values.items()},
    )


def _over_largest(x: Tensor) -> Tensor:
    return x / x.abs().amax((-2, -1), keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)


def _nulls(stack: Stack) -> list[dict[str, Draw]]:
    layer_input = None if stack.x is None else LayerInput.of(stack.x)
    return [nulls_of(values, layer_input, w_v) for values, w_v in zip(stack.v, stack.w_v, strict=True)]


def _draw(
    null: str,
    nulls: Sequence[Mapping[str, Draw]],
    targets: Targets,
    draws: Draws,
    found: LayerEvidence,
    should_stop: ShouldStop,
) -> dict[str, Array]:
    number = [each.key for each in NULLS].index(null)
    by_head = []
    for row, key_head in enumerate(found.key_heads):
        if should_stop():
            raise Stopped
        with _threads(found.tokens):
            drawn = measure_draws(nulls[row][null], targets.of(row), draws, (found.layer, key_head, number))
        by_head.append(drawn)
    return {key: np.stack([one[key] for one in by_head]) for key in by_head[0]}


def _untrained(
    captures: Sequence[Capture], layer: int, rows: int, should_stop: ShouldStop
) -> dict[str, Array]:
    """Return measures of all heads of untrained layers: those of one layer are draws of the same law."""
    parts = []
    for capture in captures:
        parts.append(_measure(stack_heads(capture, layer), should_stop)[0].measures)
    pooled = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    return {key: np.broadcast_to(figures, (rows, len(figures))) for key, figures in pooled.items()}
