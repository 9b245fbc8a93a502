"""How long opening will take, told by reading a little of what will be read."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from explorer.errors import Stopped
from explorer.models.base import ShouldStop, never
from explorer.models.gguf_header import read_header
from explorer.models.kinds import GGUF
from explorer.models.open import files_of

PIECE = 1 << 20
SAMPLE = 1 << 25
"""So many bytes are read at most, or as many as come in half a second."""
SAMPLE_S = 0.5


@dataclass(frozen=True, slots=True)
class OpeningTime:
    """What opening takes.

    Attributes
    ----------
    size : int
        Bytes of the files.
    seconds : float
        At the pace of the sample, on this drive and now. Packages that are imported on the way, and a
        drive whose pace changes, are not in it.
    """

    size: int
    seconds: float


def opening_time(paths: Sequence[Path], should_stop: ShouldStop = never) -> OpeningTime:
    """Tell what opening a checkpoint will take, from its size and the pace of its drive.

    Parameters
    ----------
    paths : sequence of paths
        As `explorer.models.open.open_path` takes them; one file or folder at least.

    Raises
    ------
    GramscopeError
        If nothing can be made of them, as there.
    OSError
        If a file cannot be read.
    Stopped
        If `should_stop` said so.
    """
    files = files_of(paths, should_stop)
    size = sum(file.stat().st_size for file in files)
    largest = max(files, key=lambda file: file.stat().st_size)
    if largest.suffix.lower() not in GGUF:
        return OpeningTime(size, size * _seconds_a_byte(largest, should_stop))
    unpacked = torch.float32.itemsize * read_header(largest).stored
    seconds = 2 * size * _seconds_a_byte(largest, should_stop) + unpacked * _seconds_a_byte_made()
    return OpeningTime(size, seconds)


def _seconds_a_byte(path: Path, should_stop: ShouldStop) -> float:
    room = memoryview(bytearray(SAMPLE))
    done, begin = 0, time.monotonic()
    with path.open("rb", buffering=0) as file:
        while done < SAMPLE and time.monotonic() - begin < SAMPLE_S:
            if should_stop():
                raise Stopped
            came = file.readinto(room[done : done + PIECE])
            if not came:
                break
            done += came
    return (time.monotonic() - begin) / done if done else 0.0


def _seconds_a_byte_made() -> float:
    """Unpacking quantised numbers takes about as long as making as many and copying them."""
    begin = time.monotonic()
    made = torch.empty(SAMPLE // torch.float32.itemsize).fill_(math.pi).mul(2).add_(1)
    return (time.monotonic() - begin) / (made.numel() * made.element_size())
