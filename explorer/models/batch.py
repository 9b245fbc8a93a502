"""Input files: a text with a line each, a folder of images, a tensor."""

from __future__ import annotations

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
    refuse_irregular_file,
    tensors_in,
)

IMAGES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})
TENSORS = frozenset({".npy", ".pt"})


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file that are not blank.

    Raises
    ------
    GramscopeError
        If it is not UTF-8 text, or has no line.
    """
    refuse_irregular_file(path)
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise GramscopeError(f"{path.name} is not text in UTF-8. Save it as UTF-8.") from error
    except OSError as error:
        raise GramscopeError(f"{path.name} cannot be read: {error}.") from error
    if not lines:
        raise GramscopeError(f"{path.name} holds no text.")
    return lines


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
    if path.suffix == ".npy":
        array = load_arrays(path)["array"]
        try:
            return torch.from_numpy(array.copy())
        except TypeError as error:
            raise GramscopeError(f"{path.name} holds {array.dtype}, not numbers.") from error
    found = list(tensors_in(load_tensors(path)))
    if len(found) != 1:
        raise GramscopeError(f"{path.name} holds {len(found)} tensors where an input is one.")
    return found[0]
