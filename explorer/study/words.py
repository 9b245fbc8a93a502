"""What a study is called in words: rows, kinds and levels, and what the comparisons say."""

from __future__ import annotations

import math
from collections.abc import Iterable

from explorer.study.table import Comparison

ROWS = {"softmax": "softmax", "symmetric": "symmetric", "rpc": "RPC"}
"""Rows of the shipped digit models, by the variant that their files name."""
SWAPPED = " with RPC swapped in"
KINDS = {
    "pixel noise": "Gaussian noise",
    "salt and pepper": "Salt and pepper",
    "blur": "Blur",
    "occlusion": "Occlusion",
    "fgsm": "FGSM",
    "pgd": "PGD",
}
LEVELS = {
    "pixel noise": "deviation, of the full range",
    "salt and pepper": "share of the pixels",
    "blur": "deviation of the kernel, pixels",
    "occlusion": "share of the area",
    "fgsm": "budget ε, of the full range",
    "pgd": "budget ε, of the full range",
}
CAUTION = (
    "An interval over training seeds that holds 0 shows no difference, nor that there is none; the intervals "
    "are not corrected for being many."
)


def points(value: float) -> str:
    """Write an accuracy or a difference in per cent, with a true minus sign."""
    return "—" if math.isnan(value) else f"{100 * value:.1f}".replace("-", "−").replace("−0.0", "0.0")


def sentences(comparisons: Iterable[Comparison]) -> list[str]:
    """Say of each two rows and each kind what their mean over the levels shows, and how not to read it."""
    overall = [found for found in comparisons if math.isnan(found.level)]
    said = [f"{KINDS[found.kind]}: {_verdict(found)}" for found in overall]
    return [*said, CAUTION] if said else []


def _verdict(found: Comparison) -> str:
    measured = (
        f"{found.row} minus {found.other} {points(found.difference)} points "
        f"(95 % over images {points(found.images_low)} to {points(found.images_high)}"
    )
    if math.isnan(found.training_low):
        return f"{measured}); of models trained with other seeds this says nothing."
    measured += (
        f", over {found.trainings} training seeds {points(found.training_low)} to "
        f"{points(found.training_high)})"
    )
    if found.training_low > 0 or found.training_high < 0:
        better = found.row if found.difference > 0 else found.other
        return f"{measured}: {better} is the more accurate."
    return f"{measured}: not told apart over training seeds."
