"""What is known of one layer on one input, growing as its null distributions come in; numpy only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.maths.evidence_names import BY_KEY
from explorer.maths.evidence_scores import Score, Scores, Spread, score, spread_over_heads
from explorer.maths.evidence_verdict import verdict_on_head

if TYPE_CHECKING:
    from explorer.maths.evidence import Evidence

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LayerEvidence:
    """Evidence of one layer's heads on one input.

    Key heads are measured once, however many query heads they serve: arrays of `evidence.measures`,
    `evidence.gamma`, `evidence.health`, `evidence.spectra` and `draws` have a row for each of `key_heads`,
    those of `evidence.projections` and `evidence.norms` one for each of `heads`.

    Attributes
    ----------
    layer : int
    heads : tuple of int
        Query heads, by their true numbers.
    rows : tuple of int
        The row of the key head that serves each of `heads`.
    key_heads : tuple of int
    tokens, width : int
        N and Dv.
    evidence : Evidence
    draws : dict of str to dict of str to ndarray, shape (R, S)
        By null, then by measure; nulls that were not drawn (yet) are absent.
    missing : dict of str to str
        Why a null cannot be drawn, a clause for the end of a sentence.
    notes : tuple of str
        What a person must know to read the numbers.
    values : dict of str to ndarray, shape (R, N, Dv)
        "learned" V, and V* by scaling ("unit", "axes"), each over its own largest entry.
    complete : bool
        Whether all nulls are in.
    """

    layer: int
    heads: tuple[int, ...]
    rows: tuple[int, ...]
    key_heads: tuple[int, ...]
    tokens: int
    width: int
    evidence: Evidence
    draws: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    values: Mapping[str, Array] = field(default_factory=dict)
    complete: bool = False

    def measure(self, key: str) -> Array:
        """Return one measure, one figure for each of `heads`."""
        return self.evidence.measures[key][list(self.rows)]

    def scores(self, null: str, key: str) -> Scores:
        """Return how one measure stands against one null, by key head."""
        if (null, key) not in self._scored:
            measured, drawn = self.evidence.measures[key], self.draws[null][key]
            self._scored[null, key] = score(measured, drawn, BY_KEY[key].better)
        return self._scored[null, key]

    @cached_property
    def _scored(self) -> dict[tuple[str, str], Scores]:
        return {}

    def spread(self, null: str, key: str) -> Spread:
        """Return how the key heads of this layer are distributed against one null."""
        found = self.scores(null, key)
        return spread_over_heads(found.z, found.p, found.p_below, found.draws)

    def scores_of(self, head: int) -> dict[str, dict[str, Score]]:
        """Return one query head's scores by null and measure; `head` is its true number."""
        row = self.rows[self.heads.index(head)]
        return {
            null: {key: self.scores(null, key).of(row) for key in by_measure}
            for null, by_measure in self.draws.items()
        }

    def verdict(self, head: int) -> str:
        """Say in words what one head's numbers say; `head` is its true number."""
        row = self.rows[self.heads.index(head)]
        measures = {key: float(values[row]) for key, values in self.evidence.measures.items()}
        return verdict_on_head(measures, self.scores_of(head), self.missing)
