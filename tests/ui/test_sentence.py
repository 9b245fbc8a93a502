"""The sentence under the panels claims no more than its numbers show."""

from __future__ import annotations

from dataclasses import replace

from explorer.ui.sentence import number, sentence
from tests.views import factory


def said(rpc: float, rpc_to_softmax: float, uniform: float) -> str:
    result = factory.text(level=0.1)
    assert result.errors is not None
    errors = replace(result.errors, softmax=0.6, rpc=rpc, rpc_to_softmax=rpc_to_softmax, uniform=uniform)
    return sentence(replace(result, errors=errors, clean_tokens=result.tokens))


def test_an_output_that_ignores_the_keys_is_named() -> None:
    assert said(3e-4, 0.52, 0.52) == (
        "RPC is closer to its own clean output than softmax is (3.0e-04 against 0.600); from softmax's clean "
        "output RPC is 0.520 away, no nearer than the mean of the values (0.520), which ignores the keys."
    )


def test_one_that_is_nearer_is_not() -> None:
    assert said(0.3, 0.4, 0.52).endswith("from softmax's clean output RPC is 0.400 away.")


def test_what_differs_in_no_digit_shown_is_not_called_closer() -> None:
    assert said(0.60001, 0.7, 0.8).startswith("RPC and softmax are as far from their clean outputs (0.600);")


def test_digits_are_as_many_in_each_number_and_zeros_count() -> None:
    assert [number(value) for value in (0.76, 0.594, 1.0, 12.34, 123.4, 0.0)] == [
        "0.760", "0.594", "1.00", "12.3", "123", "0",
    ]  # fmt: skip
