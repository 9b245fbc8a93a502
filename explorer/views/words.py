"""Numbers and tokens as a person reads them."""

from __future__ import annotations

import math
import re

from explorer.result import Result

_SUPER = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUB = str.maketrans("-0123456789", "₋₀₁₂₃₄₅₆₇₈₉")


def superscript(number: int) -> str:
    """Return a whole number as an exponent."""
    return str(number).translate(_SUPER)


def subscript(number: int) -> str:
    """Return a whole number as an index."""
    return str(number).translate(_SUB)


def powers(text: str) -> str:
    """Return `text` with 10^-4 written as 10⁻⁴."""
    return re.sub(r"\^(-?\d+)(?![.\d])", lambda found: superscript(int(found[1])), text)


def figure(value: float, digits: int = 3, zeros: bool = False) -> str:
    """Return `value` with as many significant digits as it deserves; a dash where there is no number.

    Parameters
    ----------
    zeros : bool
        Whether zeros at the end stay, as beside numbers that were measured equally well.
    """
    if not math.isfinite(value):
        return "—"
    if value == 0:
        return "0"
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    exponent = int(power)
    if -4 < exponent < 5:
        text = f"{value:.{max(0, digits - 1 - exponent)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text and not zeros else text
    else:
        text = f"{mantissa} × 10{superscript(exponent)}"
    return text.replace("-", "−")


def percent(share: float, zeros: bool = False, digits: int = 2) -> str:
    """Return a share as a percentage: whole from 10 % up where two digits are asked for.

    Parameters
    ----------
    zeros : bool
        Whether zeros at the end stay, as beside numbers that were measured equally well.
    """
    if not math.isfinite(share):
        return "—"
    value = 100 * share
    whole = digits == 2 and abs(value) >= 10
    text = f"{value:.0f}".replace("-", "−") if whole else figure(value, digits, zeros)
    return f"{text} %"


def short_name(result: Result, row: int) -> str:
    """Return what a token's label on an axis says; its place where it has no text of its own."""
    token = result.tokens[row] if row < len(result.tokens) else None
    if token is None or not token.text.strip():
        return str(int(result.positions[row]))
    return token.text if token.word_start or token.special else f"·{token.text}"


def short_names(result: Result) -> list[str]:
    """Return the labels of all tokens."""
    return [short_name(result, row) for row in range(len(result.positions))]


def full_name(result: Result, row: int) -> str:
    """Return a token in a sentence: its text and its place in the input, and whether it is contaminated."""
    place = int(result.positions[row])
    token = result.tokens[row] if row < len(result.tokens) else None
    if token is not None and token.patch is not None:
        name = f"patch {token.text} ({place})"
    elif token is None or token.text.strip() in ("", str(place)):
        name = f"token {place}"
    else:
        name = f"‘{token.text}’ ({place})"
    return f"{name}, contaminated" if result.contaminated[row] else name
