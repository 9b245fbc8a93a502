"""The numbers that stand for a whole head, and a checkpoint's heads by layer; numpy alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.params import Params

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number a head.

    Attributes
    ----------
    name : str
        What a chooser calls it.
    symbol : str
        As a table's column or a sentence writes it.
    meaning : str
        What low and high mean, in a clause.
    formula : str
        In the notation of the help pages.
    whole : float or None
        Its largest possible value; None: it has none.
    signed : bool
    of_change : bool
        Whether it depends on the contamination.
    """

    name: str
    symbol: str
    meaning: str
    formula: str
    whole: float | None = None
    signed: bool = False
    of_change: bool = False


QUANTITIES = {
    "entropy": Quantity(
        "entropy of attention", "entropy", "0: each query reads one key; 1: each reads all keys evenly",
        "mean_i (−Σ_j A_{ij} log A_{ij}) / log n_i", whole=1.0,
    ),
    "sink": Quantity(
        "share on sinks", "sink share", "the mass on the first token and on special tokens",
        "mean_i Σ_{j ∈ sinks} A_{ij}", whole=1.0,
    ),
    "rank": Quantity(
        "effective rank of the spectrum", "effective rank",
        "over how many axes the keys vary in feature space", "(Σ_d γ_d)^2 / Σ_d γ_d^2",
    ),
    "overlap": Quantity(
        "alignment of V with V*", "overlap of V and V*",
        "0: column spaces at right angles; 1: the same column space",
        "mean_d cos^2 θ_d, θ_d between the column spaces of H V and H V^*", whole=1.0,
    ),
    "softmax": Quantity(
        "e_softmax", "e_softmax", "how far contamination moves softmax's output, relative to its norm",
        "e_{softmax} = ‖h_{softmax}(f) − h_{softmax}(0)‖ / ‖h_{softmax}(0)‖", of_change=True,
    ),
    "rpc": Quantity(
        "e_RPC", "e_RPC", "how far contamination moves RPC's output from its own clean one",
        "e_{RPC} = ‖h_{RPC}(f) − h_{RPC}(0)‖ / ‖h_{RPC}(0)‖", of_change=True,
    ),
    "rpc_to_softmax": Quantity(
        "RPC to clean softmax", "RPC to clean softmax", "how far RPC's output is from softmax's clean one",
        "‖h_{RPC}(f) − h_{softmax}(0)‖ / ‖h_{softmax}(0)‖", of_change=True,
    ),
    "margin": Quantity(
        "RPC against softmax", "log10(e_softmax / e_RPC)", "above 0: RPC moves less; below 0: softmax does",
        "log_{10} (e_{softmax} / e_{RPC})", signed=True, of_change=True,
    ),
}  # fmt: skip
"""By key, in the order of the chooser."""


@dataclass(frozen=True, eq=False)
class LayerNumbers:
    """What is known of one layer.

    Attributes
    ----------
    layer : int
        True number.
    values : mapping of str to ndarray, shape (H,)
        By the keys of `QUANTITIES`, query head by query head; NaN where the head does not allow it.
    maps : ndarray of float32, shape (H, m, m)
        The heads' own clean attention, the largest weight of each block; NaN where the mask hides all.
    key_heads : ndarray of int, shape (H,)
        The key head that serves each query head.
    problem : str
        Why nothing is known, in a sentence; empty: it is.
    """

    layer: int
    values: Mapping[str, Array] = field(default_factory=dict)
    maps: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0, 0), np.float32))
    key_heads: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    problem: str = ""


@dataclass(frozen=True, eq=False)
class Overview:
    """A checkpoint's heads on one input, as far as they are computed.

    Attributes
    ----------
    params : Params
        What was asked; layer and head do not count.
    source : str
    layers : range
        The layers that there are, by true number.
    heads : int
        Query heads a layer.
    done : tuple of LayerNumbers
        Ascending.
    tokens, sinks : int
        Tokens seen, and how many of them count as sinks.
    width : int
        Columns of V.
    query : str
        The query as whose view a masked head is seen, and its place; empty: every token sees all.
    seconds : float
        How long a layer took, on average; 0 while none did.
    computed : str
        Device and dtype.
    notes : tuple of str
        Sentences that must be read with it.
    """

    params: Params
    source: str
    layers: range
    heads: int
    done: tuple[LayerNumbers, ...] = ()
    tokens: int = 0
    sinks: int = 0
    width: int = 0
    query: str = ""
    seconds: float = 0.0
    computed: str = ""
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every layer is there."""
        return len(self.done) == len(self.layers)

    @property
    def left(self) -> float:
        """Seconds that the rest will take, as far as can be told."""
        return self.seconds * (len(self.layers) - len(self.done))

    def table(self, key: str) -> Array:
        """Return one quantity, (layers, heads); NaN where it is not known."""
        found = np.full((len(self.layers), self.heads), np.nan)
        for part in self.done:
            if key in part.values:
                values = part.values[key]
                found[part.layer - self.layers.start, : len(values)] = values
        return found

    def value(self, key: str, layer: int, head: int) -> float:
        """Return one head's number, by true layer and head; NaN where it is not known."""
        part = self.of_layer(layer)
        values = part.values.get(key) if part is not None else None
        return float(values[head]) if values is not None and head < len(values) else float("nan")

    def of_layer(self, layer: int) -> LayerNumbers | None:
        """Return what is known of a layer."""
        return next((part for part in self.done if part.layer == layer), None)
