"""One number a head, for every head of a checkpoint: what the overview shows, a layer at a time.

All numbers are of a head as `explorer.analysis` shows it: a masked head as one query sees it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import adaptive_max_pool2d

from explorer import stages
from explorer.devices import choose
from explorer.errors import GramscopeError, Stopped
from explorer.fallback import is_of_device
from explorer.maths.attention import attention_weights
from explorer.maths.contamination import contaminate
from explorer.maths.evidence_alignment import column_basis
from explorer.maths.gram import Eigenpairs, Gram, eigenpairs, key_gram, participation, value_matrix
from explorer.maths.outputs import Convention, Outputs, head_outputs, relative_error
from explorer.models.base import Capture, Head, ShouldStop, Source, never
from explorer.params import Params
from explorer.quantities import QUANTITIES, Array, LayerNumbers, Overview
from explorer.reread import contaminated, reread, seen

THUMB = 48
"""Rows and columns of a small map, at most."""
BATCH = 192 * 2**20
"""Bytes that one N × N matrix of a batch of heads may take; a few of them are alive at a time."""
KEPT, KEPT_BYTES = 512, 64 * 2**20
"""Layers whose numbers are kept for going back, and how large their maps may become together."""
CHANGED = tuple(key for key, quantity in QUANTITIES.items() if quantity.of_change)


def sinks(head: Head) -> list[int]:
    """Return the rows of the first token and of special tokens, which attract attention for no content."""
    return sorted({0} | {row for row, token in enumerate(head.tokens) if token.special})


class Overviewer:
    """Computes overviews, and keeps each layer's numbers for the next one: a level change leaves most.

    A source that is closed elsewhere goes, and its numbers with it.
    """

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Source, dict[Hashable, LayerNumbers]] = WeakKeyDictionary()

    def __call__(self, p: Params, source: Source, should_stop: ShouldStop = never) -> Iterator[Overview]:
        """Yield what is known after each layer.

        Parameters
        ----------
        p : Params
            All but layer, head, map and axes count.
        source : Source

        Raises
        ------
        GramscopeError
            If no layer can be captured, with the reason.
        Stopped
            If `should_stop` said so.
        """
        known = self._kept.setdefault(source, {})
        layers = range(source.first_layer, source.layers)
        overview = Overview(p, source.name, layers, source.heads)
        spent: list[float] = []
        for layer in layers:
            if should_stop():
                raise Stopped
            begin = time.perf_counter()
            place = (layer, p.input, p.query, choose(p.device))
            kept = known.get((place, _of_change(p)))
            if kept is None or not overview.tokens:
                overview, kept = self._compute(overview, layer, p, source, place, should_stop)
                spent.append(time.perf_counter() - begin)
            done = (*overview.done, kept)
            overview = replace(overview, done=done, seconds=sum(spent) / max(len(spent), 1))
            yield overview
        problems = [part.problem for part in overview.done]
        if all(problems):
            raise GramscopeError(problems[0])

    def _compute(
        self, overview: Overview, layer: int, p: Params, source: Source, place: Hashable,
        should_stop: ShouldStop,
    ) -> tuple[Overview, LayerNumbers]:  # fmt: skip
        try:
            view = _view(layer, p, source, should_stop)
        except GramscopeError as problem:
            if is_of_device(problem):
                raise
            return overview, LayerNumbers(layer, problem=str(problem))
        known = self._kept[source]
        still = _keep(known, (place, None), lambda: _still(view, layer, should_stop))
        numbers = _keep(
            known,
            (place, _of_change(p)),
            lambda: replace(still, values={**still.values, **_changed(view, p, should_stop)}),
        )
        return overview if overview.tokens else _described(overview, view), numbers


def _keep(
    known: dict[Hashable, LayerNumbers], key: Hashable, make: Callable[[], LayerNumbers]
) -> LayerNumbers:
    numbers = known.get(key)
    if numbers is None:
        numbers = known[key] = make()
        while len(known) > 1 and (len(known) > KEPT or _map_bytes(known) > KEPT_BYTES):
            known.pop(next(iter(known)), None)
    return numbers


def _map_bytes(known: Mapping[Hashable, LayerNumbers]) -> int:
    """Return the size of the maps, which numbers of one place share."""
    return sum({id(numbers.maps): numbers.maps.nbytes for numbers in [*known.values()]}.values())


def _of_change(p: Params) -> Hashable:
    """Return the parameters that the contamination's numbers depend on besides the place."""
    return p.change, p.but(layer=0, head=0, query=None, variant="softmax", axes=(0, 1), centred=False)


@dataclass(frozen=True, eq=False)
class _View:
    """The heads of one layer as their query sees them, and the same heads in the contaminated input.

    Attributes
    ----------
    capture : Capture
        Of the clean input.
    heads : list of Head
    query : int or None
        The query whose view a masked head gives.
    changed : list of Head
        None of them where nothing enters at the input.
    kept : Tensor of int, or None
        Place of each changed head's token among the clean ones; None: the same.
    """

    capture: Capture
    heads: list[Head]
    query: int | None
    changed: list[Head]
    kept: Tensor | None = None


def _view(layer: int, p: Params, source: Source, should_stop: ShouldStop) -> _View:
    device = choose(p.device)
    stages.use_threads()
    capture = source.capture([layer], p.input, device, should_stop)
    count = range(capture.layers[layer].q.shape[0])
    stages.room_for(capture.head(layer, 0), p.query)
    heads = [stages.prepare(capture.head(layer, index), p.query) for index in count]
    query, positions = seen(capture.head(layer, 0), p.query)
    if p.change is None:
        return _View(capture, heads, query, [])
    read = contaminated(source, p, layer, device, should_stop)
    again = [reread(read, layer, index, p.query, positions) for index in count]
    return _View(capture, heads, query, [stages.prepare(x.whole, x.at) for x in again], again[0].kept)


def _described(overview: Overview, view: _View) -> Overview:
    head, capture = view.heads[0], view.capture
    query, notes = "", list(capture.notes)
    if view.query is not None:
        query = f"“{capture.tokens[view.query].text}” (token {view.query})"
    if head.k.shape[0] > stages.FULL:
        notes.append(
            f"Beyond {stages.FULL} tokens the alignment with V* is left out: it takes all eigenvectors of "
            "every head. Shorten the input to see it."
        )
    return replace(
        overview, tokens=head.k.shape[0], sinks=len(sinks(head)), width=head.v.shape[-1], query=query,
        computed=f"{str(head.k.dtype).removeprefix('torch.')} on {head.k.device.type}", notes=tuple(notes),
    )  # fmt: skip


def _batches(count: int, tokens: int) -> Iterator[range]:
    """Yield ranges of heads whose N × N matrices stay within `BATCH`."""
    size = max(1, BATCH // (8 * tokens**2))
    yield from (range(start, min(start + size, count)) for start in range(0, count, size))


def _stack(heads: Sequence[Head]) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    q, k, v = (torch.stack([getattr(head, name) for head in heads]) for name in ("q", "k", "v"))
    biases = [head.bias for head in heads if head.bias is not None]
    return q, k, v, torch.stack(biases) if biases else None


def _still(view: _View, layer: int, should_stop: ShouldStop) -> LayerNumbers:
    """Compute what contamination leaves alone: how heads attend, and how their keys vary."""
    heads, key_of = view.heads, [head.kv_index for head in view.heads]
    tokens = heads[0].k.shape[0]
    stages.use_threads(tokens)
    attending = []
    for batch in _batches(len(heads), tokens):
        _check(should_stop)
        attending.append(_attention([heads[i] for i in batch]))
    entropy, sink, maps = (np.concatenate(parts) for parts in zip(*attending, strict=True))
    firsts = [key_of.index(key) for key in sorted(set(key_of))]
    spectral = []
    for batch in _batches(len(firsts), tokens):
        _check(should_stop)
        spectral.append(_keys([heads[firsts[i]] for i in batch]))
    rows = [sorted(set(key_of)).index(key) for key in key_of]
    rank, overlap = (np.concatenate(parts)[rows] for parts in zip(*spectral, strict=True))
    values = {"entropy": entropy, "sink": sink, "rank": rank, "overlap": overlap}
    return LayerNumbers(layer, values, maps, np.array(key_of))


def _attention(heads: Sequence[Head]) -> tuple[Array, Array, np.ndarray]:
    """Return the entropy, the share on sinks and the small maps of the heads' own attention."""
    q, k, _, bias = _stack(heads)
    first = heads[0]
    weights = attention_weights(q, k, first.scale, first.mask, bias, first.softcap)
    n = weights.shape[-1]
    side = min(THUMB, n)
    maps = adaptive_max_pool2d(weights, side)
    seen = torch.full((n,), n, device=weights.device)
    if first.mask is not None:
        seen = first.mask.sum(-1)
        some = adaptive_max_pool2d(first.mask[None].to(weights.dtype), side)[0] > 0
        maps = maps.masked_fill(~some, math.nan)
    choosing = seen > 1
    even = torch.where(choosing, seen, 2).to(weights.dtype).log()
    entropy = torch.special.entr(weights).sum(-1) / even
    mean = entropy[:, choosing].mean(-1) if bool(choosing.any()) else torch.full_like(entropy[:, 0], math.nan)
    looking = seen > 0
    sink = weights[..., sinks(first)].sum(-1)[:, looking].mean(-1)
    return stages.numpy(mean), stages.numpy(sink), maps.float().cpu().numpy()


def _keys(heads: Sequence[Head]) -> tuple[Array, Array]:
    """Return the effective rank of the keys' spectrum, and the overlap of V with V*."""
    _, k, v, _ = _stack(heads)
    gram = key_gram(k, heads[0].scale)
    rank = stages.numpy(participation(gram))
    if k.shape[1] > stages.FULL:
        return rank, np.full(len(heads), math.nan)
    return rank, stages.numpy(overlap(gram, eigenpairs(gram), v))


def overlap(gram: Gram, pairs: Eigenpairs, v: Tensor) -> Tensor:
    """Compute the mean squared cosine of the principal angles between V and V*, both centred, shape (…).

    1 where the column spaces are the same, about Dv/(N − 1) for values that have nothing to do with the
    keys; unchanged by any invertible map of the values.

    Parameters
    ----------
    v : Tensor, shape (…, N, Dv)
    """
    star, _ = value_matrix(gram, pairs.leading(v.shape[-1]), "axes")
    size = star.abs().amax((-2, -1), keepdim=True)
    basis, _, rank = column_basis(v)
    other, _, other_rank = column_basis(star / torch.where(size > 0, size, 1.0))
    return (basis.mT @ other).square().sum((-2, -1)) / torch.minimum(rank, other_rank)


def _changed(view: _View, p: Params, should_stop: ShouldStop) -> dict[str, Array]:
    """Compute how far contamination moves the heads' outputs."""
    parts = []
    tokens = view.heads[0].k.shape[0]
    stages.use_threads(tokens)
    for batch in _batches(len(view.heads), tokens):
        _check(should_stop)
        parts.append(_moved(view, batch, p))
    return {key: np.concatenate([part[key] for part in parts]) for key in CHANGED}


def _moved(view: _View, batch: range, p: Params) -> dict[str, Array]:
    heads = [view.heads[i] for i in batch]
    q, k, v, bias = _stack(heads)
    how = _convention(heads[0], p, bias)
    clean = head_outputs(q, k, v, heads[0].scale, how)
    if view.changed:
        changed = [view.changed[i] for i in batch]
        q, k, v, bias = _stack(changed)
        moved = head_outputs(q, k, v, changed[0].scale, _convention(changed[0], p, bias))
    else:
        moved = head_outputs(q, _hit(k, p), _hit(v, p) if p.contaminate_values else v, heads[0].scale, how)
    return _errors(clean, moved, slice(None) if view.kept is None else view.kept)


def _errors(clean: Outputs, moved: Outputs, rows: slice | Tensor) -> dict[str, Array]:
    softmax = clean.softmax[:, rows]
    found = dict.fromkeys(CHANGED, np.full(len(softmax), math.nan))
    found["softmax"] = stages.numpy(relative_error(moved.softmax, softmax))
    if clean.rpc is None or moved.rpc is None:
        return found
    said = moved.rpc.output
    found["rpc"] = stages.numpy(relative_error(said, clean.rpc.output[:, rows]))
    found["rpc_to_softmax"] = stages.numpy(relative_error(said, softmax))
    both = (found["softmax"] > 0) & (found["rpc"] > 0)
    found["margin"] = np.log10(np.where(both, found["softmax"], np.nan) / np.where(both, found["rpc"], 1.0))
    return found


def _hit(x: Tensor, p: Params) -> Tensor:
    if p.key_kind is None:
        return x
    return torch.stack([contaminate(part, p.key_kind, p.level, p.magnitude, p.seed).values for part in x])


def _convention(head: Head, p: Params, bias: Tensor | None) -> Convention:
    return replace(stages.convention(head, p), bias=bias)


def _check(should_stop: ShouldStop) -> None:
    if should_stop():
        raise Stopped
