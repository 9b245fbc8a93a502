"""Attacks stay inside their budget, raise the loss, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor, nn

from explorer.maths.attack import Loss, fgsm, pgd

Attack = Callable[[Loss, Tensor, float], Tensor]
ATTACKS: dict[str, Attack] = {
    "fgsm": fgsm,
    "fgsm with a start": partial(fgsm, start=0.5),
    "pgd": partial(pgd, steps=5),
}
EACH = pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
IMAGES = (
    st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(2, 5), st.integers(2, 5))
    .flatmap(lambda shape: arrays("float32", shape, elements=st.floats(0, 1, width=32)))
    .map(torch.from_numpy)
)


def model(x: Tensor) -> nn.Module:
    torch.manual_seed(0)
    size = x[0].numel()
    return nn.Sequential(nn.Flatten(), nn.Linear(size, 16), nn.Tanh(), nn.Linear(16, 4)).to(x)


def losses(net: nn.Module) -> Loss:
    return lambda x: nn.functional.cross_entropy(
        net(x), torch.zeros(len(x), dtype=torch.long), reduction="none"
    )


def images(*shape: int) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(1))


@EACH
@settings(deadline=None, max_examples=40)
@given(x=IMAGES, epsilon=st.floats(1e-6, 1.0))
def test_it_stays_inside_the_budget_exactly(attack: Attack, x: Tensor, epsilon: float) -> None:
    moved = attack(losses(model(x)), x, epsilon)
    assert float((moved.double() - x.double()).abs().max()) <= epsilon
    assert (moved >= 0).all() and (moved <= 1).all()
    assert moved.dtype == x.dtype and not moved.requires_grad


@EACH
@pytest.mark.parametrize("epsilon", [0.005, 0.02, 0.1])
def test_it_raises_the_loss_of_every_image(attack: Attack, epsilon: float) -> None:
    x = images(6, 1, 8, 8)
    loss = losses(model(x))
    assert (loss(attack(loss, x, epsilon)) > loss(x)).all()


def test_pgd_raises_it_further_than_fgsm_and_than_noise() -> None:
    x = images(6, 1, 8, 8)
    loss = losses(model(x))
    noise = (x + 0.1 * torch.randn(x.shape, generator=torch.Generator().manual_seed(2)).sign()).clamp(0, 1)
    one, many = loss(fgsm(loss, x, 0.1)).sum(), loss(pgd(loss, x, 0.1, steps=40)).sum()
    assert many >= one * 0.999
    assert one > loss(noise).sum()


def test_pgd_finds_the_corner_of_a_linear_loss() -> None:
    x = images(2, 1, 4, 4) * 0.5 + 0.25
    weight = torch.randn(4, 4, generator=torch.Generator().manual_seed(3))
    corner = x + 0.1 * weight.sign()
    found = pgd(lambda y: (y * weight).sum((1, 2, 3)), x, 0.1, steps=10)
    torch.testing.assert_close(found, corner)


def test_a_distance_needs_the_random_start() -> None:
    x = images(1, 1, 6, 6)

    def moved(y: Tensor) -> Tensor:
        return (y - x).square().sum()

    assert torch.equal(fgsm(moved, x, 0.1), x)
    assert float(moved(fgsm(moved, x, 0.1, start=0.5))) > 0
    assert float(moved(pgd(moved, x, 0.1))) > 0


@EACH
def test_no_budget_changes_nothing(attack: Attack) -> None:
    x = images(2, 3, 4, 4)
    assert torch.equal(attack(losses(model(x)), x, 0.0), x)


@pytest.mark.parametrize("attack", [ATTACKS["fgsm with a start"], ATTACKS["pgd"]])
def test_the_seed_decides(attack: Attack) -> None:
    x = images(1, 1, 8, 8)

    def loss(y: Tensor) -> Tensor:
        return (y - x).square().sum()

    first, again, other = (attack(loss, x, 0.1, seed=seed) for seed in (0, 0, 1))  # type: ignore[call-arg]
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@EACH
def test_no_gradient_is_left_behind(attack: Attack) -> None:
    x = images(2, 1, 8, 8)
    net = model(x)
    with torch.no_grad():
        attack(losses(net), x, 0.05)
    assert all(parameter.grad is None and parameter.requires_grad for parameter in net.parameters())
    assert x.grad is None and not x.requires_grad


def test_images_of_a_batch_are_attacked_each_alone() -> None:
    x = images(3, 1, 8, 8)
    loss = losses(model(x))
    together = fgsm(loss, x, 0.05)
    alone = torch.cat([fgsm(loss, image[None], 0.05) for image in x])
    assert torch.equal(together, alone)


def test_a_failing_loss_is_not_swallowed() -> None:
    def broken(x: Tensor) -> Tensor:
        raise KeyError("stopped")

    with pytest.raises(KeyError):
        pgd(broken, images(1, 1, 4, 4), 0.1)
