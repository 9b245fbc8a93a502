"""Labelled images: a folder with a subfolder a class, or a table of file and label."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

from explorer.errors import GramscopeError
from explorer.models.batch import IMAGES, cut_note, read_lines
from explorer.models.safety import refuse_irregular
from explorer.units import stamp

TABLES = {".csv": ",", ".tsv": "\t"}
HOW = (
    "Give a folder with a subfolder for each class, named as the class, with its images in it; or a table "
    "(.csv or .tsv) with an image file and its label a line."
)


@dataclass(frozen=True, eq=False)
class Labelled:
    """Images and what they show.

    Attributes
    ----------
    files : tuple of Path
    labels : tuple of str
        As the person wrote them.
    """

    files: tuple[Path, ...]
    labels: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """What changes when an image, its label or their order does."""
        parts = [[label, str(file), stamp(file)] for label, file in zip(self.labels, self.files, strict=True)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def labelled(path: Path, most: int | None = None) -> Labelled:
    """Return the labelled images of a folder or a table.

    Parameters
    ----------
    most : int or None
        How many at most: one of each class in turn, in the order of their names.

    Raises
    ------
    GramscopeError
        If there are none, or images without a label.
    """
    found = _of_folder(path) if refuse_irregular(path).is_dir() else _of_table(path)
    by_class: dict[str, list[Path]] = defaultdict(list)
    for label, file in found:
        by_class[label].append(file)
    columns = [[(label, file) for file in by_class[label]] for label in sorted(by_class)]
    turns = [pair for pair in chain.from_iterable(zip_longest(*columns)) if pair is not None][:most]
    return Labelled(tuple(file for _, file in turns), tuple(label for label, _ in turns))


def _images(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.suffix.lower() in IMAGES and file.is_file())


def _of_folder(folder: Path) -> list[tuple[str, Path]]:
    classes = sorted(child for child in folder.iterdir() if child.is_dir() and not child.name.startswith("."))
    found = [(child.name, file) for child in classes for file in _images(child)]
    if loose := _images(folder):
        raise GramscopeError(
            f"{loose[0].name} lies in {folder.name} itself, so nothing says what it shows. {HOW}",
            "\n".join(file.name for file in loose),
        )
    if not found:
        raise GramscopeError(f"{folder.name} holds no labelled images. {HOW}")
    return found


def _of_table(path: Path) -> list[tuple[str, Path]]:
    separator = TABLES.get(path.suffix.lower())
    if separator is None:
        raise GramscopeError(f"{path.name} is neither a folder nor a table. {HOW}")
    if cut := cut_note(path):
        raise GramscopeError(f"{cut} Give a shorter table.")
    rows = [row for row in csv.reader(read_lines(path), delimiter=separator) if row]
    if wrong := next((row for row in rows if len(row) < 2 or not row[0].strip() or not row[1].strip()), None):
        raise GramscopeError(
            f"A line of {path.name} has no label: “{separator.join(wrong)}”. "
            "Each line needs a file and a label."
        )
    if _is_heading(rows[0], path.parent):
        rows = rows[1:]
    if not rows:
        raise GramscopeError(f"{path.name} names no images. {HOW}")
    return [(label.strip(), path.parent / file.strip()) for file, label, *_ in rows]


def _is_heading(row: Sequence[str], folder: Path) -> bool:
    file = Path(row[0].strip())
    return file.suffix.lower() not in IMAGES and not (folder / file).exists()
