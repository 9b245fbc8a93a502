"""Images attacked by the gradient of what a model makes of them."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from explorer.errors import Stopped
from explorer.maths.attack import Loss, fgsm, pgd
from explorer.models.base import ShouldStop
from explorer.models.images import ImageReader
from explorer.models.prepared import Prepared
from explorer.params import Change, Input

RANDOM_START = 0.5
"""Share of FGSM's budget for a start away from the clean image, where a distance from it has no gradient."""


class Attackable(Protocol):
    """A model of images that gradients can pass through."""

    def label(self, input: Input) -> int | None:
        """Return the true class of an input, where it is known."""

    def logits(self, values: Tensor, device: torch.device) -> Tensor:
        """Return the classes' logits, (B, classes), for normalised values (B, C, H, W)."""

    def head_output(self, values: Tensor, layer: int, head: int, device: torch.device) -> Tensor:
        """Return what one head says, (B, N, Dv), for normalised values (B, C, H, W)."""


def attack(
    source: Attackable,
    reader: ImageReader,
    prepared: Prepared,
    input: Input,
    device: torch.device,
    should_stop: ShouldStop,
) -> Prepared:
    """Attack an image that `reader` made ready by the change of its input.

    Raises
    ------
    GramscopeError
        If the model has no such loss.
    Stopped
        If `should_stop` said so between two gradients.
    """
    change = input.change
    assert change is not None
    of_unit = reader.preprocessing.of_unit
    clean = prepared.arguments["pixel_values"]
    rises = _loss(source, input, change, clean, device)

    def loss(picture: Tensor) -> Tensor:
        if should_stop():
            raise Stopped
        return rises(of_unit(picture))

    def paint(picture: Tensor) -> Tensor:
        if change.kind == "pgd":
            return pgd(loss, picture, change.level, change.steps, change.seed)
        start = RANDOM_START if change.target == "output" else 0.0
        return fgsm(loss, picture, change.level, change.seed, start)

    return reader.repaint(prepared, paint)


def _loss(source: Attackable, input: Input, change: Change, clean: Tensor, device: torch.device) -> Loss:
    """Return what is raised: the cross-entropy of the true class, or how far a head's output moves.

    Where the true class is not known, the model's own clean prediction takes its place.
    """
    if change.target == "loss":
        with torch.no_grad():
            label = source.label(input)
            said = source.logits(clean, device).argmax(-1).cpu()
        truth = said if label is None else torch.full_like(said, label)
        return lambda values: cross_entropy(source.logits(values, device).float().cpu(), truth)
    with torch.no_grad():
        still = source.head_output(clean, change.layer, change.head, device).float()

    def moved(values: Tensor) -> Tensor:
        output = source.head_output(values, change.layer, change.head, device).float()
        return (output - still).square().sum() / still.square().sum()

    return moved
