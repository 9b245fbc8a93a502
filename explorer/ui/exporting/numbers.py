"""The numbers behind pictures: CSV and JSON, which say what they are of."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import Stopped
from explorer.ui.exporting.figure import Numbers

Progress = Callable[[int, int, str], None]
ShouldStop = Callable[[], bool]

PIECE = 50_000
"""Numbers that are written at a stretch; between two pieces others have their turn."""
PER_SECOND = 1_000_000
"""How many numbers are written in a second, about."""


def count(parts: Sequence[Numbers]) -> int:
    """Return how many numbers there are."""
    return sum(len(column) for part in parts for column in part.table[1])


def encode(
    parts: Sequence[Numbers],
    kind: str,
    progress: Progress = lambda done, total, what: None,
    should_stop: ShouldStop = lambda: False,
) -> bytes:
    """Return the tables of panels as a file of `kind`, "csv" or "json", holds them.

    CSV: one table a part, parted by an empty line, each under comment lines that begin with "#"; an empty
    cell stands where there is no number. JSON: a list of tables, each with what it is of; null where there is
    no number; what is infinite is a string, as JSON has no such number. Floats have the digits that give the
    same float again.

    Raises
    ------
    Stopped
        `should_stop` said so.
    """
    total, done = count(parts), 0
    data = io.BytesIO()
    for text, numbers in (_csv if kind == "csv" else _json)(parts):
        if should_stop():
            raise Stopped
        data.write(text.encode())
        done += numbers
        progress(done, total, f"writing {total:,} numbers".replace(",", " "))
    return data.getvalue()


def _csv(parts: Sequence[Numbers]) -> Iterator[tuple[str, int]]:
    for index, part in enumerate(parts):
        names, columns = part.table
        lines = [f"# {line.replace(chr(10), ' ')}\n" for line in part.about.lines()]
        yield "\n" * bool(index) + "".join(lines) + _rows([names]), 0
        rows = max(PIECE // max(len(columns), 1), 1)
        for first in range(0, max(map(len, columns), default=0), rows):
            piece = [list(map(_cell, _plain(column[first : first + rows]))) for column in columns]
            yield _rows(zip(*piece, strict=True)), sum(map(len, piece))


def _rows(rows: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _json(parts: Sequence[Numbers]) -> Iterator[tuple[str, int]]:
    for index, part in enumerate(parts):
        about = part.about
        head = {
            "program": f"Gramscope {about.version}",
            "of": about.what,
            "source": about.source,
            "parameters": json.loads(about.params),
            "computed": about.computed,
        }
        yield ("," if index else "[") + f'\n{_text(head)[:-1]}, "columns": {{', 0
        for place, (name, column) in enumerate(zip(*part.table, strict=True)):
            yield f"{',' if place else ''}\n {_text(name)}: [", 0
            for first in range(0, len(column), PIECE):
                piece = list(map(_item, _plain(column[first : first + PIECE])))
                yield f"{', ' if first else ''}{_text(piece)[1:-1]}", len(piece)
            yield "]", 0
        yield "}}", 0
    yield "\n]\n", 0


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _plain(column: list[str] | NDArray[Any]) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _cell(value: Any) -> str:
    plain = _value(value)
    return "" if plain is None else repr(plain) if isinstance(plain, float) else str(plain)


def _item(value: Any) -> Any:
    plain = _value(value)
    return str(plain) if isinstance(plain, float) and math.isinf(plain) else plain


def _value(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and math.isnan(plain) else plain
