"""A vision transformer of our own making as a source of heads."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn

from explorer.errors import GramscopeError
from explorer.models.attacks import attack
from explorer.models.attention_call import AttentionCall
from explorer.models.attention_calls import Handler
from explorer.models.base import Capture, LayerHeads, ShouldStop, Source, never
from explorer.models.images import ImageReader
from explorer.models.prepared import Prepared
from explorer.models.safety import Progress, silent
from explorer.models.vit import Seen, Vit
from explorer.params import ENTERS, Input


class StateDictSource(Source):
    """A vision transformer opened from its parameters.

    Parameters
    ----------
    name : str
        What the source bar shows.
    model : Vit
    reader : ImageReader
        Makes images ready for it.
    facts : dict of str to str
        What is known besides the model's own sizes.
    notes : tuple of str
        Sentences that the person must know.
    """

    def __init__(
        self, name: str, model: Vit, reader: ImageReader, facts: dict[str, str], notes: tuple[str, ...] = ()
    ) -> None:
        config = model.config
        self.name, self.model, self.reader, self.notes = name, model, reader, notes
        self.kind, self.samples = reader.kind, reader.samples
        self.layers, self.heads, self.symmetric = config.depth, config.heads, config.keys_are_queries
        self.entries = ("keys", "pixels", "attack")
        self.targets = ("loss", "output") if config.classes else ("output",)
        self.facts = {**_sizes(model), **facts}

    def count(self, input: Input) -> int:
        """How many inputs `Input.index` chooses from: images of a folder, or built-in samples."""
        return self.reader.count(input)

    def prepare(self, input: Input, device: torch.device, should_stop: ShouldStop = never) -> Prepared:
        """Make an input ready, its change made.

        Raises
        ------
        GramscopeError
            If the input or its change does not suit the model.
        Stopped
            If `should_stop` said so during an attack.
        """
        prepared = self.reader.read(input)
        if input.change is not None and ENTERS[input.change.kind] == "attack":
            return attack(self, self.reader, prepared, input, device, should_stop)
        return prepared

    def values(self, input: Input) -> Tensor:
        """Return the normalised pixels that the model reads, (1, channels, H, W), the input's change made."""
        return self.prepare(input, self.model.pos_embed.device).arguments["pixel_values"]

    def label(self, input: Input) -> int | None:
        """Return the true class of an input, where it is known."""
        return None

    def logits(self, values: Tensor, device: torch.device) -> Tensor:
        """Run the model on normalised pixels (B, channels, H, W); differentiable with respect to them.

        Returns
        -------
        Tensor, shape (B, classes)

        Raises
        ------
        GramscopeError
            If the model has no classification head.
        """
        if not self.model.config.classes:
            raise GramscopeError(f"{self.name} has no classification head: it predicts nothing.")
        return self.model.to(device)(self._cast(values, device))

    def predict(self, input: Input, device: torch.device) -> Tensor:
        """Return the probabilities of the classes for one input, (classes,), float32 on the CPU."""
        with torch.no_grad():
            return self.logits(self.values(input), device)[0].float().softmax(-1).cpu()

    def head_output(self, values: Tensor, layer: int, head: int, device: torch.device) -> Tensor:
        """Return what one head says, (B, N, D), for normalised pixels (B, channels, H, W); differentiable."""
        with self.model.to(device).watching([layer]) as seen:
            self.model.run(self._cast(values, device), layer)
        _, q, k, v = seen[layer][0]
        attention = self.model.attention(layer)
        return attention.current(q, k, v, attention.scale, layer)[:, head]

    def _cast(self, values: Tensor, device: torch.device) -> Tensor:
        return values.to(device, self.model.pos_embed.dtype)

    def capture(
        self,
        layers: Sequence[int],
        input: Input,
        device: torch.device,
        should_stop: ShouldStop = never,
        progress: Progress = silent,
    ) -> Capture:
        """Run an image as far as the last of `layers` and keep their heads."""
        unknown = [layer for layer in layers if not 0 <= layer < self.layers]
        if unknown:
            raise GramscopeError(
                f"There is no layer {unknown[0]}: {self.name} has layers 0 to {self.layers - 1}."
            )
        prepared = self.prepare(input, device, should_stop)
        self.model.to(device)
        with torch.no_grad(), self.model.watching(layers) as seen:
            values = self._cast(prepared.arguments["pixel_values"], device)
            self.model.run(values, max(layers, default=0), should_stop, progress)
        return Capture(
            prepared.tokens,
            {layer: self._heads(layer, seen[layer][0]) for layer in layers},
            prepared.image,
            prepared.grid,
            notes=(*self.notes, *prepared.notes),
            changed=prepared.changed,
        )

    def _heads(self, layer: int, seen: Seen) -> LayerHeads:
        x, q, k, v = (part[0].contiguous() for part in seen)
        if not all(bool(torch.isfinite(part).all()) for part in (q, k, v)):
            raise GramscopeError(
                f"Layer {layer} of {self.name} gives NaN or infinity for this input: its weights are broken."
            )
        attention = self.model.attention(layer)
        return LayerHeads(q, k, v, attention.scale, x=x, w_v=attention.value_weights())

    def attending(self, attend: Handler, layers: Collection[int]) -> AbstractContextManager[None]:
        """Put another attention in the place of the model's own in `layers`, for captures and runs alike.

        Parameters
        ----------
        attend : callable
            Takes an `AttentionCall`, returns (B, H, N, D); its `proceed` is the model's own attention.
        """
        own = {layer: self.model.attention(layer).current for layer in layers}

        def adapted(q: Tensor, k: Tensor, v: Tensor, scale: float, layer: int) -> Tensor:
            def proceed(call: AttentionCall) -> Tensor:
                return own[layer](call.q, call.k, call.v, call.scale, layer)

            return attend(
                AttentionCall(self.model.attention(layer), q, k, v, scale, layer=layer, outer=proceed)
            )

        return self.model.attending(adapted, layers)

    def untrained(self, seed: int) -> StateDictSource:
        """Return the same architecture as timm initialises it (deviation 0.02), reading the same inputs."""
        model = Vit(self.model.config)
        rng = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if parameter.ndim > 1 or name.endswith(".s"):
                    nn.init.trunc_normal_(parameter, std=0.02, generator=rng)
                elif name.endswith(".bias"):
                    parameter.zero_()
        model = model.to(self.model.pos_embed.dtype).requires_grad_(False).eval()
        if self.model.config.attention_scale is None:  # a scaled layer attends by its own s
            for layer in range(self.layers):
                model.attention(layer).attend = self.model.attention(layer).attend
        return StateDictSource(f"{self.name}, untrained", model, self.reader, {}, self.notes)


def _sizes(model: Vit) -> dict[str, str]:
    config = model.config
    special = {
        "class token": config.class_token,
        "distillation token": config.dist_token,
        f"{config.registers} registers": config.registers,
    }
    size = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
    return {
        "family": "vision transformer, timm's layout"
        + (", keys and values only" if config.keys_are_queries else "")
        + (", scaled attention" if config.attention_scale is not None else ""),
        "input": "image",
        "layers": str(config.depth),
        "heads": str(config.heads),
        "head_dim": str(config.dim // config.heads),
        "KV heads": str(config.heads),
        "mask": "none",
        "image": f"{config.size[0]} × {config.size[1]}, {config.grid[0]} × {config.grid[1]} patches",
        "other tokens": ", ".join(name for name, there in special.items() if there) or "none",
        "classes": str(config.classes or "none"),
        "dtype": str(model.pos_embed.dtype).removeprefix("torch."),
        "size": f"{size:,} bytes",
    }
