"""The header of a GGUF file, walked through without believing it, before a library reads it."""

from __future__ import annotations

import importlib
import math
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from explorer.errors import GramscopeError

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""Formats of `struct`, by the number that the file gives a type."""
TEXT, ARRAY = 8, 9
MOST_DIMS = 4
MOST_ENTRIES = 5_000_000
"""Of an array: the largest vocabularies have some hundred thousand."""
FORMAT = "GGUF version 2 and 3, github.com/ggml-org/ggml/blob/master/docs/gguf.md"


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a file says of itself.

    Attributes
    ----------
    numbers : dict of str to number
        The settings that are one number, by name.
    shapes : dict of str to tuple of int
        Of the tensors.
    """

    numbers: dict[str, float] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def stored(self) -> int:
        """How many numbers all tensors hold."""
        return sum(map(math.prod, self.shapes.values()))

    @property
    def blocks(self) -> int:
        """How many layers there are tensors of."""
        found = (re.search(r"(?:^|\.)blk\.(\d+)\.", name) for name in self.shapes)
        return len({match[1] for match in found if match})

    @property
    def widest(self) -> int:
        """The largest dimension of any tensor."""
        return max((side for shape in self.shapes.values() for side in shape), default=0)


class _Walk:
    """A file read from the front, in which nothing may reach beyond the end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self._order = "<"

    def turn(self) -> None:
        """Read the other byte order from now on."""
        self._order = ">"

    def take(self, count: int) -> bytes:
        self.refuse_beyond(count)
        return self._file.read(count)

    def skip(self, count: int) -> None:
        self.refuse_beyond(count)
        self._file.seek(count, os.SEEK_CUR)

    def refuse_beyond(self, count: int) -> None:
        left = self._size - self._file.tell()
        if count > left:
            raise ValueError(f"{count:,} bytes are claimed where {left:,} are left")

    def number(self, kind: str) -> Any:
        return struct.unpack(self._order + kind, self.take(struct.calcsize("=" + kind)))[0]

    def text(self) -> str:
        return self.take(self.number("Q")).decode()


def _skip_array(walk: _Walk) -> None:
    kind, count = walk.number("I"), walk.number("Q")
    if count > MOST_ENTRIES:
        raise ValueError(f"an array claims {count:,} entries")
    if kind in SCALARS:
        walk.skip(count * struct.calcsize("=" + SCALARS[kind]))
    elif kind == TEXT:
        for _ in range(count):
            walk.skip(walk.number("Q"))
    else:
        raise ValueError(f"an array holds entries of the type {kind}")


def _settings(walk: _Walk, count: int) -> Iterator[tuple[str, float]]:
    for _ in range(count):
        name, kind = walk.text(), walk.number("I")
        if kind in SCALARS:
            yield name, walk.number(SCALARS[kind])
        elif kind == TEXT:
            walk.skip(walk.number("Q"))
        elif kind == ARRAY:
            _skip_array(walk)
        else:
            raise ValueError(f"{name} is of the type {kind}")


def _tensor(walk: _Walk, sizes: dict[int, tuple[int, int]]) -> tuple[str, tuple[int, ...]]:
    name, dims = walk.text(), walk.number("I")
    if dims > MOST_DIMS:
        raise ValueError(f"{name} claims {dims:,} dimensions")
    shape = tuple(walk.number("Q") for _ in range(dims))
    kind, offset = walk.number("I"), walk.number("Q")
    if kind not in sizes:
        raise ValueError(f"{name} is of the type {kind}")
    block, size = sizes[kind]
    walk.refuse_beyond(offset + math.prod(shape) * size // block)
    return name, shape


def _walk_through(walk: _Walk) -> GgufHeader:
    constants = importlib.import_module("gguf.constants")
    sizes = {int(kind): pair for kind, pair in constants.GGML_QUANT_SIZES.items()}
    version = walk.number("I")
    if version & 0xFFFF == 0:
        walk.turn()
    tensors, settings = walk.number("Q"), walk.number("Q")
    numbers = dict(_settings(walk, settings))
    return GgufHeader(numbers, dict(_tensor(walk, sizes) for _ in range(tensors)))


def read_header(path: Path) -> GgufHeader:
    """Return what a GGUF file says of itself, if the file has room for it.

    Raises
    ------
    GramscopeError
        If it is no GGUF file, or claims more, or longer, entries and tensors than it holds: a reader
        that believes them takes all memory, or never ends.
    OSError
        If the file cannot be read.
    """
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise GramscopeError(f"{path.name} is not a GGUF file: it does not begin as one. Copy it again.")
        try:
            return _walk_through(_Walk(file))
        except (ValueError, struct.error) as error:
            raise GramscopeError(
                f"{path.name} cannot be read: its header claims what it does not hold. Copy it again.",
                f"{error} ({FORMAT})",
            ) from error
