"""Input files: a text with a line each, a folder of images, a tensor."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.safety import (
    load_arrays,
    load_tensors,
    refuse_irregular,
    tensors_in,
)

IMAGES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})
TENSORS = frozenset({".npy", ".pt"})
LARGEST_TEXT = 16_000_000
"""Bytes of a text file that are read: several times the longest text that is tokenised."""


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file that are not blank; of a huge one those that begin it, see `cut_note`.

    Raises
    ------
    GramscopeError
        If it is not UTF-8 text, or has no line.
    """
    _refuse_what_is_no_text(path)
    try:
        lines = [line for line in _beginning(path).splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise GramscopeError(f"{path.name} is not text in UTF-8. Save it as UTF-8.") from error
    except OSError as error:
        raise GramscopeError(f"{path.name} cannot be read: {error}.") from error
    if not lines:
        raise GramscopeError(f"{path.name} holds no text.")
    return lines


def _refuse_what_is_no_text(path: Path) -> None:
    if refuse_irregular(path).is_dir():
        raise GramscopeError(
            f"This model reads text, and {path.name} is a folder. Give a text, or a text file with a "
            "line for each input."
        )
    if path.suffix.lower() in IMAGES:
        raise GramscopeError(
            f"This model reads text, and {path.name} is a picture. Type a text or open a text file; pictures "
            "are for models of images."
        )


def _beginning(path: Path) -> str:
    """Read as much of a text as is of use; a line that is cut is left out, unless it is the only one."""
    with path.open("rb") as file:
        data = file.read(LARGEST_TEXT)
        cut = bool(file.read(1))
    text = codecs.getincrementaldecoder("utf-8")().decode(data, final=not cut)
    whole, _, _ = text.rpartition("\n")
    return whole if cut and whole.strip() else text


def cut_note(path: Path) -> str:
    """Say what of a huge text file was not read; empty: all of it was."""
    size = path.stat().st_size
    if size <= LARGEST_TEXT:
        return ""
    return (
        f"{path.name} has {size / 1e6:,.0f} MB: only its first {LARGEST_TEXT / 1e6:,.0f} MB were read, and "
        "lines beyond are not counted."
    )


def image_files(path: Path) -> list[Path]:
    """Return the images in a folder by name, or the one file.

    Raises
    ------
    GramscopeError
        If a folder holds none.
    """
    if not refuse_irregular(path).is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix.lower() in IMAGES and file.is_file())
    if not files:
        raise GramscopeError(f"{path.name} holds no images ({', '.join(sorted(IMAGES))}).")
    return files


def count_entries(files: Sequence[str]) -> int:
    """How many inputs files or folders hold together."""
    return sum(_entries(Path(file)) for file in files)


def entry_of(files: Sequence[str], index: int) -> tuple[Path, int]:
    """Return the file that an index falls into, and the place within it; counted round."""
    if len(files) == 1:
        return Path(files[0]), index
    begins = [0, *accumulate(_entries(Path(file)) for file in files)]
    index %= begins[-1]
    which = bisect_right(begins, index) - 1
    return Path(files[which]), index - begins[which]


def _entries(path: Path) -> int:
    if refuse_irregular(path).is_dir():
        return len(image_files(path))
    return 1 if path.suffix.lower() in IMAGES | TENSORS else len(read_lines(path))


def read_line(path: Path, index: int) -> str:
    """Return one line, counted round."""
    lines = read_lines(path)
    return lines[index % len(lines)]


def read_tensor(path: Path) -> Tensor:
    """Return the one tensor in a .npy or .pt file.

    Raises
    ------
    GramscopeError
        If the file is not sound, or holds none or several.
    """
    if path.suffix.lower() == ".npy":
        array = load_arrays(path)["array"]
        try:
            return torch.from_numpy(array.copy())
        except TypeError as error:
            raise GramscopeError(f"{path.name} holds {array.dtype}, not numbers.") from error
    found = list(tensors_in(load_tensors(path)))
    if len(found) != 1:
        raise GramscopeError(f"{path.name} holds {len(found)} tensors where an input is one.")
    return found[0]
