"""Gradient attacks within a budget: FGSM (Goodfellow et al. 2015, eq. 2) and PGD (Madry et al. 2018, sec. 2).

Both move every pixel by at most ε (L∞), inside the range [0, 1], to raise a loss. The random start depends on
the shape and the seed alone and is drawn by numpy on the CPU. Gradients are taken with respect to the images
only: nothing is left behind on a model's parameters.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

Loss = Callable[[Tensor], Tensor]
"""Takes images (B, C, H, W), returns each image's loss, (B,), or one number for a batch of one."""

OVERSHOOT = 2.5
"""PGD's steps together are so many budgets long, as in Madry et al., so that they can reach any corner."""


def fgsm(loss: Loss, images: Tensor, epsilon: float, seed: int = 0, start: float = 0.0) -> Tensor:
    """Take one step along the sign of the loss's gradient; it may overshoot and lower the loss.

    Parameters
    ----------
    loss : callable
    images : Tensor, shape (B, C, H, W)
        Values in [0, 1].
    epsilon : float
        The budget; at 0 the images come back bit for bit.
    seed : int
        Of the random start.
    start : float
        Share of the budget that goes into a random start, the rest into the step (Tramèr et al. 2018). A loss
        whose gradient vanishes at the clean images, as a distance from them does, needs some.

    Returns
    -------
    Tensor, shape (B, C, H, W)
        Nowhere further than ε from `images`.
    """
    if epsilon == 0:
        return images
    low, high = _ball(images, epsilon)
    begin = images
    if start > 0:
        begin = (images + start * epsilon * _random(images, seed).sign()).clamp(low, high)
    gradient, _ = _ascend(loss, begin)
    return (begin + (1 - start) * epsilon * gradient.sign()).clamp(low, high)


def pgd(loss: Loss, images: Tensor, epsilon: float, steps: int = 10, seed: int = 0) -> Tensor:
    """Climb the loss in `steps` signed steps from a random start inside the budget, kept inside it.

    Parameters
    ----------
    loss : callable
    images : Tensor, shape (B, C, H, W)
        Values in [0, 1].
    epsilon : float
        The budget; at 0 the images come back bit for bit.
    steps : int
        Each OVERSHOOT·ε/steps long.
    seed : int
        Of the random start, uniform in the budget.

    Returns
    -------
    Tensor, shape (B, C, H, W)
        For each image the point of the climb with the highest loss, nowhere further than ε from it.
    """
    if epsilon == 0:
        return images
    low, high = _ball(images, epsilon)
    x = best = (images + epsilon * _random(images, seed)).clamp(low, high)
    highest: Tensor | None = None
    for _ in range(steps):
        gradient, value = _ascend(loss, x)
        best, highest = _better(x, value, best, highest)
        x = (x + OVERSHOOT * epsilon / steps * gradient.sign()).clamp(low, high)
    with torch.no_grad():
        best, _ = _better(x, loss(x).reshape(-1), best, highest)
    return best


def _better(x: Tensor, value: Tensor, best: Tensor, highest: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return each image's better point so far, and its loss."""
    if highest is None:
        return x, value
    rises = value > highest
    return torch.where(rises[:, None, None, None], x, best), torch.where(rises, value, highest)


def _ascend(loss: Loss, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradient of the losses' sum, and the losses, (B,)."""
    with torch.enable_grad():
        x = x.detach().requires_grad_(True)
        value = loss(x).reshape(-1)
        (gradient,) = torch.autograd.grad(value.sum(), x)
    return gradient, value.detach()


def _ball(images: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """Return the lowest and highest values allowed; where rounding leaves the budget, the next inside."""
    exact = images.cpu().double()
    low, high = ((exact + sign * epsilon).to(images.dtype) for sign in (-1, 1))
    middle = exact.to(images.dtype)
    low = torch.where(low.double() < exact - epsilon, torch.nextafter(low, middle), low)
    high = torch.where(high.double() > exact + epsilon, torch.nextafter(high, middle), high)
    return low.clamp_min(0).to(images.device), high.clamp_max(1).to(images.device)


def _random(images: Tensor, seed: int) -> Tensor:
    """Draw numbers between −1 and 1."""
    return torch.from_numpy(np.random.default_rng(seed).uniform(-1, 1, tuple(images.shape))).to(images)
