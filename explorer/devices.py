"""Where tensors are computed, and in which precision a picture is."""

from __future__ import annotations

import torch

from explorer import fallback
from explorer.errors import GramscopeError


def available() -> tuple[str, ...]:
    """Return the devices of this machine, the one that "auto" takes first."""
    found = []
    if torch.cuda.is_available():
        found.append("cuda")
    if torch.backends.mps.is_available():
        found.append("mps")
    return (*found, "cpu")


def choose(name: str) -> torch.device:
    """Return the device of a name: "auto", "cpu", "cuda" or "mps"; the CPU in the place of one that failed.

    Raises
    ------
    GramscopeError
        If this machine has no such device.
    """
    devices = available()
    name = devices[0] if name == "auto" else name
    if name in fallback.lost:
        return torch.device("cpu")
    if name not in devices:
        raise GramscopeError(
            f"This machine has no {name.upper()} device that torch can use; it has: "
            f"{', '.join(devices)}. Choose one of these, or auto."
        )
    return torch.device(name)
