"""One picture: what it must say, and that the way to it does not matter."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import torch

from explorer import stages
from explorer.analysis import Evaluator
from explorer.errors import GramscopeError, Stopped
from explorer.maths.attention import attention
from explorer.models.synthetic import SyntheticSource
from explorer.params import Input, Params
from explorer.result import Result
from tests.sources import FixedSource


def last(evaluator: Evaluator, params: Params, source: Any) -> Result:
    *_, result = evaluator(params, source)
    assert result.final
    return result


def same(a: Any, b: Any) -> bool:
    """Whether two results hold the same bits, but for the time they took."""
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and torch.equal(a, b)
    if hasattr(a, "__dataclass_fields__") and not isinstance(a, Params):
        return all(
            same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.name != "milliseconds"
        )
    if isinstance(a, dict):
        return all(same(a[key], b[key]) for key in a)
    return a == b or (a != a and b != b)


def test_nothing_moves_without_contamination() -> None:
    result = last(Evaluator(), Params(), SyntheticSource())
    assert result.errors.softmax == result.errors.rpc == 0
    assert not result.contaminated.any()
    np.testing.assert_array_equal(result.projection.queries, result.projection.moved_queries)


def test_the_error_rises_and_going_back_restores_the_same_picture() -> None:
    evaluator, source = Evaluator(), SyntheticSource()
    before = last(evaluator, Params(), source)
    moved = last(evaluator, Params(level=0.1), source)
    after = last(evaluator, Params(), source)
    assert moved.errors.softmax > 0.05
    assert same(before, after)


def test_the_order_of_clicks_does_not_matter() -> None:
    source = SyntheticSource()
    wanted = Params(level=0.2, form="pcp", contamination="tokens", seed=4)
    straight = last(Evaluator(), wanted, source)
    evaluator = Evaluator()
    for params in (
        Params(level=0.4),
        wanted.but(level=0.1),
        Params(queries="asymmetric"),
        wanted.but(seed=5),
    ):
        next(evaluator(params, source))
    assert same(last(evaluator, wanted, source), straight)


def test_a_drag_is_warm_started_and_exact_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "CHEAP", 16)
    source, evaluator = SyntheticSource(), Evaluator()
    last(evaluator, Params(), source)
    first, second, *_ = evaluator(Params(level=0.05), source)
    assert not first.moved.exact and not first.final
    assert second.moved.exact
    straight = last(Evaluator(), Params(level=0.05), source)
    assert same(second.moved, straight.moved)
    again = next(evaluator(Params(level=0.05, lam=3.0), source))
    assert again.moved.exact, "what is known exactly is not warm-started again"


def test_a_lambda_needs_no_forward_pass() -> None:
    source, evaluator = FixedSource(), Evaluator()
    last(evaluator, Params(level=0.1), source)
    last(evaluator, Params(level=0.1, lam=2.0), source)
    last(evaluator, Params(level=0.2, head=3), source)
    assert source.captures == 1
    last(evaluator, Params(layer=1), source)
    last(evaluator, Params(layer=1, input=Input(index=1)), source)
    assert source.captures == 3


def test_by_token_errors_have_the_error_as_their_root_mean_square() -> None:
    result = last(Evaluator(), Params(level=0.1), SyntheticSource())
    for total, each in (
        (result.errors.softmax, result.errors.softmax_by_token),
        (result.errors.rpc, result.errors.rpc_by_token),
    ):
        assert np.sqrt((each**2).mean()) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("query", [None, 5, 0])
def test_a_causal_head_is_seen_from_one_query(query: int | None) -> None:
    source = FixedSource(causal=True)
    result = last(Evaluator(), Params(query=query, queries="asymmetric"), source)
    seen = 12 if query is None else query + 1
    assert result.query == (11 if query is None else query)
    assert list(result.positions) == list(range(seen))
    assert result.map.shape == (seen, seen)
    assert np.isnan(result.map[np.triu_indices(seen, 1)]).all()
    assert any("masked" in note.lower() for note in result.notes)


def test_the_projection_is_attention_with_v_star_for_the_chosen_query() -> None:
    source = FixedSource(causal=True, dtype=torch.float64)
    whole = source.capture([0], Input(), torch.device("cpu")).head(0, 0)
    head = stages.prepare(whole, 7)
    clean = stages.clean(head, symmetric=False)
    p = Params(queries="asymmetric")
    projected = stages.projection(clean, stages.leave(clean), p)
    full = attention(head.q, head.k, clean.vstar, head.scale, head.mask)[-1, :2]
    mine = projected.queries[-1] * 10**projected.log10_unit
    np.testing.assert_allclose(mine, full.numpy() * np.exp(clean.log_scale), rtol=1e-9)


def test_values_of_another_width_leave_softmax_alone() -> None:
    result = last(Evaluator(), Params(level=0.2), FixedSource(value_dim=6))
    assert result.pursuit is None
    assert result.errors.softmax > 0
    assert np.isnan(result.errors.rpc)
    assert any("Dv = 6" in note for note in result.notes)
    assert result.curves.outcome == "unknown"


def test_grouped_queries_name_the_key_head() -> None:
    result = last(Evaluator(), Params(head=3), FixedSource(key_heads=2))
    assert any("served by key head 1" in note for note in result.notes)


def test_a_capped_head_says_that_its_kernel_is_another() -> None:
    source = FixedSource(change=lambda heads: replace(heads, softcap=2.0))
    result = last(Evaluator(), Params(), source)
    assert not result.plain_kernel
    assert any("kernel is not exp(τ x·y)" in note for note in result.notes)


@pytest.mark.parametrize("tokens", [1, 2, 3])
@pytest.mark.parametrize("variant", ["softmax", "rpc", "difference", "change", "gram", "model"])
def test_tiny_heads_give_a_picture(tokens: int, variant: Any) -> None:
    result = last(Evaluator(), Params(variant=variant, level=0.3), FixedSource(tokens=tokens))
    assert result.map.shape == (tokens, tokens)
    assert np.isfinite(result.map).all()


def test_identical_keys_have_no_spectrum_and_no_projection() -> None:
    source = FixedSource(change=lambda heads: replace(heads, k=torch.ones_like(heads.k)))
    result = last(Evaluator(), Params(), source)
    assert result.clean.rank == 0
    assert len(result.clean.log10_values) == 0
    assert result.projection is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_checkpoints_are_computed_wide(dtype: torch.dtype) -> None:
    result = last(Evaluator(), Params(level=0.1), FixedSource(dtype=dtype))
    assert result.dtype == "float64"
    assert np.isfinite(result.map).all()


def test_an_absent_device_is_named() -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    with pytest.raises(GramscopeError, match="no CUDA device"):
        next(Evaluator()(Params(device="cuda"), SyntheticSource()))


def test_stopping_before_the_first_picture() -> None:
    with pytest.raises(Stopped):
        next(Evaluator()(Params(), SyntheticSource(), lambda: True))


def test_curves_grow_and_are_taken_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.maths.response._BATCH_WEIGHTS", 25 * 128 * 128)
    evaluator, source = Evaluator(), SyntheticSource()
    steps = evaluator(Params(level=0.1), source)
    next(steps)
    seeds = next(steps).curves.seeds
    assert seeds == 1
    assert next(evaluator(Params(level=0.2), source)).curves.seeds == 1, "the curves of a drag are kept"
    result = last(evaluator, Params(level=0.2), source)
    assert result.curves.seeds == result.curves.seeds_wanted == 5
    at = np.searchsorted(result.curves.levels, 0.2)
    assert result.curves.low["softmax"][at - 1] <= result.errors.softmax * 1.5


def test_the_leading_axes_hold_the_shown_ones_and_none_below_the_tolerance() -> None:
    source = FixedSource(tokens=12, dim=8, layers=1, heads=1, key_heads=1)
    result = next(Evaluator()(Params(axes=(2, 1), level=0.1), source))
    shown = result.projection
    assert shown is not None
    assert shown.leading is not None
    drawn = (shown.queries, shown.keys, shown.moved_queries, shown.moved_keys)
    for four, two in zip(shown.leading, drawn, strict=True):
        assert np.array_equal(four[:, [2, 1]], two)
    assert shown.leading.shape[2] <= len(result.clean.log10_values)
