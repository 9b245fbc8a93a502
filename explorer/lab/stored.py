"""The laboratory's setting as JSON holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from explorer import fields
from explorer.errors import GramscopeError
from explorer.lab.setting import Data, Setting

MOST_EIGENVALUES = 512
SETTING_RANGES: Mapping[str, tuple[float, float]] = {
    "rank": (1, 8),
    "length": (2, 1024),
    "coupling": (0.05, 2.5),
    "batch": (1, 1024),
    "rate": (0.001, 2.0),
    "seed": (0, 2**31 - 1),
    "level": (0.0, 0.5),
    "magnitude": (0.0, 50.0),
    "iterations": (1, 10),
}
"""What the page can set."""
DATA_RANGES: Mapping[str, tuple[float, float]] = {
    "d": (2, 64),
    "theta": (0.0, 10.0),
    "exponent": (0.0, 4.0),
    "degrees": (2, 400),
}


def write(setting: Setting) -> dict[str, Any]:
    """Return the setting as a mapping that `read` takes back."""
    return asdict(setting)


def read(value: Any, name: str = "laboratory") -> Setting:
    """Make a setting of a mapping; what it leaves out takes its default.

    Raises
    ------
    GramscopeError
        A field is unknown, of another type, or out of what the page can set.
    """
    if not isinstance(value, dict):
        raise GramscopeError(f"“{name}” should be a group of fields, and is {fields.shown(value)}.")
    data = fields.read(Data, value.get("data", {}), f"{name}.data", DATA_RANGES)
    if len(data.spectrum) > MOST_EIGENVALUES:
        raise GramscopeError(
            f"“{name}.data.spectrum” has {len(data.spectrum)} eigenvalues; {MOST_EIGENVALUES} are possible."
        )
    rest = {key: item for key, item in value.items() if key != "data"}
    return fields.read(Setting, rest, name, SETTING_RANGES).but(data=data)
