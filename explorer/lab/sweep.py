"""Alignment over one parameter with several seeds, and the phase diagram: point by point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import torch

from explorer.errors import GramscopeError, Stopped
from explorer.lab.setting import IN_CONTEXT, Kind, Setting
from explorer.lab.trainer import Trainer
from explorer.maths.attention_pca_fixed import leading_variance, own_prompt_step
from explorer.maths.attention_pca_limits import bbp_cosine, leading_direction
from explorer.maths.wishart import random_directions

Over = Literal["L", "theta", "d", "nu", "lambda", "level"]
ShouldStop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Sweep:
    """One parameter varied, everything else as in `setting`.

    Attributes
    ----------
    setting : Setting
    over : str
        "L", "theta" (θ), "d", "nu" (ν), "lambda" (λσ_1) or "level" (of contamination).
    values : tuple of float
    kinds : tuple of str
        Which heads: "softmax", "linear".
    seeds : int
        Runs of each.
    steps : int
        Steps in a run.
    """

    setting: Setting
    over: Over
    values: tuple[float, ...]
    kinds: tuple[Kind, ...] = ("softmax", "linear")
    seeds: int = 3
    steps: int = 300

    @property
    def runs(self) -> int:
        """How many points there will be."""
        return len(self.values) * len(self.kinds) * self.seeds


@dataclass(frozen=True, slots=True)
class Point:
    """One trained head.

    Attributes
    ----------
    kind, value, seed
        Which run.
    alignment : float
        |m·u_1|, or the mean cosine of the readout of held-out prompts where the outputs tell the direction.
    pca : float
        Mean |cos| of one prompt's own sample PCA, on held-out prompts.
    bbp : float or None
        The limit of that, where there is one.
    """

    kind: Kind
    value: float
    seed: int
    alignment: float
    pca: float
    bbp: float | None


def vary(setting: Setting, over: Over, value: float) -> Setting:
    """Return `setting` with one parameter set.

    Raises
    ------
    GramscopeError
        If this data has no such parameter.
    """
    family = setting.data.family
    if over == "L":
        return setting.but(length=round(value))
    if over == "lambda":
        return setting.but(coupling=value)
    if over == "level":
        kind = "sparse" if setting.contamination == "none" else setting.contamination
        return setting.but(level=value, contamination=kind)
    if over == "theta" and family in ("spiked", *IN_CONTEXT):
        return setting.with_data(theta=value)
    if over == "d" and family not in ("drawn", "rows"):
        return setting.with_data(d=round(value))
    if over == "nu" and family in IN_CONTEXT:
        return setting.with_data(degrees=round(value))
    raise GramscopeError(
        f"Data of the family “{family}” has no parameter {over} to sweep over. Choose a spiked family, or "
        "sweep over L."
    )


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


@dataclass(frozen=True, slots=True)
class Phase:
    """The phase diagram: heads trained on n = d/c tokens of N(0, I + θ v vᵀ), the same tokens at every step.

    Attributes
    ----------
    kind : str
    d : int
    cs, thetas : tuple of float
        The grid.
    seeds, steps : int
    rate : float
        Learning rate in units of 1/σ̂_1 of the prompt.
    """

    kind: Kind
    d: int
    cs: tuple[float, ...]
    thetas: tuple[float, ...]
    seeds: int = 4
    steps: int = 300
    rate: float = 0.2

    @property
    def runs(self) -> int:
        """How many cells there will be."""
        return len(self.cs) * len(self.thetas)


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the phase diagram.

    Attributes
    ----------
    kind : str
    c, theta : float
        As asked for; n is rounded to whole tokens.
    tokens : int
        n.
    alignment, pca : float
        Mean over seeds of cos² of v with the trained head, and with sample PCA of the same tokens.
    limit : float
        The Baik–Ben Arous–Péché limit of the latter.
    """

    kind: Kind
    c: float
    theta: float
    tokens: int
    alignment: float
    pca: float
    limit: float


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
