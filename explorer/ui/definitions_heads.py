"""What the panels of many heads, and of two pictures, mean."""

from __future__ import annotations

from explorer.quantities import QUANTITIES
from explorer.ui.definitions import SARITAS, TEO, Definition

HEADS = {
    "overview": Definition(
        title="Overview",
        what=(
            "Every head of the checkpoint on the present input, a row a layer and a column a head, by their "
            "true numbers: one number a head, or its own clean attention as a small map, each from 0 to its "
            "own largest weight."
        ),
        formulas=tuple(f"{q.symbol}: {q.formula}" for q in QUANTITIES.values()),
        read=(
            *(f"{q.symbol}: {q.meaning}." for q in QUANTITIES.values()),
            "$n_i$ are the keys that query $i$ may see; queries that see one key do not count.",
            "A click, or the arrow keys and Enter, opens a head; the ring is the present one.",
        ),
        misread=(
            "Masked heads are as one query sees them, which the panel names.",
            "The overlap of unrelated values is about $D_v/(N − 1)$, not 0: hover says it for this input.",
            "A head that is sharp, or a sink, on one input need not be so on another.",
        ),
        sources=(TEO, SARITAS),
    ),
}
