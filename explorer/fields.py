"""Reads a dataclass back from JSON: every value against its type and range, a sentence for each fault."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from explorer.errors import GramscopeError

T = TypeVar("T")
Range = tuple[float, float]

LARGEST_INTEGER = 2**31 - 1
LARGEST_NUMBER = 1e9
LONGEST_TEXT = 1_000_000


def read(kind: type[T], value: Any, name: str, ranges: Mapping[str, Range] | None = None) -> T:
    """Make a dataclass of a mapping; what the mapping leaves out takes its default.

    Parameters
    ----------
    kind : dataclass type
        Its fields may be int, float, bool, str, a Literal, a tuple of these, another such dataclass, or any
        of them or None.
    value : object
        What JSON gave.
    name : str
        What the value is called in a message.
    ranges : mapping of str to (low, high), optional
        By field; numbers elsewhere lie between 0 and a number that nobody needs.

    Raises
    ------
    GramscopeError
        A field is unknown, of another type, or out of its range.
    """
    if not isinstance(value, dict):
        raise GramscopeError(f"“{name}” should be a group of fields, and is {shown(value)}.")
    hints = get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    unknown = [key for key in value if key not in names]
    if unknown:
        raise GramscopeError(f"“{name}” has a field that this version does not know: {shown(unknown[0])}.")
    limits = ranges or {}
    return kind(
        **{key: value_of(hints[key], item, f"{name}.{key}", limits.get(key)) for key, item in value.items()}
    )


def shown(value: Any) -> str:
    """Return a value as a message can hold it, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def value_of(hint: Any, value: Any, name: str, limits: Range | None = None) -> Any:
    """Check one value against a type of those that `read` knows.

    Raises
    ------
    GramscopeError
        It is of another type, or out of its range.
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        if value is None:
            return None
        hint = next(choice for choice in get_args(hint) if choice is not NoneType)
        return value_of(hint, value, name, limits)
    if origin is Literal:
        if not isinstance(value, str) or value not in get_args(hint):
            choices = ", ".join(map(str, get_args(hint)))
            raise GramscopeError(f"“{name}” is {shown(value)}; it can be {choices}.")
        return value
    if origin is tuple:
        return _sequence(get_args(hint), value, name, limits)
    if dataclasses.is_dataclass(hint):
        return read(hint, value, name)  # type: ignore[arg-type]
    return _plain(hint, value, name, limits)


def _sequence(hints: Sequence[Any], value: Any, name: str, limits: Range | None) -> tuple[Any, ...]:
    any_length = hints[-1] is Ellipsis
    if not isinstance(value, list) or not (any_length or len(value) == len(hints)):
        length = "" if any_length else f" of {len(hints)}"
        raise GramscopeError(f"“{name}” should be a list{length}, and is {shown(value)}.")
    each = [hints[0]] * len(value) if any_length else hints
    return tuple(value_of(hint, item, name, limits) for hint, item in zip(each, value, strict=True))


def _plain(hint: Any, value: Any, name: str, limits: Range | None) -> Any:
    if hint is bool:
        if not isinstance(value, bool):
            raise GramscopeError(f"“{name}” should be true or false, and is {shown(value)}.")
        return value
    if hint is str:
        if not isinstance(value, str) or len(value) > LONGEST_TEXT or "\0" in value:
            raise GramscopeError(f"“{name}” should be a text, and is {shown(value)}.")
        return value
    whole = hint is int
    wanted = "a whole number" if whole else "a number"
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise GramscopeError(f"“{name}” should be {wanted}, and is {shown(value)}.")
    low, high = limits or (0, LARGEST_INTEGER if whole else LARGEST_NUMBER)
    if not math.isfinite(value) or not low <= value <= high:
        raise GramscopeError(f"“{name}” is {shown(value)}; it lies between {low:g} and {high:g}.")
    return value if whole else float(value)
