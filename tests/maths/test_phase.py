"""The phase diagram agrees with single points, grows from coarse to fine, and stops when asked."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import explorer.maths.phase as phase_module
from explorer.errors import Stopped
from explorer.maths.contamination import contaminate
from explorer.maths.outputs import Convention, head_outputs, relative_error
from explorer.maths.phase import Phase, coarse_to_fine, phase_diagram
from explorer.params import Queries

LEVELS, LAMS, SEEDS = [0.0, 0.05, 0.2], [1.0, 2.0, 4.0, 6.0, 8.0], [0, 7]


def heads() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 16, 4, generator=draw, dtype=torch.float64)
    return q, k, v


def diagram(queries: Queries = "symmetric", values: bool = False) -> list[Phase]:
    q, k, v = heads()
    rule = Convention(form="published", queries=queries, width=4)
    return list(
        phase_diagram(
            q, k, v, 0.5, rule, kind="sparse", levels=LEVELS, lams=LAMS, magnitude=8.0, seeds=SEEDS,
            contaminate_values=values,
        )
    )  # fmt: skip


@pytest.mark.parametrize("queries", ["symmetric", "asymmetric"])
@pytest.mark.parametrize("values", [False, True])
def test_a_point_is_what_it_would_be_alone(queries: Queries, values: bool) -> None:
    phase = diagram(queries, values)[-1]
    q, k, v = heads()
    for s, seed in enumerate(SEEDS):
        for i, lam in enumerate(LAMS):
            rule = Convention(form="published", queries=queries, width=4, lam=lam)
            clean = head_outputs(q, k, v, 0.5, rule)
            for j, level in enumerate(LEVELS):
                keys = contaminate(k, "sparse", level, 8.0, seed).values
                moved_v = contaminate(v, "sparse", level, 8.0, seed).values if values else v
                moved = head_outputs(q, keys, moved_v, 0.5, rule)
                own = relative_error(moved.rpc.output, clean.rpc.output)
                other = relative_error(moved.rpc.output, clean.softmax)
                torch.testing.assert_close(phase.rpc[s, i, j], own, rtol=1e-9, atol=1e-12)
                torch.testing.assert_close(phase.rpc_to_softmax[s, i, j], other, rtol=1e-9, atol=1e-12)
                soft = relative_error(moved.softmax, clean.softmax)
                torch.testing.assert_close(phase.softmax[s, j], soft, rtol=1e-9, atol=1e-12)


def test_it_grows_from_coarse_to_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phase_module, "_BATCH_WEIGHTS", 4 * 16 * 16)
    whole = diagram()[-1]
    monkeypatch.setattr(phase_module, "_BATCH_WEIGHTS", 1)
    steps = diagram()
    points = [torch.isfinite(step.rpc).nonzero().tolist() for step in steps]
    assert points[0] == [[0, 0, 0]]
    assert points[1] == [[0, 0, 0], [0, 4, 0]]
    assert points[4] == [[0, 0, 0], [0, 0, 2], [0, 2, 0], [0, 2, 2], [0, 4, 0]]
    assert [step.done for step in steps] == [(i + 1) / 30 for i in range(30)]
    torch.testing.assert_close(steps[-1].rpc, whole.rpc, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(steps[-1].softmax, whole.softmax, rtol=1e-9, atol=1e-12)


@given(st.integers(1, 40), st.integers(1, 40))
def test_the_order_has_every_point_once(rows: int, columns: int) -> None:
    order = coarse_to_fine(rows, columns)
    assert sorted(order) == [(i, j) for i in range(rows) for j in range(columns)]
    assert order[0] == (0, 0)


def test_the_margin_says_who_is_better() -> None:
    phase = diagram()[-1]
    margin = phase.margin()
    assert torch.isnan(margin[:, 0]).all(), "nothing moves at level 0"
    means = (phase.rpc / phase.softmax[:, None]).log10().mean(0)
    torch.testing.assert_close(margin[:, 1:], means[:, 1:])


def test_it_stops_when_asked() -> None:
    q, k, v = heads()
    rule = Convention(form="published", queries="symmetric", width=4)
    steps = phase_diagram(
        q, k, v, 0.5, rule, kind="sparse", levels=LEVELS, lams=LAMS, magnitude=8.0, seeds=SEEDS,
        should_stop=lambda: True,
    )  # fmt: skip
    with pytest.raises(Stopped):
        next(steps)
