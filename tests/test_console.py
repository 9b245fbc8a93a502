"""How what is typed is read."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.console import given_input, real, whole
from explorer.params import Input


def test_what_is_there_is_a_path(tmp_path: Path) -> None:
    assert given_input(str(tmp_path), 2) == Input(path=str(tmp_path), index=2)


@pytest.mark.parametrize("words", [1, 60, 1000, 100_000])
def test_a_text_of_any_length_is_a_text(words: int) -> None:
    text = " ".join(["words"] * words)
    assert given_input(text) == Input(text=text)


def test_nothing_is_the_built_in_input() -> None:
    assert given_input("") == Input()


@pytest.mark.parametrize(
    ("reads", "text", "said"),
    [
        (whole(1), "0", "0 is not allowed: give a number at least 1"),
        (whole(0, 9), "10", "10 is not allowed: give a number from 0 to 9"),
        (real(0), "nan", "nan is not allowed"),
        (real(0), "inf", "inf is not allowed"),
        (real(0, 0.5), "7", "7 is not allowed: give a number from 0 to 0.5"),
    ],
)
def test_numbers_beyond_a_range_are_refused_with_it(
    reads: Callable[[str], float], text: str, said: str
) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=said):
        reads(text)


def test_numbers_within_a_range_are_read() -> None:
    assert whole(1, 3)("3") == 3 and real(0, 0.5)("0.5") == 0.5
