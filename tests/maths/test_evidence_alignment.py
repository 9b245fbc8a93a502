from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.maths.evidence import prescribed
from explorer.maths.evidence_alignment import (
    SCALINGS,
    Target,
    column_basis,
    cosines,
    costly_measures,
    linear_measures,
    rbf_kernel,
)
from explorer.maths.gram import eigenpairs, key_gram

DATA = Path(__file__).parents[1] / "data"


def target_of(k: Tensor, width: int) -> Target:
    gram = key_gram(k, k.shape[-1] ** -0.5)
    return prescribed(gram, eigenpairs(gram), width)


def measure(v: Tensor, target: Target) -> dict[str, float]:
    return {key: float(x) for key, x in (linear_measures(v, target) | costly_measures(v, target)).items()}


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


@pytest.mark.parametrize("head", ["l0h0", "l2h5", "l5h11"])
def test_the_reproduction_study_on_a_real_encoder(head: str) -> None:
    data = np.load(DATA / "reproduction_minilm.npz")
    k, v = (torch.from_numpy(data[f"{head}_{name}"]).double() for name in "kv")
    found = measure(v, target_of(k, 32))
    assert found["linear_cka_unit"] == pytest.approx(float(data[f"{head}_linear_cka"]), abs=1e-4)
    assert found["kernel_cka_unit"] == pytest.approx(float(data[f"{head}_kernel_cka"]), abs=1e-4)
    assert found["frobenius_unit"] == pytest.approx(float(data[f"{head}_relative_frobenius"]), abs=1e-4)


def test_the_scaling_decides() -> None:
    data = np.load(DATA / "reproduction_minilm.npz")
    k, v = (torch.from_numpy(data[f"l5h11_{name}"]).double() for name in "kv")
    found = measure(v, target_of(k, 32))
    assert found["linear_cka_unit"] == pytest.approx(0.2025, abs=5e-5)
    assert found["linear_cka_axes"] == pytest.approx(0.0793, abs=5e-5)


@pytest.mark.parametrize("case", range(3))
def test_the_reference_values(case: int) -> None:
    data = np.load(DATA / "reference_small.npz")
    k, v = (torch.from_numpy(data[f"{name}{case}"]) for name in "kv")
    found = measure(v, target_of(k, v.shape[-1]))
    for key in ("overlap", "linear_cka_unit", "linear_cka_axes"):
        assert found[key] == pytest.approx(float(data[f"{key}{case}"]), abs=1e-9)


def test_measures_against_their_textbook_forms() -> None:
    k, v = random(20, 5), random(20, 5, seed=1)
    target = target_of(k, 5)
    found = measure(v, target)
    star = target.star[1] * target.log_size[1].exp()
    centre = torch.eye(20, dtype=torch.float64) - 1 / 20

    def alignment(a: Tensor, b: Tensor) -> float:
        a, b = centre @ a @ centre, centre @ b @ centre
        return float((a * b).sum() / (a.norm() * b.norm()))

    def rbf(x: Tensor) -> Tensor:
        distances = torch.cdist(x, x).square()
        return torch.exp(-distances / (2 * np.median(distances[distances > 1e-12])))

    assert found["linear_cka_axes"] == pytest.approx(alignment(v @ v.T, star @ star.T), rel=1e-10)
    assert found["kernel_cka_axes"] == pytest.approx(alignment(rbf(v), rbf(star)), rel=1e-9)
    assert found["frobenius_axes"] == pytest.approx(float((v - star).norm() / v.norm()), rel=1e-10)
    scale = float((v * star).sum() / star.square().sum())
    assert found["frobenius_scaled_axes"] == pytest.approx(
        float((v - scale * star).norm() / v.norm()), rel=1e-10
    )
    u, s, w = torch.linalg.svd(star.T @ v)
    turned = star @ u @ w * (s.sum() / star.square().sum())
    assert found["frobenius_procrustes_axes"] == pytest.approx(
        float((v - turned).norm() / v.norm()), rel=1e-9
    )
    q1, q2 = (torch.linalg.qr(centre @ x)[0] for x in (v, star))
    assert found["overlap"] == pytest.approx(
        float(torch.linalg.svdvals(q1.T @ q2).square().mean()), rel=1e-10
    )


@pytest.mark.parametrize("scaling", SCALINGS)
def test_v_star_is_accepted_by_every_measure(scaling: str) -> None:
    target = target_of(random(30, 6), 6)
    star = target.star[SCALINGS.index(scaling)]
    found = measure(3 * star, target)
    for key in ("overlap", f"linear_cka_{scaling}", f"kernel_cka_{scaling}", f"cosine_{scaling}"):
        assert found[key] == pytest.approx(1, abs=1e-9)
    assert found[f"frobenius_scaled_{scaling}"] < 1e-9
    assert found[f"frobenius_procrustes_{scaling}"] < 1e-7
    assert found["gamma_relative"] < 1e-7


def test_measures_see_only_what_they_should() -> None:
    target, v = target_of(random(30, 6), 6), random(30, 6, seed=2)
    rotation, general = column_basis(random(7, 6, seed=3))[0][:6], random(6, 6, seed=4)
    rotation = torch.linalg.qr(rotation)[0]
    plain, turned, mapped = (measure(x, target) for x in (v, 5 * v @ rotation, v @ general))
    for key in plain:
        if key.startswith(("overlap", "linear", "kernel", "frobenius_procrustes")):
            assert turned[key] == pytest.approx(plain[key], abs=1e-9), key
        elif not key.startswith("frobenius"):
            assert abs(turned[key] - plain[key]) > 1e-4, key
        if key.startswith("overlap"):
            assert mapped[key] == pytest.approx(plain[key], abs=1e-9), key
        elif not key.startswith("frobenius"):
            assert abs(mapped[key] - plain[key]) > 1e-4, key


def test_dependent_and_dead_columns_do_not_count() -> None:
    target, v = target_of(random(30, 6), 6), random(30, 6, seed=2)
    v[:, 2] = 0
    v[:, 4] = v[:, 0] - 2 * v[:, 1]
    expected = column_basis(v[:, [0, 1, 3, 5]])[0]
    basis, _, rank = column_basis(v)
    assert int(rank) == 4
    assert torch.allclose(basis @ basis.T, expected @ expected.T, atol=1e-12)
    assert 0 < float(linear_measures(v, target)["overlap"]) < 1


def test_fewer_tokens_than_columns() -> None:
    found = measure(random(5, 8, seed=1), target_of(random(5, 8), 8))
    assert found["overlap"] == pytest.approx(1)  # both fill the 4 dimensions there are
    assert all(np.isfinite(list(found.values())))


def test_duplicate_tokens_are_not_in_the_median() -> None:
    x = random(4, 3)
    doubled = torch.cat([x, x])
    distances = torch.cdist(doubled, doubled).square()
    kernel = torch.exp(-distances / (2 * np.median(distances[distances > 1e-12])))
    centred = kernel - kernel.mean(0) - kernel.mean(1, keepdim=True) + kernel.mean()
    assert torch.allclose(rbf_kernel(doubled), centred / centred.norm(), atol=1e-12)


def test_a_batch_equals_its_heads_and_draws_are_a_batch() -> None:
    k, v = random(3, 20, 5), random(3, 20, 5, seed=1)
    target = target_of(k, 5)
    together = linear_measures(v, target) | costly_measures(v, target)
    for head in range(3):
        alone = measure(v[head], target_of(k[head], 5))
        for key, value in alone.items():
            assert float(together[key][head]) == pytest.approx(value, rel=1e-9, abs=1e-12), key
    draws = random(7, 20, 5, seed=2)
    many = linear_measures(draws, target[1]) | costly_measures(draws, target[1])
    for key, value in measure(draws[4], target[1]).items():
        assert float(many[key][4]) == pytest.approx(value, rel=1e-9, abs=1e-12), key


@pytest.mark.parametrize("factor", [1e-3, 10.0, 100.0])
def test_any_size_of_keys_gives_finite_numbers(factor: float) -> None:
    found = measure(random(30, 6, seed=1), target_of(random(30, 6) * factor, 6))
    assert all(np.isfinite(list(found.values()))), found


@pytest.mark.parametrize("decades", [0, 12])
def test_the_median_is_of_all_distances_that_are_not_zero_however_long_other_rows_are(decades: int) -> None:
    x = random(30, 4) * torch.logspace(0, -decades, 30, dtype=torch.float64)[:, None]
    x[20] = x[10]
    squares = (x[:, None] - x).square().sum(-1).numpy()
    pairs = squares[np.triu_indices(30, 1)]
    kernel = torch.from_numpy(np.exp(-squares / (2 * np.median(pairs[pairs > 0]))))
    centred = kernel - kernel.mean(0) - kernel.mean(1, keepdim=True) + kernel.mean()
    assert torch.allclose(rbf_kernel(x), centred / centred.norm(), atol=1e-12)


def test_what_all_rows_share_costs_the_distances_no_digits() -> None:
    x = random(30, 4)
    assert torch.allclose(rbf_kernel(x + 1e6), rbf_kernel(x), atol=1e-8)


def test_a_cosine_is_one_however_short_the_rows() -> None:
    values, star = random(9, 4, seed=1), random(9, 4, seed=2)
    decades = torch.logspace(0, -300, 9, dtype=torch.float64)[:, None]
    for short, plain in zip(cosines(values, star * decades), cosines(values, star), strict=True):
        assert float(short) == pytest.approx(float(plain), rel=1e-12)


def test_keys_that_occur_twice_are_no_distance() -> None:
    once = random(15, 5)
    star = target_of(torch.cat([once, once]), 5).star[0]
    squares = (star[:, None] - star).square().sum(-1)
    apart = squares[:15, :15].numpy()[np.triu_indices(15, 1)]
    kernel = torch.exp(-squares / (2 * np.median(apart)))
    centred = kernel - kernel.mean(0) - kernel.mean(1, keepdim=True) + kernel.mean()
    assert torch.allclose(rbf_kernel(star), centred / centred.norm(), atol=1e-9)


def test_a_dead_head_is_undefined_and_leaves_its_neighbours_alone() -> None:
    k, v = random(3, 20, 5), random(3, 20, 5, seed=1)
    k[0], v[2] = 1, 0
    together = costly_measures(v, target_of(k, 5))
    alone = measure(v[1], target_of(k[1], 5))
    for key, values in together.items():
        assert float(values[1]) == pytest.approx(alone[key], rel=1e-9, abs=1e-12), key
    for key in ("kernel_cka_unit", "frobenius_scaled_unit", "frobenius_procrustes_axes"):
        assert together[key][[0, 2]].isnan().all(), key
