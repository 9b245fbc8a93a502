"""Numbers from a CSV file, as spreadsheets and data frames write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LINES = 4096
"""Read at a time: in between, the window's thread gets its turn."""


def read_csv(path: Path) -> Floats:
    """Return the numbers of a CSV file, shape (n, d).

    Separated by tabs, semicolons (numbers may have decimal commas then), commas or blanks. A first line
    without any number names the columns and is left out, and so are lines that begin with #. Where the first
    name is empty, the first column numbers the rows, as a data frame's index does, and is left out too.

    Raises
    ------
    ValueError
        If a cell holds no number, or lines differ in length.
    """
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise ValueError("there are no numbers in it")
    separator = next((mark for mark in ("\t", ";", ",") if mark in lines[0]), None)
    names = [cell.strip(' "') for cell in lines[0].split(separator)]
    indexed = names[0] == "" and len(names) > 1
    if separator == ";":
        lines = [line.replace(",", ".") for line in lines]
    begin = int(indexed or not any(map(_is_number, lines[0].split(separator))))
    blocks = [
        np.loadtxt(lines[i : i + LINES], delimiter=separator, ndmin=2, quotechar='"', dtype=np.float64)
        for i in range(begin, len(lines), LINES)
    ]
    if not blocks:
        raise ValueError("there is nothing under the names of its columns")
    return np.concatenate(blocks)[:, int(indexed) :]


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip(' "'))
    except ValueError:
        return False
    return True
