from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.maths.evidence import Evidence, measure_heads, standardised
from explorer.maths.evidence_draws import Draws, measure_draws, nulls_of
from explorer.maths.evidence_names import MEASURES
from explorer.maths.evidence_nulls import LayerInput

DATA = Path(__file__).parents[1] / "data"
CHEAP = {measure.key for measure in MEASURES if not measure.costly}


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def attend(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    group = len(q) // len(k)
    k, v = (x.repeat_interleave(group, 0).double() for x in (k, v))
    return (q.double() @ k.mT * scale).softmax(-1) @ v


def measured(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None) -> Evidence:
    scale = scale or k.shape[-1] ** -0.5
    return measure_heads(q, k, v, attend(q, k, v, scale), scale)[0]


def numbers(evidence: Evidence) -> dict[str, np.ndarray]:
    parts = {
        "measures": evidence.measures, "projections": evidence.projections, "norms": evidence.norms,
        "health": evidence.health, **{f"gamma {name}": part for name, part in evidence.gamma.items()},
        **{f"spectra {name}": part for name, part in evidence.spectra.items()},
    }  # fmt: skip
    return {f"{name} {key}": value for name, part in parts.items() for key, value in part.items()}


@pytest.mark.parametrize("case", range(3))
def test_both_projection_errors_of_the_reference(case: int) -> None:
    data = np.load(DATA / "reference_small.npz")
    q, k, v = (torch.from_numpy(data[f"{name}{case}"])[None] for name in "qkv")
    found = measured(q, k, v)
    projections = found.projections
    true = 10 ** projections["log10_error_axes"][0]
    learned = projections["sign_error_learned"][0] * 10 ** projections["log10_error_learned"][0]
    assert true == pytest.approx(float(data[f"error_true_axes{case}"]), abs=1e-9)
    assert learned == pytest.approx(float(data[f"error_learned{case}"]), abs=1e-9)
    np.testing.assert_allclose(10 ** found.norms["phi"][0], data[f"phi_norm2{case}"], rtol=1e-9)
    np.testing.assert_allclose(
        10 ** found.spectra["keys"]["log10_values"][0, : k.shape[-1]], data[f"eigenvalues{case}"], rtol=1e-9
    )
    assert 0 < projections["error_share"][0] < 1


def test_every_measure_is_there() -> None:
    found = measured(random(2, 12, 4), random(2, 12, 4, seed=1), random(2, 12, 3, seed=2))
    assert found.measures.keys() == {measure.key for measure in MEASURES}


def test_query_heads_share_their_key_head() -> None:
    q, k, v = random(6, 15, 4), random(2, 15, 4, seed=1), random(2, 15, 4, seed=2)
    shared = measured(q, k, v)
    repeated = measured(q, k.repeat_interleave(3, 0), v.repeat_interleave(3, 0))
    assert shared.measures["overlap"].shape == (2,)
    for key, figures in repeated.projections.items():
        np.testing.assert_allclose(shared.projections[key], figures, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(shared.measures["overlap"].repeat(3), repeated.measures["overlap"], rtol=1e-9)


def test_standardised_keys_have_no_mean_and_unit_deviation() -> None:
    keys = standardised(random(3, 7, 16) * 5 + 2)
    assert torch.allclose(keys.mean(-1), torch.zeros(3, 7, dtype=torch.float64), atol=1e-12)
    assert torch.allclose(keys.std(-1), torch.ones(3, 7, dtype=torch.float64))
    k = random(1, 7, 16) * 5
    spectra = measured(k, k, k).spectra
    again = measured(standardised(k), standardised(k), k).spectra
    np.testing.assert_allclose(
        spectra["standardised"]["log10_values"], again["keys"]["log10_values"], rtol=1e-7
    )


def test_the_eigenvectors_pass_their_own_gamma_test() -> None:
    found = measured(random(1, 30, 6), random(1, 30, 6, seed=1), random(1, 30, 6, seed=2))
    assert found.gamma["eigenvectors"]["relative_mean"].max() < 1e-8
    assert found.gamma["learned"]["relative_mean"].min() > 0.1


def test_eigenvectors_under_the_tolerance_are_not_tested() -> None:
    found = measured(random(1, 9, 12), random(1, 9, 12, seed=1), random(1, 9, 12, seed=2))
    spread, rank = found.gamma["eigenvectors"]["relative_mean"][0], int(found.spectra["keys"]["rank"][0])
    assert rank == 8
    assert np.isfinite(spread[:rank]).all() and np.isnan(spread[rank:]).all()


@pytest.mark.parametrize("factor", [1e-3, 1.0, 10.0, 100.0])
def test_no_size_of_keys_gives_anything_but_numbers(factor: float) -> None:
    q, k, v = random(2, 20, 6), random(2, 20, 6, seed=1) * factor, random(2, 20, 6, seed=2)
    for name, figures in numbers(measured(q * factor, k, v)).items():
        if "log10_values" in name or "gamma eigenvectors" in name:
            figures = figures[..., 0]  # what is under the tolerance is not a number on purpose
        assert np.isfinite(figures).all(), (name, figures)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_measured_as_the_same_numbers_in_float64(dtype: torch.dtype) -> None:
    q, k, v = (12 * random(2, 20, 6, seed=seed).to(dtype) for seed in range(3))
    assert not torch.isfinite(torch.exp(k @ k.mT * 0.5).half()).all()  # what raw exponentials would give
    half, double = measured(q, k, v, 0.5), measured(q.double(), k.double(), v.double(), 0.5)
    for (name, mine), theirs in zip(numbers(half).items(), numbers(double).values(), strict=True):
        np.testing.assert_array_equal(mine, theirs, err_msg=name)
        assert np.isfinite(mine[..., 0]).all(), name


def test_draws_are_reproducible_and_counted() -> None:
    k, v, x, w_v = random(1, 20, 4), random(1, 20, 4, seed=1), random(20, 9, seed=2), random(4, 9, seed=3)
    _, target = measure_heads(k, k, v, v, 0.5)
    nulls = nulls_of(v[0], LayerInput.of(x), w_v)
    assert list(nulls) == ["permutation", "gaussian", "projection", "rotation"]
    for draw in nulls.values():
        found = measure_draws(draw, target[0], Draws(30, 5, seed=4), (1, 2))
        assert found.keys() == {measure.key for measure in MEASURES}
        for key, figures in found.items():
            assert figures.shape == (30 if key in CHEAP else 5,), key
            assert np.isfinite(figures).all()
        again = measure_draws(draw, target[0], Draws(30, 5, seed=4), (1, 2))
        other = measure_draws(draw, target[0], Draws(30, 5, seed=4), (1, 3))
        assert (again["overlap"] == found["overlap"]).all()
        assert (other["overlap"] != found["overlap"]).any()


def test_nulls_that_need_the_input_are_absent_without_it() -> None:
    v, x = random(20, 4), LayerInput.of(random(20, 9))
    assert list(nulls_of(v, None, None)) == ["permutation", "gaussian"]
    assert list(nulls_of(v, x, None)) == ["permutation", "gaussian", "projection"]


def test_memory_does_not_grow_with_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many draws are asked for, only a block of them is in memory at a time."""
    import explorer.maths.evidence_draws as module

    k = random(1, 20, 4)
    _, target = measure_heads(k, k, k, k, 0.5)
    sizes = []

    def draw(count: int, rng: np.random.Generator) -> Tensor:
        sizes.append(count)
        return random(count, 20, 4)

    monkeypatch.setattr(module, "BLOCK_BYTES", 32 * 20 * 4 * 10)
    measure_draws(draw, target[0], Draws(cheap=95, costly=0))
    assert sizes == [10] * 9 + [5]


def test_a_key_of_equal_features_is_standardised_to_nothing() -> None:
    k = torch.randn(2, 12, 4, dtype=torch.float64)
    k[0], k[1, 3] = 1, 0
    found = standardised(k)
    assert found.isfinite().all() and (found[0] == 0).all() and (found[1, 3] == 0).all()
    evidence, _ = measure_heads(k, k, k, k, 0.5)
    assert evidence.spectra["standardised"]["rank"][0] == 0 < evidence.spectra["standardised"]["rank"][1]
