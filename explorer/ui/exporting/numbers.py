"""The numbers behind pictures: CSV and JSON, which say what they are of."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.ui.exporting.figure import Numbers


def csv_bytes(parts: Sequence[Numbers]) -> bytes:
    """Return one table a part, parted by an empty line, each under comment lines that begin with "#".

    Floats have the digits that give the same float again; an empty cell stands where there is no number.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for index, part in enumerate(parts):
        if index:
            text.write("\n")
        for line in part.about.lines():
            text.write(f"# {line.replace(chr(10), ' ')}\n")
        names, columns = part.table
        writer.writerow(names)
        writer.writerows(zip(*([_cell(value) for value in column] for column in columns), strict=True))
    return text.getvalue().encode()


def json_bytes(parts: Sequence[Numbers]) -> bytes:
    """Return the same as JSON: a list of tables, each with what it is of; null where there is no number."""
    tables = []
    for part in parts:
        names, columns = part.table
        values = {
            name: [_value(value) for value in column] for name, column in zip(names, columns, strict=True)
        }
        about = part.about
        tables.append(
            {
                "program": f"Gramscope {about.version}",
                "of": about.what,
                "source": about.source,
                "parameters": json.loads(about.params),
                "computed": about.computed,
                "columns": values,
            }
        )
    return json.dumps(tables, ensure_ascii=False, indent=1, allow_nan=False).encode()


def _cell(value: Any) -> str:
    plain = _value(value)
    return "" if plain is None else repr(plain) if isinstance(plain, float) else str(plain)


def _value(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and math.isnan(plain) else plain
