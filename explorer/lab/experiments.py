"""What a sweep or a phase diagram goes through, and what it finds; no torch, so that a page can hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.errors import GramscopeError
from explorer.lab.setting import IN_CONTEXT, Kind, Setting

DEFAULTS: dict[str, tuple[float, ...]] = {
    "L": (8, 16, 32, 64, 128, 256),
    "theta": (0.25, 0.5, 1, 2, 3, 5),
    "d": (3, 5, 10, 20, 40),
    "nu": (5, 10, 20, 40, 80, 160),
    "lambda": (0.25, 0.5, 0.75, 1, 1.1, 1.25, 1.5, 2),
    "level": (0, 0.01, 0.02, 0.05, 0.1, 0.2),
    "phase": (0.125, 0.25, 0.5, 1, 2, 4),
}
THETAS = (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4)
Over = Literal["L", "theta", "d", "nu", "lambda", "level"]


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
    if over == "d" and family not in ("drawn", "rows", "covariance"):
        return setting.with_data(d=round(value))
    if over == "nu" and family in IN_CONTEXT:
        return setting.with_data(degrees=round(value))
    raise GramscopeError(
        f"Data of the family “{family}” has no parameter {over} to sweep over. Choose a spiked family, or "
        "sweep over L."
    )


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
