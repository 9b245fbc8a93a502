from __future__ import annotations

import numpy as np
import pytest

from explorer.errors import GramscopeError
from explorer.lab.rows import load_rows


@pytest.fixture
def table(rng=None):
    return np.random.default_rng(0).normal(size=(20, 3))


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
@pytest.mark.parametrize("heading", ["", "a{0}b{0}c\n"])
def test_csv_is_read_as_people_write_it(tmp_path, table, separator, heading):
    path = tmp_path / "tokens.csv"
    lines = "\n".join(separator.join(f"{x:.17g}" for x in row) for row in table)
    path.write_text("\ufeff" + heading.format(separator) + lines + "\n\n", encoding="utf-8")
    np.testing.assert_allclose(load_rows(str(path), False), table - table.mean(0), atol=1e-15)


def test_npy_is_read(tmp_path, table):
    np.save(tmp_path / "tokens.npy", table.astype(np.float32))
    found = load_rows(str(tmp_path / "tokens.npy"), False)
    np.testing.assert_allclose(found, table - table.mean(0), atol=1e-6)


def test_digits_and_their_rank():
    assert load_rows("", False).shape == (1797, 64)
    white = load_rows("", True)
    assert white.shape == (1797, 61)
    np.testing.assert_allclose(white.T @ white / 1797, np.eye(61), atol=1e-9)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a,b\n1,x\n2,3\n", "table of numbers"),
        ("1,2\n3\n", "table of numbers"),
        ("", "table of numbers"),
        ("1,nan\n2,3\n", "not finite"),
        ("1,2\n", "shape"),
        ("5,5\n5,5\n", "equal"),
    ],
)
def test_what_is_no_table_is_told_in_a_sentence(tmp_path, content, says):
    path = tmp_path / "tokens.csv"
    path.write_text(content)
    with pytest.raises(GramscopeError, match=says):
        load_rows(str(path), False)


def test_a_pickle_is_not_opened(tmp_path):
    path = tmp_path / "tokens.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(GramscopeError, match="table of numbers"):
        load_rows(str(path), False)
    with pytest.raises(GramscopeError, match="table of numbers"):
        load_rows(str(tmp_path / "absent.npy"), False)
