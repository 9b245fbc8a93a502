from __future__ import annotations

import pytest
import torch
from torch import Tensor

from explorer.maths import attention_pca as pca

KINDS: tuple[pca.Kind, ...] = ("softmax", "linear")


def positive_definite(d: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    factor = torch.randn(2 * d, d, generator=generator, dtype=torch.float64)
    return factor.mT @ factor / d


def prompts(batch: int, length: int, d: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, length, d, generator=generator, dtype=torch.float64)


def unit(d: int, r: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    m = torch.randn(d, r, generator=generator, dtype=torch.float64)
    return m / m.norm(dim=0)


def frame(d: int, r: int, seed: int = 0) -> Tensor:
    return torch.linalg.qr(unit(d, r, seed))[0]


def finite_differences(function, at: Tensor, step: float = 1e-6) -> Tensor:
    result = torch.empty_like(at)
    for i in range(at.numel()):
        there = [at.flatten().clone() for _ in range(2)]
        there[0][i] += step
        there[1][i] -= step
        result.view(-1)[i] = (function(there[0].view_as(at)) - function(there[1].view_as(at))) / (2 * step)
    return result


def definition(kind: pca.Kind, x: Tensor, w: Tensor) -> Tensor:
    """T(X)_l written out token by token, one prompt (L, d)."""
    out = torch.zeros_like(x)
    for i, query in enumerate(x):
        for head in w:
            scores = torch.stack([query @ head @ key for key in x])
            weights = torch.softmax(scores, 0) if kind == "softmax" else scores / len(x)
            out[i] += sum(weight * value for weight, value in zip(weights, x, strict=True))
    return out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("heads", [1, 3])
def test_attention_is_its_definition(kind, heads):
    x = prompts(2, 5, 4)
    w = 0.3 * prompts(heads, 4, 4, seed=1)
    expected = torch.stack([definition(kind, prompt, w) for prompt in x])
    torch.testing.assert_close(pca.attend(kind, x, w), expected, rtol=1e-12, atol=1e-12)
    loss, _ = pca.prompt_loss(kind, x, w)
    torch.testing.assert_close(loss, (x[:, 0] - expected[:, 0]).square().sum(1).mean(), rtol=1e-12, atol=0)
    weights = pca.first_weights(kind, x, w)
    torch.testing.assert_close((weights @ x).sum(1), expected[:, 0], rtol=1e-12, atol=1e-12)


def test_rank_one_score_is_the_product_of_two_projections():
    x, m = prompts(3, 6, 5), unit(5, 1)
    expected = 0.7 * (x[:, :1] @ m) * (x @ m).mT
    torch.testing.assert_close(pca.first_scores(x, pca.one_map(m, 0.7)), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("heads", [1, 3])
def test_prompt_gradient_is_the_finite_difference(kind, heads):
    x = prompts(4, 7, 3)
    w = 0.3 * prompts(heads, 3, 3, seed=1)
    _, gradient = pca.prompt_loss(kind, x, w)
    expected = finite_differences(lambda at: pca.prompt_loss(kind, x, at)[0], w)
    torch.testing.assert_close(gradient, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("several", [False, True])
def test_population_gradient_is_the_finite_difference(heads, several):
    sigma = torch.stack([positive_definite(4, s) for s in range(3)]) if several else positive_definite(4)
    w = 0.3 * prompts(heads, 4, 4, seed=1)
    _, gradient = pca.population_loss(sigma, w)
    expected = finite_differences(lambda at: pca.population_loss(sigma, at)[0], w)
    torch.testing.assert_close(gradient, expected, rtol=1e-6, atol=1e-7)


def test_population_loss_is_the_closed_form():
    sigma, m, coupling = positive_definite(5), unit(5, 1), 0.37
    once, twice, total = (m.mT @ sigma @ m).item(), (m.mT @ sigma @ sigma @ m).item(), sigma.trace().item()
    loss, _ = pca.population_loss(sigma, pca.one_map(m, coupling))
    assert loss.item() == pytest.approx(total - 2 * coupling * twice + coupling**2 * twice * once, rel=1e-12)


@pytest.mark.parametrize("maps", [pca.one_map, pca.head_maps])
def test_gradient_in_direction_and_coupling_is_the_finite_difference(maps):
    sigma, m, coupling = positive_definite(4), unit(4, 2), torch.tensor(0.4, dtype=torch.float64)
    _, gradient = pca.population_loss(sigma, maps(m, coupling))
    expected = finite_differences(lambda at: pca.population_loss(sigma, maps(at, coupling))[0], m)
    torch.testing.assert_close(pca.direction_gradient(gradient, m, coupling), expected, rtol=1e-6, atol=1e-7)
    slope = finite_differences(lambda at: pca.population_loss(sigma, maps(m, at))[0], coupling)
    torch.testing.assert_close(pca.coupling_gradient(gradient, m), slope, rtol=1e-6, atol=1e-7)


def test_steps_stay_where_they_belong_and_go_down():
    sigma = positive_definite(6)
    coupling = 1 / torch.linalg.eigvalsh(sigma)[-1]
    for m, step, maps in (
        (unit(6, 3), pca.sphere_step, pca.head_maps),
        (frame(6, 3), pca.frame_step, pca.one_map),
    ):
        before, gradient = pca.population_loss(sigma, maps(m, coupling))
        moved = step(m, pca.direction_gradient(gradient, m, coupling), 1e-3)
        after, _ = pca.population_loss(sigma, maps(moved, coupling))
        assert after < before
        assert (moved * m).sum(0).min() > 0.99
        torch.testing.assert_close(moved.norm(dim=0), torch.ones(3, dtype=torch.float64))
        if step is pca.frame_step:
            torch.testing.assert_close(moved.mT @ moved, torch.eye(3, dtype=torch.float64))


def test_frame_of_one_is_the_sphere():
    m, gradient = unit(5, 1), unit(5, 1, seed=3)
    torch.testing.assert_close(pca.frame_step(m, gradient, 0.2), pca.sphere_step(m, gradient, 0.2))


def test_readout_of_identity_is_sample_pca():
    x = prompts(3, 40, 5) * torch.tensor([2.0, 1, 1, 1, 0.5], dtype=torch.float64)
    outputs = pca.attend("linear", x, torch.eye(5, dtype=torch.float64)[None])
    expected = torch.linalg.svd(x, full_matrices=False)[2][:, 0]
    torch.testing.assert_close(
        (pca.readout(outputs) * expected).sum(1).abs(), torch.ones(3, dtype=torch.float64)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_long_prompt_loss_is_the_population_loss(kind):
    """Monte Carlo over prompts of 2048 tokens: within its standard error plus an O(1/L) term."""
    length, batch = 2048, 600
    sigma = torch.tensor([4.0, 2, 1, 1, 0.5], dtype=torch.float64)
    m = torch.tensor([[0.8, 0.6, 0, 0, 0]], dtype=torch.float64).mT
    w = pca.one_map(m, 0.25)
    losses = torch.cat(
        [
            (x[:, 0] - (pca.first_weights(kind, x, w) @ x)[:, 0]).square().sum(1)
            for x in (prompts(100, length, 5, seed) * sigma.sqrt() for seed in range(batch // 100))
        ]
    )
    expected, _ = pca.population_loss(sigma.diag(), w)
    error = losses.std() / batch**0.5
    assert abs(losses.mean() - expected) < 3 * error + 10 * sigma.sum() / length
    assert error < 0.06 * expected
