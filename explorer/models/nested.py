"""Walk through what was saved: dicts and lists inside each other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from explorer.errors import GramscopeError

MOST = 300_000
DEEPEST = 50


def leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is no dict and no list with its dotted name, the outermost first.

    A list of strings is a leaf. A container inside itself is not entered again.

    Raises
    ------
    GramscopeError
        If there are absurdly many, as where lists hold the same lists many times over.
    """
    waiting: deque[tuple[str, Any, tuple[int, ...]]] = deque([("", value, ())])
    met = 0
    while waiting:
        path, item, around = waiting.popleft()
        met += 1
        entries = _entries(item)
        if met + len(waiting) + len(entries or ()) > MOST:
            raise GramscopeError("The file nests more entries than any checkpoint has: it was not opened.")
        if entries is None:
            yield path, item
        elif id(item) not in around and len(around) < DEEPEST:
            inside = (*around, id(item))
            waiting.extend((f"{path}.{key}" if path else str(key), inner, inside) for key, inner in entries)


def _entries(item: Any) -> list[tuple[Any, Any]] | None:
    if isinstance(item, Mapping):
        return list(item.items())
    if isinstance(item, list | tuple) and not (item and all(isinstance(entry, str) for entry in item)):
        return list(enumerate(item))
    return None
