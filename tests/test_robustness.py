"""What takes a while, from a result's head: the same numbers as the picture's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.analysis import Evaluator
from explorer.detail import support_scores
from explorer.errors import GramscopeError
from explorer.maths.rpc import pap
from explorer.models.digits import sample_source
from explorer.models.recipes import Recipe
from explorer.models.synthetic import SyntheticSource
from explorer.params import LEVEL_MAX, Params
from explorer.result import Result
from explorer.robustness import LAMS, LEVELS, exact, head_of, lams, levels, phase_maps, sweeps
from tests.sources import FixedSource

SMALL = Recipe(tokens=24, dim=8, components=3)


def picture(source: SyntheticSource | FixedSource | None = None, **params: object) -> Result:
    return next(Evaluator()(Params(**params), source or SyntheticSource(SMALL)))


def test_the_decomposition_is_the_pursuits() -> None:
    result = picture(level=0.1, lam=3.0, iterations=5)
    found, head = result.decomposition, result.head
    assert found.low.shape == found.sparse.shape == (5, 24, 8)
    keys = torch.from_numpy(found.keys)
    went = pap(
        keys, keys, head.v, head.scale, form="published", queries="symmetric", width=8, lam=3.0,
        iterations=5, trace=True,
    )  # fmt: skip
    np.testing.assert_allclose(found.low, went.trace_low, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.sparse, went.trace_sparse, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.keys - found.added, head.k, rtol=1e-12, atol=1e-12)
    assert (found.added[~found.hit] == 0).all() and (found.added[found.hit] != 0).all()
    left = found.keys - found.low[-1] - found.sparse[-1]
    residual = np.linalg.norm(left) / np.linalg.norm(found.keys)
    assert result.pursuit.residuals[-1] == pytest.approx(residual)
    assert support_scores(found.sparse[-1], found.hit) == pytest.approx(
        (result.pursuit.precision, result.pursuit.recall)
    )


def test_a_clean_head_has_nothing_added() -> None:
    found = picture().decomposition
    assert (found.added == 0).all() and not found.hit.any()
    assert np.isnan(support_scores(found.sparse[-1], found.hit)).all()


def test_values_of_another_width_have_no_decomposition() -> None:
    result = picture(FixedSource(value_dim=6), level=0.1)
    assert result.decomposition is None
    with pytest.raises(GramscopeError, match="as wide as"):
        next(phase_maps(result.head, "sparse", result.params))
    with pytest.raises(GramscopeError, match="as wide as"):
        next(sweeps(result.head, result.params))


@pytest.mark.parametrize("form", ["published", "pcp"])
def test_the_grid_has_the_forms_default(form: str) -> None:
    result = picture(form=form)
    found = lams(result.head, result.params)
    assert len(found) == LAMS and found == sorted(found)
    assert found[LAMS // 2] == pytest.approx(result.pursuit.lam, rel=5e-3)
    assert found[0] == pytest.approx(found[10] / 16, rel=5e-3)


@pytest.mark.parametrize("kind", list(LEVEL_MAX))
def test_the_levels_are_on_the_slider(kind: str) -> None:
    found = levels(Params(contamination=kind))
    assert len(found) == LEVELS and found[0] > 0 and found[-1] < LEVEL_MAX[kind]
    np.testing.assert_allclose(np.diff(found), LEVEL_MAX[kind] / LEVELS, atol=1e-6)


def test_a_cell_of_the_phase_diagram_is_the_picture_at_it() -> None:
    base = picture(seed=4)
    *_, phase = phase_maps(base.head, "sparse", base.params)
    assert phase.done == phase.wanted == LAMS * LEVELS * 5
    i, j = 10, 7
    own, other = [], []
    for seed in range(4, 9):
        errors = picture(lam=float(phase.lams[i]), level=float(phase.levels[j]), seed=seed).errors
        own.append(np.log10(errors.softmax / errors.rpc))
        other.append(np.log10(errors.softmax / errors.rpc_to_softmax))
    assert phase.own[i, j] == pytest.approx(np.mean(own))
    assert phase.to_softmax[i, j] == pytest.approx(np.mean(other))


def test_the_sweep_is_the_picture_at_each_penalty() -> None:
    base = picture(level=0.1)
    *_, sweep = sweeps(base.head, base.params)
    for i in (4, 20, 25):
        went = picture(level=0.1, lam=float(sweep.lams[i])).pursuit
        assert sweep.recall[i] == pytest.approx(went.recall)
        assert sweep.cut[i] == pytest.approx(went.cut)


def test_exact_pcp_finds_a_low_rank_part_and_what_was_added() -> None:
    source = SyntheticSource(Recipe(kind="low-rank", tokens=96, dim=64, components=2, noise=0.0))
    result = picture(source, level=0.03)
    *_, last = exact(result.head, result.params)
    assert last.converged and last.residual <= 1e-5 and last.lam == pytest.approx(96**-0.5)
    np.testing.assert_allclose(last.sparse, result.decomposition.added, atol=1e-2)
    np.testing.assert_allclose(last.low, result.head.k, atol=1e-2)


def test_exact_pcp_takes_the_penalty_where_it_means_the_same() -> None:
    base = picture()
    assert next(exact(base.head, Params(form="pcp", lam=0.3))).lam == 0.3
    assert next(exact(base.head, Params(form="published", lam=0.3))).lam == pytest.approx(24**-0.5)
    assert len(list(exact(base.head, base.params, lambda: True))) == 1


@pytest.mark.parametrize("queries", ["symmetric", "asymmetric"])
def test_keys_of_a_contaminated_input_are_taken_apart_as_they_were_read(queries: str) -> None:
    digits = sample_source()
    p = Params(contamination="salt and pepper", level=0.2, layer=1, queries=queries, iterations=2)
    result = next(Evaluator()(p, digits))
    head = head_of(result)
    np.testing.assert_allclose(head.k, result.decomposition.keys)
    assert not np.allclose(head.k, result.head.k)
    *_, last = exact(head, p)
    assert last.converged
    np.testing.assert_allclose(last.low + last.sparse, result.decomposition.keys, atol=1e-3)
    *_, sweep = sweeps(head, p)
    assert np.isnan(sweep.precision).all() and np.isnan(sweep.recall).all()
    i = 22
    went = next(Evaluator()(p.but(lam=float(sweep.lams[i])), digits)).pursuit
    assert sweep.cut[i] == pytest.approx(went.cut) and 0 < went.cut < 1
