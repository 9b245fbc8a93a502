"""The phase diagram of a contaminated input: the model reads it again at every level and seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from explorer import stages
from explorer.curves import seeds_of
from explorer.detail import PhaseMap
from explorer.devices import choose
from explorer.maths.outputs import attend_rpc, relative_error, softmax_output
from explorer.maths.phase import Phase, coarse_to_fine
from explorer.models.base import Head, ShouldStop, Source, never
from explorer.params import Params
from explorer.reread import Places, contaminated, reread, seen
from explorer.robustness import lams, levels, phase_map

LEVELS = 10
"""Fewer than where keys are contaminated: each runs the model once a seed."""
_BATCH_WEIGHTS = 1 << 19
"""Largest number of attention weights of a batch: some hundredths of a second on a processor."""


def input_phase_maps(source: Source, p: Params, should_stop: ShouldStop = never) -> Iterator[PhaseMap]:
    """Compute the phase diagram of a head whose model reads a contaminated input, level by level.

    Each token that is left is compared with its own clean output, at the same λ.

    Raises
    ------
    GramscopeError
        If the contamination cannot be done to the input, or RPC is not defined for the head.
    Stopped
        If `should_stop` said so.
    """
    clean = _read_clean(source, p, should_stop)
    strengths = torch.tensor(lams(clean.head, p)).to(clean.head.k)
    softmax_clean = _softmax(clean.head, p)
    rpc_clean = torch.cat(list(_pursued(clean.head, p, strengths)))
    at, seeds = levels(p, LEVELS), seeds_of(p)
    softmax = torch.full((len(seeds), len(at)), torch.nan, dtype=torch.float64)
    rpc = torch.full((len(seeds), len(strengths), len(at)), torch.nan, dtype=torch.float64)
    to_softmax = rpc.clone()
    for s, seed in enumerate(seeds):
        for j in [column for _, column in coarse_to_fine(1, len(at))]:
            moved = _read_again(source, p.but(level=at[j], seed=seed), clean, should_stop)
            own, other = moved.left(rpc_clean), moved.left(softmax_clean)
            softmax[s, j] = relative_error(_softmax(moved.head, p), other)
            errors = [(relative_error(x, other), x) for x in _pursued(moved.head, p, strengths)]
            to_softmax[s, :, j] = torch.cat([error for error, _ in errors])
            rpc[s, :, j] = relative_error(torch.cat([x for _, x in errors]), own)
            yield phase_map(
                Phase(
                    strengths.double().cpu(), torch.tensor(at, dtype=torch.float64), softmax.clone(),
                    rpc.clone(), to_softmax.clone(), float(rpc.isfinite().double().mean()),
                )
            )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Read:
    """A head as the query sees it, and each token's place among the clean ones (None: the same)."""

    head: Head
    places: Places
    kept: Tensor | None = None

    def left(self, clean: Tensor) -> Tensor:
        """Return the clean rows, (…, N, ·), of the tokens that are left."""
        return clean if self.kept is None else clean[..., self.kept, :]


def _read_clean(source: Source, p: Params, should_stop: ShouldStop) -> _Read:
    stages.use_threads()
    capture = source.capture([p.layer], p.input, choose(p.device), should_stop)
    whole = capture.head(p.layer, p.head)
    stages.room_for(whole, p.query)
    return _Read(stages.prepare(whole, p.query), seen(whole, p.query)[1])


def _read_again(source: Source, p: Params, clean: _Read, should_stop: ShouldStop) -> _Read:
    stages.use_threads()
    capture = contaminated(source, p, p.layer, clean.head.k.device, should_stop)
    again = reread(capture, p.layer, p.head, p.query, clean.places)
    head = stages.prepare(again.whole, again.at)
    stages.use_threads(head.k.shape[0])
    return _Read(head, clean.places, again.kept)


def _softmax(head: Head, p: Params) -> Tensor:
    return softmax_output(head.q, head.k, head.v, head.scale, stages.convention(head, p))


def _pursued(head: Head, p: Params, strengths: Tensor) -> Iterator[Tensor]:
    """Yield RPC's outputs at some λ after the other, (some, N, D), a batch at a time."""
    rule = stages.convention(head, p)
    for lam in strengths.split(max(1, _BATCH_WEIGHTS // (head.k.shape[0] * max(head.k.shape)))):
        many = head.k.expand(len(lam), *head.k.shape)
        yield attend_rpc(head.q, many, head.v, head.scale, replace(rule, lam=lam)).output
