"""Differences are of like with like, or refused in a sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.comparison import difference, label_of, numbers, pinned, rows, why_no_difference
from explorer.session import Origin
from tests.views import factory


def test_the_difference_is_the_present_less_the_pinned() -> None:
    before, now = factory.text(seed=0), factory.text(seed=1, level=0.2)
    assert not why_no_difference(before, now)
    assert difference(before, now) == pytest.approx(now.map - before.map)
    row = next(row for row in rows(before, now) if row.name == "e_softmax")
    assert row.difference == pytest.approx(now.errors.softmax - before.errors.softmax)


def test_where_tokens_differ_there_is_no_number() -> None:
    before, now = factory.text(), factory.text()
    other = list(now.tokens)
    other[2] = factory.Token("other")
    found = difference(before, replace(now, tokens=tuple(other)))
    assert np.isnan(found[2]).all() and np.isnan(found[:, 2]).all()
    assert np.isfinite(np.delete(np.delete(found, 2, 0), 2, 1)).all()


@pytest.mark.parametrize(
    ("now", "word"),
    [(factory.text(10), "14 tokens and this one 10"), (factory.text(variant="change"), "not of one kind")],
)
def test_what_cannot_be_subtracted_is_refused_in_a_sentence(now, word: str) -> None:
    assert word in why_no_difference(factory.text(), now)


def test_softmax_and_rpc_can_be_subtracted() -> None:
    assert not why_no_difference(factory.text(), factory.text(variant="rpc"))


def test_a_reference_keeps_no_tensors_and_says_what_it_is() -> None:
    reference = pinned(factory.text(level=0.1, layer=2, head=3), Origin())
    assert reference.result.head is None and reference.result.decomposition is None
    assert reference.label == "sample · layer 2 head 3 · sparse 10 %"
    assert label_of(factory.text(level=0.0)).endswith("clean")


def test_numbers_without_pursuit_are_missing_not_wrong() -> None:
    found = numbers(replace(factory.text(), pursuit=None, errors=None))
    assert np.isnan([found["e_RPC"], found["residual"]]).all() and found["tokens"] == 14


def test_even_attention_has_entropy_one() -> None:
    even = replace(factory.text(), map=np.full((14, 14), 1 / 14))
    assert numbers(even)["entropy of the map"] == pytest.approx(1.0)
