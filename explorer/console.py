"""What headless verbs have in common: how they read an input, and tell how far they are."""

from __future__ import annotations

import sys
from pathlib import Path

from explorer.params import Input


def progress_bar(done: int, total: int, name: str) -> None:
    """Draw how far it is, over the line before."""
    filled = 30 * done // max(total, 1)
    bar = "█" * filled + "·" * (30 - filled)
    print(f"\r{bar} {done}/{total} {name[:40]:40}", end="", file=sys.stderr, flush=True)


def given_input(given: str, index: int = 0) -> Input:
    """Read what was typed as an input: a path where something is there, else a text."""
    try:
        there = bool(given) and Path(given).exists()
    except OSError:  # too long for a path
        there = False
    return Input(path=given, index=index) if there else Input(text=given, index=index)
