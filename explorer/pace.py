"""How long work takes: said in words, and when it is long enough to be asked about first."""

from __future__ import annotations

LONG_S = 10.0
"""Work that takes longer than this says so, before it starts where that is known."""
FIRST_S = 1.0
"""How long progress must have been watched before it says when the work will end."""


def duration(seconds: float) -> str:
    """Return a time as a person says it: "about 40 s", "about 3 min", "about 2 h"."""
    if seconds < 90:
        return f"about {max(round(seconds / 5) * 5, 5)} s"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} min"
    return f"about {round(seconds / 3600)} h"


def remaining(elapsed: float, done: int, total: int) -> float | None:
    """Return the seconds that are left at the present pace; None while that cannot be told."""
    if done <= 0 or total <= 0 or elapsed < FIRST_S:
        return None
    return elapsed * max(total - done, 0) / done
