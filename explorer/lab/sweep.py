"""Alignment over one parameter with several seeds, and the phase diagram: point by point."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from explorer.errors import Stopped
from explorer.lab.experiments import Cell, Phase, Point, Sweep, vary
from explorer.lab.setting import Setting
from explorer.lab.trainer import Trainer
from explorer.maths.attention_pca_fixed import leading_variance, own_prompt_step
from explorer.maths.attention_pca_limits import bbp_cosine, leading_direction
from explorer.maths.wishart import random_directions

ShouldStop = Callable[[], bool]


def run_sweep(sweep: Sweep, should_stop: ShouldStop) -> Iterator[Point]:
    """Train every run and yield it as soon as it is done.

    Raises
    ------
    GramscopeError
        If the data has no such parameter.
    Stopped
        Within a step after `should_stop` says so.
    """
    for seed in range(sweep.seeds):
        for value in sweep.values:
            for kind in sweep.kinds:
                setting = vary(
                    sweep.setting.but(kind=kind, seed=sweep.setting.seed + seed), sweep.over, value
                )
                yield _run(setting, value, sweep.steps, should_stop)


def _run(setting: Setting, value: float, steps: int, should_stop: ShouldStop) -> Point:
    trainer = Trainer(setting)
    for _ in range(steps):
        if should_stop():
            raise Stopped
        trainer.step()
    limits = trainer.snapshot().limits
    return Point(setting.kind, value, setting.seed, trainer.alignment(), limits.pca, limits.bbp)


def run_phase(phase: Phase, should_stop: ShouldStop) -> Iterator[Cell]:
    """Train every cell and yield it as soon as it is done, the cheapest (few tokens) first.

    Raises
    ------
    Stopped
        Within a step after `should_stop` says so.
    """
    for c in sorted(phase.cs, reverse=True):
        for theta in phase.thetas:
            yield _cell(phase, c, theta, should_stop)


def _cell(phase: Phase, c: float, theta: float, should_stop: ShouldStop) -> Cell:
    generator = torch.Generator().manual_seed(0)
    tokens = max(2, round(phase.d / c))
    x = torch.randn(phase.seeds, tokens, phase.d, generator=generator)
    x[..., 0] *= (1 + theta) ** 0.5
    leading = leading_variance(x)
    m = random_directions(phase.seeds, phase.d, generator)
    for _ in range(phase.steps):
        if should_stop():
            raise Stopped
        m = own_prompt_step(phase.kind, x, m, leading, phase.rate)
    sample_pca = leading_direction(x.mT @ x)
    return Cell(
        phase.kind, c, theta, tokens,
        float(m[:, 0].square().mean()), float(sample_pca[:, 0].square().mean()),
        float(bbp_cosine(theta, c)) ** 2,
    )  # fmt: skip
