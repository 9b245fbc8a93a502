"""Pictures whose contamination enters at the input: clean beside contaminated, token by token."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from explorer.analysis import Evaluator
from explorer.errors import GramscopeError, Stopped
from explorer.models.digits import sample_source
from explorer.models.huggingface import open_huggingface
from explorer.models.synthetic import SyntheticSource
from explorer.params import LEVEL_MAX, Input, Params
from explorer.result import Result
from tests.models.conftest import FAMILIES
from tests.test_analysis import same

TEXT = Input(text="11 12 13 14 15 16 17 18 19 20")


def first(params: Params, source: Any, evaluator: Evaluator | None = None) -> Result:
    return next((evaluator or Evaluator())(params, source))


@pytest.fixture(scope="module")
def digits() -> Any:
    return sample_source()


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("models")
    for family in ("bert", "gpt2", "mistral"):
        FAMILIES[family].make().save_pretrained(folder / family)
    return {family: open_huggingface(folder / family) for family in ("bert", "gpt2", "mistral")}


@pytest.mark.parametrize("kind", ["pixel noise", "salt and pepper", "blur", "occlusion", "fgsm", "pgd"])
def test_going_back_restores_the_picture(digits: Any, kind: str) -> None:
    evaluator = Evaluator()
    p = Params(contamination=kind, layer=1, steps=2)
    before = first(p, digits, evaluator)
    dirty = p.but(level=LEVEL_MAX[kind] / 4)
    moved = first(dirty, digits, evaluator)
    assert moved.errors.softmax > 0 and moved.changed.any()
    assert not np.array_equal(moved.image, moved.clean_image)
    np.testing.assert_array_equal(before.image, moved.clean_image)
    assert not before.changed.any() and before.errors.softmax == 0
    assert same(first(p, digits, evaluator), before)
    assert same(first(dirty, digits), moved)


def test_the_clean_run_is_kept(digits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Input] = []
    capture = digits.capture

    def counted(layers: Any, input: Input, *rest: Any) -> Any:
        read.append(input)
        return capture(layers, input, *rest)

    monkeypatch.setattr(digits, "capture", counted)
    evaluator = Evaluator()
    for level in (0.0, 0.1, 0.2, 0.1):
        first(Params(contamination="blur", level=level), digits, evaluator)
    assert [input.change and input.change.level for input in read] == [None, 0.1, 0.2]
    first(Params(contamination="blur", level=0.1, lam=2.0, head=1), digits, evaluator)
    assert len(read) == 3, "another head or λ needs no forward pass"


def test_the_moved_head_is_that_of_the_contaminated_pass(digits: Any) -> None:
    p = Params(contamination="salt and pepper", level=0.2, layer=1, queries="asymmetric", variant="softmax")
    result = first(p, digits)
    changed = Input(change=p.change)
    head = digits.capture([1], changed, result.head.k.device).head(1, 0)
    weights = (head.scale * head.q.double() @ head.k.double().T).softmax(-1)
    np.testing.assert_allclose(result.map, weights.numpy(), atol=1e-9)
    still = digits.capture([1], Input(), result.head.k.device).head(1, 0)
    clean = (still.scale * still.q.double() @ still.k.double().T).softmax(-1) @ still.v.double()
    moved = weights @ head.v.double()
    assert result.errors.softmax == pytest.approx(float((moved - clean).norm() / clean.norm()), rel=1e-6)


def test_s_has_nothing_true_to_be_compared_with(digits: Any) -> None:
    result = first(Params(contamination="blur", level=2.0, queries="symmetric"), digits)
    assert (result.pursuit.precision, result.pursuit.recall) == (None, None)
    assert any("nothing true to be compared with" in note for note in result.notes)


def test_curves_come_from_coarse_to_fine_and_end_whole(digits: Any) -> None:
    p = Params(contamination="occlusion", level=0.1)
    results = list(Evaluator()(p, digits))
    assert results[-1].final and not results[1].final
    known = [np.isfinite(result.curves.mean["softmax"]).sum() for result in results[1:]]
    assert known[:3] == [1, 2, 3] and known[-1] == len(results[-1].curves.levels)
    curves = results[-1].curves
    assert (curves.seeds, curves.seeds_wanted) == (3, 3)
    assert curves.mean["softmax"][0] == 0 and curves.mean["softmax"][-1] > 0
    level = float(curves.levels[6])
    errors = [first(p.but(level=level, seed=seed), digits).errors.softmax for seed in range(3)]
    assert curves.mean["softmax"][6] == pytest.approx(np.mean(errors))


def test_what_is_not_drawn_has_one_seed(digits: Any) -> None:
    *_, result = Evaluator()(Params(contamination="blur", level=1.0), digits)
    assert result.curves.seeds_wanted == 1


def test_curves_stop_and_go_on_where_they_were(digits: Any) -> None:
    evaluator, p = Evaluator(), Params(contamination="occlusion", level=0.1)
    results = evaluator(p, digits)
    for _ in range(6):
        last = next(results)
    known = np.isfinite(last.curves.mean["softmax"]).sum()
    results.close()
    again = first(p.but(level=0.2), digits, evaluator)
    assert np.isfinite(again.curves.mean["softmax"]).sum() == known


def test_a_stop_in_the_middle_of_a_point_is_heard(digits: Any) -> None:
    stopping = False
    results = Evaluator()(Params(contamination="pgd", level=0.1), digits, lambda: stopping)
    next(results)
    next(results)
    stopping = True
    with pytest.raises((Stopped, StopIteration)):
        while True:
            next(results)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
@pytest.mark.parametrize("kind", ["swap", "mask"])
def test_words_change_in_their_places(text: dict[str, Any], family: str, kind: str) -> None:
    p = Params(contamination=kind, level=0.4, input=TEXT, layer=1, seed=2)
    result = first(p, text[family])
    assert result.changed.sum() == 4
    np.testing.assert_array_equal(result.changed, result.clean_changed)
    np.testing.assert_array_equal(result.changed, result.contaminated)
    differ = [a.text != b.text for a, b in zip(result.tokens, result.clean_tokens, strict=True)]
    assert differ == list(result.changed)
    assert result.clean_text == TEXT.text or not result.clean_text
    assert result.errors.softmax > 0


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_tokens_that_are_left_are_compared_with_themselves(text: dict[str, Any], family: str) -> None:
    p = Params(contamination="delete", level=0.3, input=TEXT, layer=1, seed=1, variant="change")
    result = first(p, text[family])
    assert len(result.tokens) == 7 and len(result.clean_tokens) == 10
    assert [result.clean_tokens[i] for i in result.positions] == list(result.tokens)
    assert result.clean_changed.sum() == 3 and not result.changed.any()
    assert not result.clean_changed[result.positions].any()
    shapes = [result.map.shape, result.clean.vectors.shape, result.projection.queries.shape]
    assert [shape[0] for shape in shapes] == [7, 7, 7]
    assert result.errors.softmax_by_token.shape == (7,)
    assert result.clean.rank > result.moved.rank or len(result.clean.log10_values) >= 7
    assert any("3 of 10 tokens are deleted" in note for note in result.notes)


def test_the_view_of_a_query_follows_it(text: dict[str, Any]) -> None:
    p = Params(contamination="delete", level=0.3, input=TEXT, layer=1, query=5)
    for seed in range(6):
        result = first(p.but(seed=seed), text["gpt2"])
        assert result.positions.max() <= 5
        assert result.query == result.positions.max()
        gone = result.query != 5
        assert any("deleted itself" in note for note in result.notes) == gone


def test_a_sliding_window_cannot_be_compared(text: dict[str, Any]) -> None:
    p = Params(contamination="delete", level=0.3, input=TEXT, query=9)
    with pytest.raises(GramscopeError, match="window holds"):
        for seed in range(6):
            first(p.but(seed=seed), text["mistral"])


def test_what_the_source_cannot_take_is_refused(text: dict[str, Any]) -> None:
    with pytest.raises(GramscopeError, match="reads no input"):
        first(Params(contamination="blur", level=1.0), SyntheticSource())
    with pytest.raises(GramscopeError, match="images only"):
        first(Params(contamination="fgsm", level=0.1, input=TEXT), text["bert"])
