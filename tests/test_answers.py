"""Which layers a person means, and how they are written back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.answers import Answer, layers_in_words, parse_layers
from explorer.errors import GramscopeError


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        ("first layer", (0,)),
        ("this layer", (2,)),
        ("all layers", (0, 1, 2, 3, 4, 5)),
        ("0, 3-5", (0, 3, 4, 5)),
        ("3 – 5;0", (0, 3, 4, 5)),
        (" 4 4 1", (1, 4)),
    ],
)
def test_layers_are_read_as_typed(text: str, layers: tuple[int, ...]) -> None:
    assert parse_layers(text, 6, this=2) == layers


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("6", "0 to 5"), ("2-9", "0 to 5"), ("4-2", "0 to 5"), ("", "Type"), ("one", "names no layer")],
)
def test_what_cannot_be_read_is_named(text: str, sentence: str) -> None:
    with pytest.raises(GramscopeError, match=sentence):
        parse_layers(text, 6, this=0)


@given(st.sets(st.integers(0, 9), min_size=1).map(lambda layers: tuple(sorted(layers))))
def test_what_is_written_is_read_again(layers: tuple[int, ...]) -> None:
    words = layers_in_words(layers, 11)
    assert parse_layers(words.replace("layers", "").replace("layer", ""), 11, this=0) == layers


def test_all_and_one() -> None:
    assert layers_in_words((0, 1, 2), 3) == "all layers"
    assert layers_in_words((0,), 1) == "layer 0"


def test_the_best_answer_of_an_embedding_is_none() -> None:
    assert Answer((), np.empty(0), cosine=0.5).best == ""
    assert Answer(("a", "b"), np.array([0.2, 0.8])).best == "b"
