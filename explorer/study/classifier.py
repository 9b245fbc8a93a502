"""Any source that names what an image shows, as a differentiable function of its pixels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from explorer.answers import Exchange
from explorer.errors import GramscopeError
from explorer.exchanged import attention_of
from explorer.models.base import Source, never
from explorer.models.digits import DigitsReader, DigitsSource
from explorer.models.digits_data import INK, load_digits
from explorer.models.huggingface import HuggingFaceSource
from explorer.models.images import ImageReader
from explorer.models.pictures import load_image
from explorer.models.vit_source import StateDictSource
from explorer.params import Params
from explorer.study.plan import Swap

UNNAMED = re.compile(r"LABEL_\d+")
"""What transformers calls a class that nobody named."""


class Classifier:
    """A model that classifies images.

    Parameters
    ----------
    source : Source

    Attributes
    ----------
    classes : int
    names : tuple of str
        By class; empty where the checkpoint does not name them.
    symmetric : bool
        Whether the model's queries are its keys.
    notes : tuple of str
        Sentences that the person must know.

    Raises
    ------
    GramscopeError
        If the source reads no images or has no classification head.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.names: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        if isinstance(source, StateDictSource):
            self.classes = source.model.config.classes
            if isinstance(source, DigitsSource):
                self.names = tuple(map(str, range(self.classes)))
        elif isinstance(source, HuggingFaceSource) and _has_head(source):
            config = source.loaded.model.config
            self.classes = config.num_labels
            names = [str(config.id2label[i]) for i in range(self.classes)]
            self.names = () if all(map(UNNAMED.fullmatch, names)) else tuple(names)
            self.notes = source.loaded.notes
        else:
            self.classes = 0
        if not self.classes:
            raise GramscopeError(
                f"{source.name} has no head that classifies images, so there is no accuracy to measure. "
                "Give an image classifier, or “digits” for the shipped models."
            )
        self.symmetric = source.symmetric

    @property
    def reader(self) -> ImageReader:
        """What makes images ready for the model."""
        assert isinstance(self.source, StateDictSource | HuggingFaceSource)
        assert isinstance(self.source.reader, ImageReader)
        return self.source.reader

    @property
    def tokens(self) -> int:
        """About how many tokens the model works on, for the choice of threads."""
        height, width = self.reader.fixed or (224, 224)
        return (height // self.reader.patch[0]) * (width // self.reader.patch[1])

    def classes_of(self, labels: Sequence[str]) -> tuple[tuple[int, ...], str]:
        """Return the class of each label, and a note on how they were told; the note may be empty.

        A label is a class's name, one of several names of it that commas separate, or its number. Where the
        checkpoint names no classes and no label is a number, there must be as many labels as classes; they
        are then counted in alphabetical order, as torchvision's ImageFolder does.

        Raises
        ------
        GramscopeError
            If a label is no class of the model.
        """
        distinct = sorted(set(labels))
        found = {label: self._class_of(label) for label in distinct}
        note = ""
        if not self.names and len(distinct) == self.classes and set(found.values()) == {None}:
            found = {label: number for number, label in enumerate(distinct)}
            note = (
                f"{self.source.name} does not name its {self.classes} classes, so the labels were counted in "
                "alphabetical order, as is usual."
            )
        unknown = [label for label, number in found.items() if number is None]
        if unknown:
            have = ", ".join(self.names[:4]) + ", …" if self.names else f"0 to {self.classes - 1}"
            raise GramscopeError(
                f"“{unknown[0]}” is no class of {self.source.name}, whose {self.classes} classes are {have}. "
                "Rename it to a class's name or number.",
                "\n".join((*unknown, "", *self.names)),
            )
        return tuple(number for label in labels if (number := found[label]) is not None), note

    def _class_of(self, label: str) -> int | None:
        wanted = _plain(label)
        for spellings in (lambda name: [name], lambda name: name.split(",")):
            fits = [i for i, name in enumerate(self.names) if wanted in map(_plain, spellings(name))]
            if len(fits) == 1:
                return fits[0]
        return int(wanted) if re.fullmatch(r"\d{1,6}", wanted) and int(wanted) < self.classes else None

    def pixels(self, files: Sequence[Path]) -> Tensor:
        """Return images as the model frames them, (B, channels, H, W), values between 0 and 1.

        Raises
        ------
        GramscopeError
            If one cannot be read, or they come out in different sizes.
        """
        frames = [self._framed(file) for file in files]
        if odd := next((i for i, frame in enumerate(frames) if frame.shape != frames[0].shape), None):
            raise GramscopeError(
                f"{files[odd].name} comes out in another size than {files[0].name}. Crop the images alike."
            )
        values = torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2).float() / 255
        return values[:, : self.reader.channels].contiguous()

    def _framed(self, file: Path) -> np.ndarray:
        image = self.reader.of_pixels(load_image(file)).image
        assert image is not None
        return image

    def test_digits(self) -> tuple[Tensor, tuple[int, ...]]:
        """Return the digits' 360 test images, (360, 1, 8, 8) with paper 0 and ink 1, and their classes.

        Raises
        ------
        GramscopeError
            If the model is none of digits.
        """
        if not isinstance(self.reader, DigitsReader):
            raise GramscopeError(
                f"{self.source.name} is no digit model, so it needs labelled images (--data). "
                "Give a folder with a subfolder for each class."
            )
        digits = load_digits("test")
        values = torch.from_numpy(digits.images.astype(np.float32))[:, None] / INK
        return values, tuple(map(int, digits.labels))

    def logits(self, pixels: Tensor, device: torch.device) -> Tensor:
        """Return the logits (B, classes), differentiable with respect to `pixels` (B, channels, H, W)."""
        values = self.reader.preprocessing.of_unit(pixels.to(device))
        if isinstance(self.source, StateDictSource):
            return self.source.logits(values, device)
        assert isinstance(self.source, HuggingFaceSource)
        model = self.source.loaded.model.to(device)
        return model(pixel_values=values.to(model.dtype)).logits

    @contextmanager
    def attending(self, swap: Swap | None) -> Iterator[None]:
        """Put RPC-Attention into every layer for the time of the context; None: leave the model alone."""
        if swap is None:
            yield
            return
        source = self.source
        assert isinstance(source, StateDictSource | HuggingFaceSource)
        layers = tuple(range(source.layers))
        params = Params(form=swap.form, queries=swap.queries, lam=swap.lam, iterations=swap.iterations)
        with source.attending(attention_of(Exchange("rpc", layers), params, never), layers):
            yield

    def close(self) -> None:
        """Let the model go."""
        self.source.close()


def _has_head(source: HuggingFaceSource) -> bool:
    """Whether a head that names images is there, and its weights were in the files."""
    named = "ForImageClassification" in type(source.loaded.model).__name__
    return named and not source.loaded.headless


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").casefold().split())
