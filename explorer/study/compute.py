"""One unit: contaminate the images, and ask one model what they show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from explorer.devices import choose
from explorer.errors import Stopped
from explorer.maths.attack import fgsm, pgd
from explorer.maths.pixels import contaminate_pixels
from explorer.models.base import ShouldStop, never
from explorer.models.open import open_path
from explorer.params import PixelKind
from explorer.stages import use_threads
from explorer.study.classifier import Classifier
from explorer.study.data import Labelled
from explorer.study.plan import Model, Unit

BATCH, LARGE_BATCH = 60, 12
"""Images at once; fewer where they are larger than `LARGE` pixels. Chance is drawn batch by batch, so that
models that read images of one size get the same contaminated images, however many there are."""
LARGE = 64 * 64
STRIDE = 1_000_003
"""Between the seeds of two contamination seeds, so that no batch of one is drawn as a batch of another."""


@dataclass(frozen=True, eq=False)
class Question:
    """Images as one model reads them, and what they show.

    Attributes
    ----------
    pixels : Tensor, shape (images, channels, H, W)
        Values in [0, 1].
    classes : Tensor of int64, shape (images,)
    note : str
        On how the classes were told; may be empty.
    """

    pixels: Tensor
    classes: Tensor
    note: str = ""


class Desk:
    """What is kept open between units: one model, and the images as the last kind of model reads them.

    Parameters
    ----------
    data : Labelled or None
        None: the digits' test images.
    """

    def __init__(self, data: Labelled | None) -> None:
        self._data = data
        self._file: Path | None = None
        self._classifier: Classifier | None = None
        self._frames: tuple[object, Tensor] | None = None

    def open(self, model: Model) -> Classifier:
        """Return a model, opened unless it is already."""
        if self._classifier is None or self._file != model.file:
            self.close()
            self._classifier, self._file = Classifier(open_path(model.file)), model.file
        return self._classifier

    def question(self, classifier: Classifier) -> Question:
        """Return the images as a model reads them.

        Raises
        ------
        GramscopeError
            If an image cannot be read, or a label is no class of the model.
        """
        if self._data is None:
            pixels, classes = classifier.test_digits()
            return Question(pixels, torch.tensor(classes))
        classes, note = classifier.classes_of(self._data.labels)
        reader = classifier.reader
        frame = (reader.preprocessing, reader.fixed, reader.channels)
        if self._frames is None or self._frames[0] != frame:
            self._frames = frame, classifier.pixels(self._data.files)
        return Question(self._frames[1], torch.tensor(classes), note)

    def close(self) -> None:
        """Let go of the model."""
        if self._classifier is not None:
            self._classifier.close()
        self._classifier = None


def compute(unit: Unit, desk: Desk, should_stop: ShouldStop = never) -> NDArray[np.int64]:
    """Return the class that the model sees in each image, (images,).

    Raises
    ------
    GramscopeError
        If the model or the images do not suit.
    Stopped
        If `should_stop` said so between two batches.
    """
    classifier = desk.open(unit.model)
    question = desk.question(classifier)
    use_threads(classifier.tokens)
    device = choose(unit.device)
    size = BATCH if question.pixels[0, 0].numel() <= LARGE else LARGE_BATCH
    answers = []
    with classifier.attending(unit.model.swap):
        for start in range(0, len(question.pixels), size):
            if should_stop():
                raise Stopped
            pixels, truth = (part[start : start + size] for part in (question.pixels, question.classes))
            pixels, truth = pixels.to(device), truth.to(device)
            changed = contaminated(
                unit, pixels, unit.seed * STRIDE + start, losses(classifier, truth, device, should_stop)
            )
            with torch.no_grad():
                answers.append(classifier.logits(changed, device).argmax(-1).cpu())
    return torch.cat(answers).numpy()


def losses(
    classifier: Classifier, truth: Tensor, device: torch.device, should_stop: ShouldStop = never
) -> Callable[[Tensor], Tensor]:
    """Return the model's own loss, the cross-entropy of each image (B,), as a function of the pixels."""

    def loss(pixels: Tensor) -> Tensor:
        if should_stop():
            raise Stopped
        return cross_entropy(classifier.logits(pixels, device).float(), truth, reduction="none")

    return loss


def contaminated(unit: Unit, pixels: Tensor, seed: int, loss: Callable[[Tensor], Tensor]) -> Tensor:
    """Return one batch as a unit wants it, values in [0, 1]."""
    if unit.kind == "fgsm":
        return fgsm(loss, pixels, unit.level)
    if unit.kind == "pgd":
        return pgd(loss, pixels, unit.level, unit.steps, seed)
    if unit.kind in get_args(PixelKind):
        return contaminate_pixels(pixels, unit.kind, unit.level, seed)  # type: ignore[arg-type]
    return pixels
