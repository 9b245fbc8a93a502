"""CSV files as people and their programs write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explorer.lab.csv_table import LINES, read_csv

NUMBERS = [[1.5, 2], [-3, 4e2]]


@pytest.mark.parametrize(
    "text",
    [
        "1.5,2\n-3,4e2\n",
        "a,b\n1.5,2\n-3,400\n",
        '"a","b"\n"1.5","2"\n"-3","4e2"\n',
        "# of last week\na,b\n1.5,2\n# and more\n-3,400\n",
        ",a,b\n0,1.5,2\n1,-3,400\n",
        ",0,1\n0,1.5,2\n1,-3,400\n",
        "a;b\n1,5;2\n-3;400,0\n",
        "1,5;2,0\n-3;400\n",
        "a\tb\n1.5\t2\n-3\t400\n",
        "1.5 2\n  -3   400\n",
        "a,b\r\n1.5,2\r\n\r\n-3,400\r\n",
    ],
)
def test_the_same_numbers(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode())
    np.testing.assert_array_equal(read_csv(path), NUMBERS)


def test_names_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes("Größe,b\n1.5,2\n-3,400\n".encode("latin-1"))
    np.testing.assert_array_equal(read_csv(path), NUMBERS)


@pytest.mark.parametrize(
    "text", ["1,\n3,4\n", "1,x\n3,4\n", "a,b\n", "# nothing\n", "a,b\n1,2\nc,d\n", "1,2\n3\n", "0x1,2\n3,4\n"]
)
def test_no_line_is_dropped_in_silence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"."):
        read_csv(path)


def test_long_files(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("\n".join(f"{i},{-i}" for i in range(2 * LINES + 5)))
    np.testing.assert_array_equal(read_csv(path)[:, 0], np.arange(2 * LINES + 5))
