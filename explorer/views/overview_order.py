"""Which heads an overview shows, and where: by layer and head, or by their number. No drawing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from explorer.quantities import Overview

Order = Literal["layers", "largest", "smallest"]
Bound = Literal["all", "at least", "at most"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person chose to see.

    Attributes
    ----------
    quantity : str
        A key of `QUANTITIES`: what cells show, are sorted and filtered by.
    maps : bool
        Whether cells show small attention maps in place of the number.
    order : str
        "layers": a row a layer, a column a head; else by the number, row after row.
    layer : int or None
        The one layer to show, by true number; None: all.
    bound, limit : str, float
        Only heads whose number is "at least" or "at most" the limit.
    """

    quantity: str = "entropy"
    maps: bool = False
    order: Order = "layers"
    layer: int | None = None
    bound: Bound = "all"
    limit: float = 0.0

    def passes(self, value: float) -> bool:
        """Whether a head with this number is shown."""
        if self.bound == "all":
            return True
        return value >= self.limit if self.bound == "at least" else value <= self.limit


@dataclass(frozen=True, slots=True)
class Cell:
    """One head in the picture.

    Attributes
    ----------
    layer, head : int
        True numbers.
    value : float
        NaN where it is not known, or not defined.
    known : bool
        Whether its layer is computed.
    row, column : int
        Where it lies.
    """

    layer: int
    head: int
    value: float
    known: bool
    row: int
    column: int


def chosen(overview: Overview, wanted: Wanted) -> list[tuple[int, int, float, bool]]:
    """Return layer, head, number and whether it is computed, of each head that is shown, in order."""
    table = overview.table(wanted.quantity)
    computed = {part.layer for part in overview.done}
    heads = [
        (layer, head, float(table[row, head]), layer in computed)
        for row, layer in enumerate(overview.layers)
        for head in range(overview.heads)
        if wanted.layer in (None, layer) and wanted.passes(float(table[row, head]))
    ]
    if wanted.order == "layers":
        return heads
    sign = -1 if wanted.order == "largest" else 1
    known = [head for head in heads if not math.isnan(head[2])]
    return sorted(known, key=lambda head: sign * head[2])


def arranged(overview: Overview, wanted: Wanted, across: int) -> list[Cell]:
    """Place the heads that are shown: at their layer and head, or row after row, `across` a row."""
    heads = chosen(overview, wanted)
    if wanted.order != "layers":
        return [Cell(*head, *divmod(place, across)) for place, head in enumerate(heads)]
    first = overview.layers.start if wanted.layer is None else wanted.layer
    return [Cell(layer, head, value, known, layer - first, head) for layer, head, value, known in heads]


def across(count: int, width: float, height: float, aspect: float) -> int:
    """Return how many cells a row lets `count` cells of `aspect` (width over height) fill a rectangle."""
    if count < 1 or width <= 0 or height <= 0:
        return 1
    return max(1, min(count, round(math.sqrt(count * width / (height * aspect)))))
