from __future__ import annotations

import os

import numpy as np
import pytest

from explorer.errors import GramscopeError
from explorer.lab import rows
from explorer.lab.rows import load_covariance, load_rows


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
        ("a,b\n", "table of numbers"),
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
    with pytest.raises(GramscopeError, match="nothing at"):
        load_rows(str(tmp_path / "absent.npy"), False)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "tokens.csv")
    with pytest.raises(GramscopeError, match="pipe"):
        load_rows(str(tmp_path / "tokens.csv"), False)


@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_numbers_that_cannot_be_squared_are_told(tmp_path, table, factor):
    np.save(tmp_path / "tokens.npy", table * factor)
    np.save(tmp_path / "sigma.npy", np.eye(2) * factor)
    with pytest.raises(GramscopeError, match="another unit"):
        load_rows(str(tmp_path / "tokens.npy"), False)
    with pytest.raises(GramscopeError, match="another unit"):
        load_covariance(str(tmp_path / "sigma.npy"))


def test_more_numbers_than_fit_are_refused_before_they_are_copied(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "MOST_NUMBERS", 10)
    monkeypatch.setattr(rows, "LARGEST_TEXT", 10)
    np.save(tmp_path / "tokens.npy", np.zeros((4, 3), dtype=np.int8))
    (tmp_path / "tokens.csv").write_text("1,2,3\n4,5,6\n")
    with pytest.raises(GramscopeError, match="12 numbers"):
        load_rows(str(tmp_path / "tokens.npy"), False)
    with pytest.raises(GramscopeError, match="Save it as NPY"):
        load_rows(str(tmp_path / "tokens.csv"), False)


@pytest.mark.parametrize("dtype", ["U3", "c16", "M8[s]", [("a", "f8")]])
def test_what_is_no_number_is_told(tmp_path, dtype):
    np.save(tmp_path / "tokens.npy", np.zeros((3, 2), dtype=dtype))
    with pytest.raises(GramscopeError, match="table of numbers"):
        load_rows(str(tmp_path / "tokens.npy"), False)
