from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.errors import Stopped
from explorer.maths import response as module
from explorer.maths.contamination import contaminate
from explorer.maths.outputs import Convention, errors, head_outputs
from explorer.maths.response import Response, breakdown, crossings, response
from tests.maths.strategies import draw

PUBLISHED = Convention("published", "symmetric", width=32, lam=4.0)


def clustered_head(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Return keys and values of six clusters: 128 tokens, D = 32, unit deviation, values a rotation."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 1.5, (6, 32))
    k = centres[rng.integers(0, 6, 128)] + rng.normal(0, 0.3, (128, 32))
    k /= k.std()
    rotation, _ = np.linalg.qr(rng.normal(size=(32, 32)))
    return torch.from_numpy(k), torch.from_numpy(k @ rotation)


def last(head: int = 0, **options: object) -> Response:
    k, v = clustered_head(head)
    settings = {"kind": "sparse", "magnitude": 10.0, "levels": [0.0, 0.02, 0.1, 0.2], "seeds": range(5)}
    return list(response(k, k, v, 32**-0.5, PUBLISHED, **{**settings, **options}))[-1]  # type: ignore[arg-type]


def test_rpc_helps_the_clustered_head_at_small_levels_and_breaks_down_later() -> None:
    found = last()
    softmax, rpc = (found.band(name)[0].tolist() for name in ("softmax", "rpc"))
    assert softmax[0] == rpc[0] == 0
    assert rpc[1] < softmax[1] / 3
    assert 0.1 < softmax[1] < 0.3
    outcome = breakdown(found.levels.tolist(), softmax, rpc)
    assert outcome.outcome == "at a level"
    assert outcome.level is not None and 0.05 < outcome.level < 0.2


def test_measured_errors_are_ordinary_among_heads_and_seeds() -> None:
    measured = {"softmax": (0.177, 0.247), "rpc": (0.033, 0.401)}
    responses = [last(head, levels=[0.02, 0.1]).curves for head in range(12)]
    for name, values in measured.items():
        low, high = torch.cat([curves[name] for curves in responses]).quantile(
            torch.tensor([0.05, 0.95], dtype=torch.float64), dim=0
        )
        assert (low < torch.tensor(values)).all() and (torch.tensor(values) < high).all(), (name, low, high)


def test_contaminated_values_undo_the_advantage() -> None:
    clean, dirty = last(), last(contaminate_values=True)
    assert dirty.band("rpc")[0][1] > 10 * clean.band("rpc")[0][1]
    assert dirty.band("rpc")[0][1] > dirty.band("softmax")[0][1]


def test_every_point_is_what_one_head_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    q, k, v = draw(0, 12, 6), draw(1, 12, 6), draw(2, 12, 6)
    levels, seeds = [0.0, 0.1, 0.3], [3, 8]
    for queries, both in (("symmetric", False), ("asymmetric", True)):
        convention = Convention("pcp", queries, width=6)  # type: ignore[arg-type]
        whole = []
        for limit in (1, 300, 1 << 22):
            monkeypatch.setattr(module, "_BATCH_WEIGHTS", limit)
            steps = list(
                response(
                    q, k, v, 0.4, convention, kind="tokens", levels=levels, magnitude=4.0,
                    seeds=seeds, contaminate_values=both,
                )
            )  # fmt: skip
            assert [step.done for step in steps] == sorted({step.done for step in steps})
            assert steps[-1].done == 6
            whole.append(steps[-1].curves)
            if limit == 1:
                assert len(steps) == 6
                assert int(steps[2].curves["rpc"].isnan().sum()) == 3
        clean = head_outputs(q, k, v, 0.4, convention)
        for i, seed in enumerate(seeds):
            for j, level in enumerate(levels):
                keys = contaminate(k, "tokens", level, 4.0, seed).values
                values = contaminate(v, "tokens", level, 4.0, seed).values if both else v
                expected = errors(clean, head_outputs(q, keys, values, 0.4, convention))
                for curves in whole:
                    for name, error in expected.items():
                        torch.testing.assert_close(curves[name][i, j], error)


def test_it_stops_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH_WEIGHTS", 1)
    k = draw(0, 12, 6)
    asked: list[int] = []

    def enough() -> bool:
        asked.append(1)
        return len(asked) > 2

    options = {"kind": "sparse", "levels": [0.1, 0.2, 0.3], "magnitude": 3.0, "seeds": [0]}
    steps = []
    with pytest.raises(Stopped):
        for step in response(k, k, k, 0.4, Convention("pcp", "symmetric", 6), **options, should_stop=enough):  # type: ignore[arg-type]
            steps.append(step)
    assert len(steps) == 2
    assert steps[0].curves["softmax"].isnan().sum() == 2


def test_a_head_without_rpc_has_three_curves() -> None:
    k, v = draw(0, 12, 6), draw(1, 12, 4)
    options = {"kind": "gaussian", "levels": [0.0, 0.5], "magnitude": 1.0, "seeds": [0, 1]}
    steps = list(response(k, k, v, 0.4, Convention("pcp", "symmetric", 6), **options))  # type: ignore[arg-type]
    assert set(steps[-1].curves) == {"softmax", "uniform", "clipped"}


def test_the_band_leaves_out_what_is_not_there_yet() -> None:
    nan = math.nan
    curves = {"rpc": torch.tensor([[1.0, 2.0, nan], [3.0, nan, nan]])}
    mean, low, high = Response(torch.tensor([0.0, 0.1, 0.2]), curves, 3).band("rpc")
    assert (
        mean[:2].tolist() == [2.0, 2.0] and low[:2].tolist() == [1.0, 2.0] and high[:2].tolist() == [3.0, 2.0]
    )
    assert mean.isnan()[2] and low.isnan()[2] and high.isnan()[2]


LEVELS = [0.0, 0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize(
    ("softmax", "rpc", "outcome", "level", "crossed"),
    [
        ([0, 1, 1, 1, 1], [0, 0.5, 0.5, 0.5, 0.9], "never", None, []),
        ([0, 1, 1, 1, 1], [0, 2, 2, 2, 2], "at once", None, []),
        ([0, 1, 1, 1, 1], [0, 0, 0, 2, 2], "at a level", 0.25, [0.25]),
        ([0, 1, 1, 1, 1], [0, 2, 0, 0, 4], "at a level", 0.325, [0.15, 0.325]),
        ([0, 1, 1, 1, 1], [0, 2, 2, 0, 0], "never", None, [0.25]),
        ([0, 1, 1, 1, 1], [0, 0, 1, 2, 2], "at a level", 0.2, [0.2]),
        ([0, 1, 1, 1, 1], [0, 0, 1, 1, 0], "never", None, []),
        ([0, 1, 1, 1, 1], [0, 1, 1, 1, 1], "never", None, []),
        ([0, 0, 0, 0, 0], [0, 0, 0, 0, 1], "at once", None, []),
        ([math.nan] * 5, [0, 1, 1, 1, 1], "unknown", None, []),
        ([0, 1, 1, math.nan, 1], [0, 0, 0, math.nan, 2], "at a level", 0.3, [0.3]),
    ],
)
def test_breakdown(
    softmax: list[float], rpc: list[float], outcome: str, level: float | None, crossed: list[float]
) -> None:
    found = breakdown(LEVELS, softmax, rpc)
    assert found.outcome == outcome
    assert found.level == (None if level is None else pytest.approx(level))
    assert crossings(LEVELS, softmax, rpc) == pytest.approx(tuple(crossed))


numbers = st.lists(st.floats(-3, 3).map(lambda x: round(x, 1)), min_size=5, max_size=5)


@given(numbers, numbers)
@settings(deadline=None)
def test_between_crossings_the_order_stays(a: list[float], b: list[float]) -> None:
    found = crossings(LEVELS, a, b)
    assert list(found) == sorted(found) and all(0 <= x <= 0.4 for x in found)
    assert crossings(LEVELS, b, a) == pytest.approx(found)
    signs = [s for s in np.sign(np.subtract(a, b)) if s]
    changes = sum(x != y for x, y in pairwise(signs))
    assert len(found) == changes
