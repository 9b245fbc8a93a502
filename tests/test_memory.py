"""A head whose N × N matrices do not fit is refused in a sentence, before any of them is made."""

from __future__ import annotations

import pytest

from explorer import stages
from explorer.analysis import Evaluator
from explorer.errors import GramscopeError
from explorer.models.base import Source
from explorer.models.recipes import Recipe
from explorer.models.synthetic import SyntheticSource
from explorer.overview import Overviewer
from explorer.params import Params
from tests.sources import FixedSource

TOKENS = 300
NEEDED = 8 * 8 * TOKENS**2
SOURCES = {
    "raw heads": FixedSource(tokens=TOKENS),
    "masked heads": FixedSource(tokens=TOKENS, causal=True),
    "synthetic": SyntheticSource(Recipe(tokens=TOKENS)),
}


@pytest.fixture(params=SOURCES.values(), ids=SOURCES)
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Source:
    monkeypatch.setattr("explorer.models.memory.free_bytes", lambda device: NEEDED - 1)
    return request.param


def nothing(*_: object, **__: object) -> None:
    pytest.fail("it was computed")


def test_a_picture_that_does_not_fit_is_refused(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "key_gram", nothing)
    with pytest.raises(
        GramscopeError, match=r"300 tokens.* needs about 5.8 MB of memory, and 5.8 MB are free"
    ):
        next(Evaluator()(Params(), source))


def test_an_overview_that_does_not_fit_is_refused(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "prepare", nothing)
    with pytest.raises(GramscopeError, match="300 tokens"):
        list(Overviewer()(Params(), source))


def test_what_an_early_query_sees_may_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.models.memory.free_bytes", lambda device: NEEDED - 1)
    result = next(Evaluator()(Params(query=TOKENS - 2), SOURCES["masked heads"]))
    assert len(result.tokens) == TOKENS - 1


def test_a_drag_asks_for_no_more_than_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate, source = Evaluator(), FixedSource(tokens=TOKENS)
    next(evaluate(Params(), source))
    monkeypatch.setattr("explorer.models.memory.free_bytes", lambda device: 0)
    assert next(evaluate(Params(level=0.1), source)).params.level == 0.1
