"""A question that only the person can answer."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.errors import GramscopeError


class NeedsHeads(GramscopeError):
    """The file does not say how many heads there are: ask, and open it again with `heads=`.

    Attributes
    ----------
    choices : tuple of int
        The numbers that fit, the likeliest first.
    """

    def __init__(self, message: str, choices: Sequence[int]) -> None:
        super().__init__(message, "Numbers of heads that fit: " + ", ".join(map(str, choices)))
        self.choices = tuple(choices)
