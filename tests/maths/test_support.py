"""Precision and recall over λ are those of each λ alone, and behave at the ends."""

from __future__ import annotations

import pytest
import torch

import explorer.maths.support as support_module
from explorer.errors import Stopped
from explorer.maths.contamination import contaminate
from explorer.maths.outputs import Convention, attend_rpc, support_scores
from explorer.maths.support import SupportSweep, support_sweep
from explorer.params import Form

LAMS = [1e-6, 0.5, 1.0, 2.0, 4.0, 8.0, 1e6]


def sweep(form: Form = "published", level: float = 0.1, **how: object) -> tuple[list[SupportSweep], list]:
    draw = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 16, 4, generator=draw, dtype=torch.float64)
    moved = contaminate(k, "sparse", level, 8.0, 0)
    rule = Convention(form=form, queries="symmetric", width=4)
    steps = list(support_sweep(q, moved.values, v, 0.5, rule, moved.hit, lams=LAMS, **how))
    alone = []
    for lam in LAMS:
        one = Convention(form=form, queries="symmetric", width=4, lam=lam)
        sparse = attend_rpc(q, moved.values, v, 0.5, one).sparse
        alone.append((float((sparse != 0).double().mean()), *support_scores(sparse, moved.hit)))
    return steps, alone


@pytest.mark.parametrize("form", ["published", "pcp"])
def test_a_point_is_what_it_would_be_alone(form: Form) -> None:
    steps, alone = sweep(form)
    last = steps[-1]
    assert last.done == len(LAMS)
    for i, (cut, precision, recall) in enumerate(alone):
        assert float(last.cut[i]) == pytest.approx(cut)
        assert float(last.recall[i]) == pytest.approx(recall)
        if precision is None:
            assert torch.isnan(last.precision[i])
        else:
            assert float(last.precision[i]) == pytest.approx(precision)


def test_a_small_penalty_takes_everything_and_a_large_one_nothing() -> None:
    last = sweep()[0][-1]
    assert float(last.cut[0]) == pytest.approx(1.0) and float(last.recall[0]) == pytest.approx(1.0)
    assert float(last.cut[-1]) == 0 and float(last.recall[-1]) == 0
    assert torch.isnan(last.precision[-1]), "an empty support has no precision"


def test_without_contamination_there_is_no_score() -> None:
    last = sweep(level=0.0)[0][-1]
    assert torch.isnan(last.precision).all() and torch.isnan(last.recall).all()
    assert torch.isfinite(last.cut).all()


def test_it_grows_batch_by_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support_module, "_BATCH_WEIGHTS", 1)
    steps = sweep()[0]
    assert [step.done for step in steps] == [1, 2, 3, 4, 5, 6, 7]
    assert torch.isnan(steps[0].cut[1:]).all()


def test_it_stops_when_asked() -> None:
    with pytest.raises(Stopped):
        sweep(should_stop=lambda: True)
