"""What headless verbs have in common: how they read an input, and tell how far they are."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path

from explorer.params import Input

POSITIVE = 1e-12
"""The least of what must not be 0."""


def whole(least: int, most: float = math.inf) -> Callable[[str], int]:
    """Return what reads a whole number from `least` to `most` off the command line."""

    def read(text: str) -> int:
        _refuse_beyond(text, int(text), least, most)
        return int(text)

    read.__name__ = "number"
    return read


def real(least: float, most: float = math.inf) -> Callable[[str], float]:
    """Return what reads a finite number from `least` to `most` off the command line."""

    def read(text: str) -> float:
        _refuse_beyond(text, float(text), least, most)
        return float(text)

    read.__name__ = "number"
    return read


def _refuse_beyond(text: str, value: float, least: float, most: float) -> None:
    if not (least <= value <= most and value < math.inf):
        allowed = f"at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise argparse.ArgumentTypeError(f"{text} is not allowed: give a number {allowed}")


def add_head_count(parser: argparse.ArgumentParser) -> None:
    """Declare the answer to what some checkpoints leave open."""
    parser.add_argument(
        "--head-count", type=whole(1), metavar="N",
        help="how many heads there are, where the file does not say",
    )  # fmt: skip


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
