"""Everything a person can set in the laboratory, frozen; no torch, so that the page can open before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from explorer.errors import GramscopeError
from explorer.maths import spectra

Kind = Literal["softmax", "linear"]
Structure = Literal["one", "heads", "frame", "free"]
Family = Literal["spiked", "power", "flat", "drawn", "wishart", "per-prompt", "rows", "covariance"]
Contamination = Literal["none", "sparse", "tokens", "gaussian", "replace"]

IN_CONTEXT: tuple[Family, ...] = ("wishart", "per-prompt")


@dataclass(frozen=True, slots=True)
class Data:
    """Where the tokens come from.

    Attributes
    ----------
    family : str
        "spiked", "power", "flat", "drawn": N(0, Σ) with these eigenvalues, the axes its eigenvectors;
        "wishart": each prompt has a covariance Wishart_d(ν, I + θ v vᵀ)/ν of its own, v the first axis;
        "per-prompt": v is another one in every prompt; "rows": tokens are rows of a table;
        "covariance": N(0, Σ) with Σ a table.
    d : int
        Features of a token (not for "drawn", "rows" and "covariance").
    theta, exponent : float
        θ of the spike; e of σ_j ∝ j^(−e).
    spectrum : tuple of float
        The eigenvalues of "drawn".
    degrees : int or None
        ν of the in-context families; None: infinite, the covariance itself.
    path : str
        A CSV or NPY table for "rows" and "covariance"; empty: scikit-learn's digits, as rows.
    whiten : bool
        Whether "rows" are whitened on their principal axes.
    """

    family: Family = "spiked"
    d: int = 10
    theta: float = 3.0
    exponent: float = 1.0
    spectrum: tuple[float, ...] = ()
    degrees: int | None = None
    path: str = ""
    whiten: bool = False

    def but(self, **changes: Any) -> Data:
        """Return a copy with `changes`."""
        return replace(self, **changes)

    @property
    def features(self) -> int | None:
        """Features of a token; None where a table says."""
        if self.family in ("rows", "covariance"):
            return None
        return len(self.spectrum) if self.family == "drawn" else self.d

    @property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of N(0, Σ), shape (d,); not for the in-context families and tables.

        Raises
        ------
        GramscopeError
            If a drawn spectrum is no spectrum.
        """
        if self.family == "spiked":
            return spectra.spiked(self.d, self.theta)
        if self.family == "power":
            return spectra.power_law(self.d, self.exponent)
        if self.family == "flat":
            return spectra.flat(self.d)
        values = np.asarray(self.spectrum, dtype=np.float64)
        if len(values) < 2 or not (np.isfinite(values).all() and values.min() >= 0 and values.max() > 0):
            raise GramscopeError(
                "A spectrum needs two eigenvalues at least, none negative and one of them above 0."
            )
        return values


@dataclass(frozen=True, slots=True)
class Setting:
    """One experiment, whole: the same setting trains the same way.

    Attributes
    ----------
    data : Data
    kind : str
        "softmax" or "linear".
    structure : str
        "one": W = λ m mᵀ; "heads": several of these, outputs added; "frame": W = λ M Mᵀ with MᵀM = I;
        "free": any matrix W.
    rank : int
        How many heads or columns of M; 1 otherwise.
    length : int or None
        L, tokens in a prompt; None: the infinite-prompt loss in closed form.
    coupling : float
        λσ_1, the coupling in units of 1/σ_1 (σ_1 = 1 + θ for the in-context families).
    learn_coupling : bool
        Whether λ is trained too, from `coupling`.
    batch : int
        Prompts in a step, fresh each time.
    rate : float
        Learning rate, in units in which σ_1 = 1.
    seed : int
    contamination, level, magnitude
        What happens to the tokens: the level is a fraction of entries or tokens, or the Gaussian noise's
        deviation; the magnitude and the noise are in units of an entry's deviation.
    clean : bool
        Whether principal attention pursuit takes its sparse part away from each prompt first.
    iterations : int
        Of that pursuit.
    """

    data: Data = Data()
    kind: Kind = "softmax"
    structure: Structure = "one"
    rank: int = 1
    length: int | None = 64
    coupling: float = 1.0
    learn_coupling: bool = False
    batch: int = 256
    rate: float = 0.1
    seed: int = 0
    contamination: Contamination = "none"
    level: float = 0.05
    magnitude: float = 10.0
    clean: bool = False
    iterations: int = 2

    @property
    def wants_corruption(self) -> bool:
        """Whether contamination or cleaning is asked for."""
        return self.contamination != "none" or self.clean

    @property
    def corrupts(self) -> bool:
        """Whether prompts are contaminated or cleaned; infinite ones, in closed form, never are."""
        return self.length is not None and self.wants_corruption

    def but(self, **changes: Any) -> Setting:
        """Return a copy with `changes`."""
        return replace(self, **changes)

    def with_data(self, **changes: Any) -> Setting:
        """Return a copy whose data has `changes`."""
        return replace(self, data=self.data.but(**changes))
