from __future__ import annotations

import pytest
import torch

from explorer.errors import GramscopeError
from explorer.maths.evidence_draws import Draws
from explorer.models.controls import ControlSource, prescribed_values, source_of
from explorer.models.recipes import CONTROL_NAMES, Recipe, Values
from explorer.params import Input
from explorer.report.collect import evidence
from explorer.report.layer import LayerEvidence

CPU = torch.device("cpu")
EXACT, ROTATED, MAPPED, SHUFFLED, GAUSSIAN, PROJECTED = range(6)
BY_VALUE = {
    "overlap": 1, "linear_cka_axes": 1, "kernel_cka_axes": 1, "cosine_axes": 1,
    "frobenius_procrustes_axes": 0, "gamma_relative": 0, "gamma_angle": 0,
}  # fmt: skip


def measured(draws: Draws, layers: range = range(5), index: int = 0) -> list[LayerEvidence]:
    found = evidence(ControlSource(), Input(index=index), layers, device=CPU, draws=draws)
    return [layer for layer in found if layer.complete]


@pytest.fixture(scope="module")
def by_noise() -> list[LayerEvidence]:
    return measured(Draws(cheap=60, costly=2), range(1)) + measured(Draws(cheap=1, costly=1), range(1, 5))


def accepted(layer: LayerEvidence, head: int) -> set[str]:
    """Measures whose value is the one of V* itself, within 1 % (of 90 degrees for the angle)."""
    near = {key: 0.9 if key == "gamma_angle" else 0.01 for key in BY_VALUE}
    return {key for key, ideal in BY_VALUE.items() if abs(layer.measure(key)[head] - ideal) < near[key]}


def test_v_star_is_accepted_by_all(by_noise: list[LayerEvidence]) -> None:
    assert accepted(by_noise[0], EXACT) == set(BY_VALUE)


def test_rotated_v_star_is_accepted_by_what_rotation_leaves_alone(by_noise: list[LayerEvidence]) -> None:
    assert accepted(by_noise[0], ROTATED) == {
        "overlap", "linear_cka_axes", "kernel_cka_axes", "frobenius_procrustes_axes",
    }  # fmt: skip


def test_a_general_map_of_v_star_is_accepted_by_overlap_alone(by_noise: list[LayerEvidence]) -> None:
    assert accepted(by_noise[0], MAPPED) == {"overlap"}


@pytest.mark.parametrize("key", BY_VALUE)
def test_every_measure_falls_with_the_noise(by_noise: list[LayerEvidence], key: str) -> None:
    toward = -1 if BY_VALUE[key] else 1
    figures = [toward * layer.measure(key)[EXACT] for layer in by_noise]
    assert figures == sorted(figures)
    assert abs(figures[-1] - figures[0]) > 0.2


@pytest.mark.parametrize("index", range(3))
def test_gaussian_values_are_accepted_by_no_measure_under_any_null(index: int) -> None:
    (layer,) = measured(Draws(cheap=60, costly=10), range(1), index)
    assert not accepted(layer, GAUSSIAN)
    for null, drawn in layer.draws.items():
        for key in drawn:
            assert layer.scores(null, key).z[GAUSSIAN] < 4, (null, key)
    assert "closer to the column space" not in layer.verdict(GAUSSIAN)


def test_the_nulls_tell_the_controls_apart(by_noise: list[LayerEvidence]) -> None:
    clean = by_noise[0]
    shuffled, projected = (clean.scores(null, "overlap").z for null in ("permutation", "projection"))
    for head in (EXACT, ROTATED, MAPPED):
        assert shuffled[head] > 10
        assert projected[head] > 10
    assert abs(shuffled[SHUFFLED]) < 4
    assert shuffled[PROJECTED] > 5
    assert abs(projected[PROJECTED]) < 4
    assert "no evidence that the learned value matrix makes them V*" in clean.verdict(PROJECTED)
    assert "closer to the column space of V*" in clean.verdict(MAPPED)


def test_the_values_are_linear_maps_of_the_input() -> None:
    capture = ControlSource().capture([0, 4], Input(), CPU)
    for heads in capture.layers.values():
        assert torch.allclose(heads.x @ heads.w_v.mT, heads.v)
        assert heads.q.shape == (6, 128, 32)


def test_the_noise_is_chosen_and_the_seed_counts() -> None:
    source = ControlSource(noise=(0.5,))
    assert source.layers == 1
    first, again, other = (source.capture([0], Input(index=i), CPU).layers[0].v for i in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    clean = ControlSource(noise=(0.0,)).capture([0], Input(), CPU).layers[0].v[EXACT]
    noise = first[EXACT] - clean
    assert float(noise.square().mean() / clean.square().mean()) ** 0.5 == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("values", CONTROL_NAMES)
def test_one_kind_alone_has_heads_with_keys_of_their_own(values: Values) -> None:
    source = source_of(Recipe(values=values, tokens=48, dim=8))
    layer = source.capture([0], Input(), CPU).layers[0]
    assert source.layers == 1 and layer.k.shape == (source.heads, 48, 8)
    assert torch.allclose(layer.x @ layer.w_v.mT, layer.v)
    assert len({tuple(keys.flatten().tolist()) for keys in layer.k}) == source.heads
    for keys, found in zip(layer.k, layer.v, strict=True):
        star = prescribed_values(keys, layer.scale)
        assert torch.allclose(found, star) == (values == "exact")


def test_noise_on_v_star_is_of_the_size_that_the_recipe_says() -> None:
    exact, noisy = (
        source_of(Recipe(values="exact", value_noise=size)).capture([0], Input(), CPU).layers[0].v
        for size in (0.0, 0.5)
    )
    assert float((noisy - exact).square().mean().sqrt()) == pytest.approx(0.5, rel=0.05)


def test_facts_name_each_head_and_layer() -> None:
    facts = ControlSource().facts
    assert facts["head 0"] == "V*, exactly"
    assert facts["layer 0"] == "noise 0 of V*'s size"


def test_impossible_controls_are_refused() -> None:
    with pytest.raises(GramscopeError, match="at least one noise size"):
        ControlSource(noise=())
    with pytest.raises(GramscopeError, match="There is no layer 9"):
        ControlSource().capture([9], Input(), CPU)
