"""How RPC-Attention takes one head's keys apart, and for which λ and level it helps: what takes a while.

Each function yields all that is known so far, for a result's head and parameters.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from explorer import stages
from explorer.detail import Exact, PhaseMap, Sweep
from explorer.maths.contamination import contaminate
from explorer.maths.pcp import exact_pcp
from explorer.maths.phase import Phase, phase_diagram
from explorer.maths.rpc import default_lambda
from explorer.maths.support import support_sweep
from explorer.models.base import Head, ShouldStop, never
from explorer.pace import remaining
from explorer.params import LEVEL_MAX, KeyKind, Params
from explorer.result import Result
from explorer.stages import numpy

LAMS, LEVELS, SEEDS = 20, 20, 5
STEP = 2.0**0.4
"""From one λ to the next; ten steps are a factor of 16."""
SWEEP_LAMS = 49
TOLERANCE = 1e-5


def lams(head: Head, p: Params) -> list[float]:
    """Return the λ of the phase diagram, in equal ratios, the form's default among them."""
    default = default_lambda(p.form, *head.k.shape)
    return [float(f"{default * STEP ** (i - LAMS // 2):.3g}") for i in range(LAMS)]


def head_of(result: Result) -> Head | None:
    """Return the head that `sweeps` and `exact` take: as read from a contaminated input, else clean."""
    return result.head if result.params.key_kind is not None else result.moved_head


def _contaminated(head: Head, p: Params) -> tuple[Head, Tensor]:
    """Return the head with K′, and which entries are contaminated; nobody knows where the input was."""
    if p.key_kind is None:
        return head, torch.zeros_like(head.k, dtype=torch.bool)
    kind = p.key_kind
    keys = contaminate(head.k, kind, p.level, p.magnitude, p.seed)
    v = head.v
    if p.contaminate_values:
        v = contaminate(v, kind, p.level, p.magnitude, p.seed).values
    return replace(head, k=keys.values, v=v), keys.hit


def levels(p: Params, count: int = LEVELS) -> list[float]:
    """Return the levels of the phase diagram: the middles of equal parts of the slider."""
    return [round((j + 0.5) / count * LEVEL_MAX[p.contamination], 6) for j in range(count)]


def phase_maps(head: Head, kind: KeyKind, p: Params, should_stop: ShouldStop = never) -> Iterator[PhaseMap]:
    """Compute the phase diagram of a clean head and contaminated keys, from coarse to fine, seed by seed.

    Raises
    ------
    GramscopeError
        If RPC is not defined for the head.
    Stopped
        If `should_stop` said so.
    """
    stages.use_threads(head.k.shape[0])
    for phase in phase_diagram(
        head.q, head.k, head.v, head.scale, stages.convention(head, p),
        kind=kind, levels=levels(p), lams=lams(head, p), magnitude=p.magnitude,
        seeds=range(p.seed, p.seed + SEEDS), contaminate_values=p.contaminate_values, should_stop=should_stop,
    ):  # fmt: skip
        yield phase_map(phase)


def timed(maps: Iterator[PhaseMap]) -> Iterator[PhaseMap]:
    """Say with each map how long the rest will take, at the pace of computing so far."""
    spent, begin = 0.0, time.monotonic()
    for phase in maps:
        spent += time.monotonic() - begin
        yield replace(phase, seconds=remaining(spent, phase.done, phase.wanted))
        begin = time.monotonic()


def phase_map(phase: Phase) -> PhaseMap:
    """Turn errors over λ and level into who does better."""
    return PhaseMap(
        lams=numpy(phase.lams),
        levels=numpy(phase.levels),
        own=-numpy(phase.margin()),
        to_softmax=-numpy(phase.margin(own=False)),
        done=round(phase.done * phase.rpc.numel()),
        seeds=len(phase.rpc),
    )


def sweeps(head: Head, p: Params, should_stop: ShouldStop = never) -> Iterator[Sweep]:
    """Compare the support of S with the contaminated entries, over the λ of the diagram and beyond.

    Where the contamination entered at the input, every entry of K′ may have moved and none is marked: only
    the share that S holds has a number.

    Parameters
    ----------
    head : Head
        As `head_of` says.

    Raises
    ------
    GramscopeError
        If RPC is not defined for the head.
    Stopped
        If `should_stop` said so.
    """
    stages.use_threads(head.k.shape[0])
    moved, hit = _contaminated(head, p)
    lowest = lams(head, p)[0]
    over = [lowest * STEP ** (i / 2) for i in range(SWEEP_LAMS)]
    for sweep in support_sweep(
        moved.q, moved.k, moved.v, moved.scale, stages.convention(moved, p), hit,
        lams=over, should_stop=should_stop,
    ):  # fmt: skip
        yield Sweep(
            lams=numpy(sweep.lams),
            cut=numpy(sweep.cut),
            precision=numpy(sweep.precision),
            recall=numpy(sweep.recall),
            done=sweep.done,
        )


def exact(head: Head, p: Params, should_stop: ShouldStop = never) -> Iterator[Exact]:
    """Pursue the contaminated keys' principal components exactly, one yield an iteration.

    λ is 1/√max(N, D), or the one in use where the form is "pcp", in which it means the same. `head` is as
    `head_of` says.
    """
    stages.use_threads(head.k.shape[0])
    keys = _contaminated(head, p)[0].k
    lam = p.lam if p.form == "pcp" and p.lam is not None else default_lambda("pcp", *keys.shape)
    for step in exact_pcp(keys, lam, tolerance=TOLERANCE):
        yield Exact(
            low=numpy(step.low),
            sparse=numpy(step.sparse),
            lam=lam,
            residual=step.residual,
            iteration=step.iteration,
            converged=step.converged,
        )
        if should_stop():
            return
