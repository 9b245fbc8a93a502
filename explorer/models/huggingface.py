"""Models in Hugging Face folders as sources of heads."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.attacks import attack
from explorer.models.attention_calls import Handler, replacing
from explorer.models.base import Capture, LayerHeads, ShouldStop, Source, never
from explorer.models.capture import capture_heads, head_output
from explorer.models.facts import describe
from explorer.models.images import ImageReader
from explorer.models.loading import Loaded, load_folder, reinitialised
from explorer.models.memory import footprint, free_bytes, refuse_unless_free
from explorer.models.model_heads import head_of
from explorer.models.prepared import Prepared, Reader
from explorer.models.readable import refuse_unreadable, refuse_without_heads
from explorer.models.readers import reader_for
from explorer.models.safety import Progress, silent
from explorer.params import ENTERS, Input

FAULTS = (RuntimeError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
ANYONES = frozenset({"model", "models", "checkpoint", "output", "best", "last", "final"})


class HuggingFaceSource(Source):
    """A transformers model whose attention is watched.

    Parameters
    ----------
    name : str
        What the source bar shows.
    loaded : Loaded
    reader : Reader
        Makes inputs ready for it.
    """

    def __init__(self, name: str, loaded: Loaded, reader: Reader) -> None:
        self.name, self.loaded, self.reader = name, loaded, reader
        self.kind, self.samples = reader.kind, reader.samples
        self.layers = loaded.config.num_hidden_layers
        self.heads = loaded.config.num_attention_heads
        self.footprint = footprint(loaded.config, loaded.model.dtype.itemsize)
        self.facts = describe(loaded, reader)
        self.entries = ("keys", "text") if reader.kind == "text" else ("keys", "pixels", "attack")
        if "attack" in self.entries:
            self.targets = ("loss", "output") if self._classifies else ("output",)

    def count(self, input: Input) -> int:
        """How many inputs `Input.index` chooses from: lines, images, or built-in samples."""
        return self.reader.count(input)

    @property
    def _classifies(self) -> bool:
        """Whether the model has a trained head that names one class."""
        return not self.loaded.headless and head_of(type(self.loaded.model).__name__) == "classes"

    def prepare(
        self, layers: int, input: Input, device: torch.device, should_stop: ShouldStop = never
    ) -> Prepared:
        """Make an input ready, cut to what the model reads and half of the free memory holds, and changed.

        Raises
        ------
        GramscopeError
            If the input or its change does not suit the model.
        Stopped
            If `should_stop` said so during an attack.
        """
        if input.change is not None:
            self.refuse_entry(input.change.kind)
        fits = self.footprint.tokens_that_fit(free_bytes(device) // 2, layers)
        prepared = self.reader.read(input, fits)
        tokens = len(prepared.tokens)
        refuse_unless_free(
            self.footprint.bytes(tokens, layers), device, f"{self.name} with {tokens:,} tokens",
            "Choose a shorter or smaller input, fewer layers at once, or close other programs.",
        )  # fmt: skip
        if input.change is not None and ENTERS[input.change.kind] == "attack":
            return attack(self, cast(ImageReader, self.reader), prepared, input, device, should_stop)
        return prepared

    def label(self, input: Input) -> int | None:
        """Return the true class of an input, where it is known."""
        return None

    def logits(self, values: Tensor, device: torch.device) -> Tensor:
        """Return the classes' logits, (B, classes), for normalised values (B, C, H, W); differentiable.

        Raises
        ------
        GramscopeError
            If the model has no classification head, or the device has too little memory.
        """
        if not self._classifies:
            raise GramscopeError(f"{self.name} has no classification head: it predicts nothing.")
        return self.run(Prepared({"pixel_values": values}, ()), device, whole=True).logits

    def head_output(self, values: Tensor, layer: int, head: int, device: torch.device) -> Tensor:
        """Return what one head says, (B, N, Dv), for normalised values (B, C, H, W); differentiable."""
        prepared = Prepared({"pixel_values": values}, ())
        return head_output(self.loaded.body, lambda: self.run(prepared, device), layer, head)

    def run(self, prepared: Prepared, device: torch.device, whole: bool = False) -> Any:
        """Call the watched part of the model on a prepared input, or the whole, with its head.

        Raises
        ------
        GramscopeError
            If the device has too little memory, or the model cannot be run: its config and its weights
            load, and do not fit together.
        """
        dtype = self.loaded.model.dtype
        try:
            self.loaded.model.to(device)
            arguments = {
                name: value.to(device, dtype if value.is_floating_point() else None)
                for name, value in prepared.arguments.items()
            }
            return (self.loaded.model if whole else self.loaded.body)(**arguments)
        except torch.OutOfMemoryError as error:
            raise GramscopeError(
                f"{self.name} with {len(prepared.tokens):,} tokens does not fit into the memory of {device}. "
                "Choose the CPU, or a shorter input.",
                str(error),
            ) from error
        except FAULTS as error:  # whatever a config that makes no sense leads to
            raise GramscopeError(
                f"{self.name} ({type(self.loaded.model).__name__}) loads but cannot be run on "
                f"{'an image' if self.kind == 'image' else 'a text'} alone: its config does not fit its "
                "weights or is damaged (download it again), or it needs other inputs as well.",
                "".join(traceback.format_exception(error)),
            ) from error

    def capture(
        self,
        layers: Sequence[int],
        input: Input,
        device: torch.device,
        should_stop: ShouldStop = never,
        progress: Progress = silent,
    ) -> Capture:
        """Run the input and keep the heads of `layers`; `progress` is told of layers."""
        unknown = [layer for layer in layers if not 0 <= layer < self.layers]
        if unknown:
            raise GramscopeError(
                f"There is no layer {unknown[0]}: {self.name} has layers 0 to {self.layers - 1}."
            )
        prepared = self.prepare(len(layers), input, device, should_stop)
        kept = capture_heads(
            self.loaded.body, lambda: self.run(prepared, device), layers, should_stop, progress
        )
        self._refuse_strange(kept, layers, prepared)
        return Capture(
            prepared.tokens, kept, prepared.image, prepared.grid, prepared.truncated_from,
            (*self.loaded.notes, *prepared.notes), prepared.text, prepared.changed, prepared.origin,
        )  # fmt: skip

    def attending(self, attend: Handler, layers: Collection[int]) -> AbstractContextManager[None]:
        """Put another attention in the place of softmax in `layers`, for captures and runs alike."""
        return replacing(self.loaded.body, attend, layers)

    def _refuse_strange(self, kept: dict[int, LayerHeads], layers: Sequence[int], prepared: Prepared) -> None:
        for layer in layers:
            heads = kept[layer]
            if heads.k.shape[1] != len(prepared.tokens):
                raise GramscopeError(
                    f"Layer {layer} of {self.name} has {heads.k.shape[1]} keys for {len(prepared.tokens)} "
                    "tokens: its tokens cannot be named."
                )
            if not all(bool(torch.isfinite(part).all()) for part in (heads.q, heads.k, heads.v)):
                raise GramscopeError(
                    f"Layer {layer} of {self.name} gives NaN or infinity for this input. Its number format "
                    f"({self.loaded.model.dtype}) may be too narrow, or its weights are broken."
                )

    def untrained(self, seed: int) -> HuggingFaceSource:
        """Return the same architecture as initialised with `seed`, reading the same inputs."""
        return HuggingFaceSource(f"{self.name}, untrained", reinitialised(self.loaded, seed), self.reader)


def display_name(folder: Path) -> str:
    """Name a model by its folder, or by what the hub calls it where it lies in the hub's cache."""
    if folder.parent.name == "snapshots":
        return folder.parent.parent.name.removeprefix("models--").replace("--", "/")
    return f"{folder.parent.name}/{folder.name}" if folder.name in ANYONES else folder.name


def open_huggingface(
    folder: Path,
    chosen: Path | None = None,
    should_stop: ShouldStop = never,
    progress: Progress = silent,
) -> HuggingFaceSource:
    """Open a Hugging Face folder.

    Parameters
    ----------
    chosen : Path or None
        The weight file in it that the person picked, where there are several.
    progress : callable
        Told of bytes read.

    Raises
    ------
    GramscopeError
        If it cannot be opened, with the reason.
    Stopped
        If `should_stop` said so.
    """
    loaded, name = load_folder(folder, chosen, should_stop, progress), display_name(folder)
    refuse_without_heads(name, loaded)
    source = HuggingFaceSource(name, loaded, reader_for(folder, loaded))
    refuse_unreadable(source, should_stop)
    return source
