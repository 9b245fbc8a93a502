"""Heads that somebody captured elsewhere: .npz, .safetensors or .pt with q, k and v."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.base import Capture, LayerHeads, ShouldStop, Source, Token, never
from explorer.models.heads_header import Header
from explorer.models.nested import leaves
from explorer.models.raw_layers import RawLayer, group, read_layer
from explorer.models.raw_names import read_name
from explorer.models.safetensors_file import read_header, read_metadata
from explorer.models.safety import Progress, load_arrays, load_tensors, refuse_empty_file, silent
from explorer.params import Input


class RawHeadsSource(Source):
    """Layers of heads from a file; there is no model to run.

    Attributes
    ----------
    numbers : tuple of int
        The true numbers of the layers that the file has; `layers` counts up to the last of them.
    """

    def __init__(self, name: str, raw: Mapping[int, RawLayer], header: Header) -> None:
        self.raw, self.header = dict(raw), header
        self.name, self.kind = header.name or name, "heads"
        self.numbers = tuple(self.raw)
        self.first_layer, self.layers = min(self.numbers), max(self.numbers) + 1
        self.heads = max(layer.q.shape[1] for layer in self.raw.values())
        self.samples = min(layer.q.shape[0] for layer in self.raw.values())
        self.symmetric = all(torch.equal(layer.q, layer.k) for layer in self.raw.values())
        self.notes = (*header.notes, *_notes(self.raw))
        self.facts = self._describe()

    def capture(
        self,
        layers: Sequence[int],
        input: Input,
        device: torch.device,
        should_stop: ShouldStop = never,
        progress: Progress = silent,
    ) -> Capture:
        """Return the heads of `layers`, all of which the file must have."""
        missing = [layer for layer in layers if layer not in self.raw]
        if missing:
            has = ", ".join(map(str, self.numbers))
            raise GramscopeError(f"{self.name} has no layer {missing[0]}. Choose one that it has: {has}.")
        counts = {self.raw[layer].q.shape[2] for layer in layers}
        if len(counts) > 1:
            raise GramscopeError(f"The layers of {self.name} differ in tokens: look at one at a time.")
        return Capture(
            tokens=self._tokens(max(counts, default=0)),
            layers={layer: self._heads(layer, input.index % self.samples, device) for layer in layers},
            image=self.header.image,
            grid=self.header.grid,
            truncated_from=self.header.truncated_from,
            notes=self.notes,
            text=self.header.text,
        )

    def _tokens(self, count: int) -> tuple[Token, ...]:
        return self.header.tokens or tuple(Token(str(number)) for number in range(count))

    def _heads(self, number: int, index: int, device: torch.device) -> LayerHeads:
        layer = self.raw[number]

        def there(part: Tensor | None) -> Tensor | None:
            return None if part is None else part.to(device)

        return LayerHeads(
            layer.q[index].to(device), layer.k[index].to(device), layer.v[index].to(device),
            layer.q.shape[-1] ** -0.5 if layer.scale is None else layer.scale,
            mask=there(layer.mask), bias=there(layer.bias), softcap=layer.softcap,
            x=None if layer.x is None else layer.x[index].to(device), w_v=there(layer.w_v),
        )  # fmt: skip

    def _describe(self) -> dict[str, str]:
        first = next(iter(self.raw.values()))
        batch, heads, tokens, width = first.q.shape
        lacking = [
            f"{words} ({name})"
            for name, words in (("x", "the layer's input"), ("w_v", "the value weights"))
            if getattr(first, name) is None
        ]
        size = sum(
            part.numel() * part.element_size() for raw in self.raw.values() for part in (raw.q, raw.k, raw.v)
        )
        return {
            "family": "captured heads",
            "input": "none",
            "layers": ", ".join(map(str, self.numbers)),
            "heads": str(heads),
            "head_dim": str(width),
            "KV heads": str(first.k.shape[1]),
            "tokens": str(tokens) + (f", {batch} inputs" if batch > 1 else ""),
            "axes": first.order,
            "mask": "none" if first.mask is None else "as saved",
            "dtype": str(first.q.dtype).removeprefix("torch."),
            "size": f"{size:,} bytes",
            "missing": ", ".join(lacking) or "nothing",
        }


def _notes(raw: Mapping[int, RawLayer]) -> list[str]:
    notes = []
    if any(layer.scale is None for layer in raw.values()):
        notes.append("The file does not say the scale τ: 1/√D is used.")
    for number, layer in raw.items():
        if layer.unused:
            parts = ", ".join(layer.unused)
            notes.append(f"Layer {number}: the shape or the numbers of {parts} do not fit; not used.")
        if layer.numbers and layer.numbers != tuple(range(len(layer.numbers))):
            true = ", ".join(map(str, layer.numbers))
            notes.append(f"Layer {number}: the heads shown from 0 on are the file's {true}.")
    if any(layer.q.shape[2] == 1 for layer in raw.values()):
        notes.append(
            "A head of one token attends to itself alone: its attention is 1, and there is no spectrum to "
            "compare. Capture a longer input."
        )
    return notes


def open_raw_heads(
    path: Path,
    *,
    heads: int | None = None,
    should_stop: ShouldStop = never,
    progress: Progress = silent,
) -> RawHeadsSource | None:
    """Open a file of captured queries, keys and values.

    Names are read as in "q", "layer3.keys" or "l5h11_v", shapes of 2 to 4 dimensions by what fits; 4
    dimensions are (layers, …) where names have no layer number, else (batch, …).

    Parameters
    ----------
    heads : int or None
        As the person says, where the shapes do not.

    Returns
    -------
    RawHeadsSource or None
        None: the file is readable, and has no q, k and v.

    Raises
    ------
    NeedsHeads
        If the axes or the heads cannot be told apart.
    GramscopeError
        If the file is damaged or unsafe, or its heads make no sense.
    Stopped
        If `should_stop` said so.
    """
    refuse_empty_file(path)
    if path.suffix.lower() == ".safetensors" and not _holds_heads(read_header(path)):
        return None
    entries = _read(path, should_stop, progress)
    layers = group(entries.items())
    if not layers:
        return None
    header = Header.of(entries)
    tokens = len(header.tokens) or None
    raw = {
        number: read_layer(parts, tokens, len(parts["q"]) if header.ours else heads)
        for number, parts in layers.items()
    }
    return RawHeadsSource(path.stem, raw, header)


def _holds_heads(names: Iterable[str]) -> bool:
    roles = {place.role for name in names if (place := read_name(name))}
    return len(roles & {"q", "k", "v"}) > 1


def _read(path: Path, should_stop: ShouldStop, progress: Progress) -> dict[str, Any]:
    """Return a file's tensors, numbers and texts by dotted name."""
    if path.suffix.lower() == ".npz":
        return {name: _of_array(name, array) for name, array in load_arrays(path).items()}
    entries = dict(leaves(load_tensors(path, should_stop, progress)))
    return entries | (read_metadata(path) if path.suffix.lower() == ".safetensors" else {})


def _of_array(name: str, array: np.ndarray) -> Any:
    if array.dtype.kind == "U":
        return array.tolist()
    try:
        return torch.from_numpy(array.astype(array.dtype.newbyteorder("=")))
    except TypeError as error:
        raise GramscopeError(f"{name} holds {array.dtype}, not numbers. Save it as float32.") from error
