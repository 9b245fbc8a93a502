"""What headless verbs tell on the error stream while they work."""

from __future__ import annotations

import sys


def progress_bar(done: int, total: int, name: str) -> None:
    """Draw how far it is, over the line before."""
    filled = 30 * done // max(total, 1)
    bar = "█" * filled + "·" * (30 - filled)
    print(f"\r{bar} {done}/{total} {name[:40]:40}", end="", file=sys.stderr, flush=True)
