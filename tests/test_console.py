"""How what is typed is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.console import given_input
from explorer.params import Input


def test_what_is_there_is_a_path(tmp_path: Path) -> None:
    assert given_input(str(tmp_path), 2) == Input(path=str(tmp_path), index=2)


@pytest.mark.parametrize("words", [1, 60, 1000, 100_000])
def test_a_text_of_any_length_is_a_text(words: int) -> None:
    text = " ".join(["words"] * words)
    assert given_input(text) == Input(text=text)


def test_nothing_is_the_built_in_input() -> None:
    assert given_input("") == Input()
