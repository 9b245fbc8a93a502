"""The one exception whose text is meant for the person at the screen."""

from __future__ import annotations


class GramscopeError(Exception):
    """Something the user can act on.

    Parameters
    ----------
    message : str
        One or two plain sentences: what is wrong, and what to do.
    detail : str
        Anything longer, shown folded (a traceback, a list of names found).
    """

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class TakesLong(GramscopeError):
    """Work that would take longer than a person has agreed to; its sentence says how long."""


class Stopped(Exception):
    """Raised inside a computation whose result nobody waits for any more."""
