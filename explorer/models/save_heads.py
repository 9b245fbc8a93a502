"""Write captured heads to a file that opens to the same picture."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.base import Capture, LayerHeads
from explorer.models.heads_header import IMAGE, KEY, header_text
from explorer.settings import atomic_write

PARTS = ("q", "k", "v", "mask", "bias", "x", "w_v")


def save_heads(
    capture: Capture, path: str | Path, *, name: str = "", should_stop: Callable[[], bool] = lambda: False
) -> None:
    """Write every layer of a capture, whole or not at all.

    Parameters
    ----------
    capture : Capture
        The heads of any source.
    path : path
        .safetensors keeps every number format; .npz, which has no bfloat16, holds those numbers as
        float32. Both open to the same numbers.
    name : str
        What the source bar will show; empty: the file's name.

    Raises
    ------
    GramscopeError
        If the ending is another, or the file cannot be written.
    Stopped
        `should_stop` said so before it was.
    """
    path = Path(path)
    tensors = {
        f"layer{number}.{part}": tensor
        for number, heads in capture.layers.items()
        for part, tensor in _parts(heads).items()
    }
    if capture.image is not None:
        tensors[IMAGE] = torch.from_numpy(np.ascontiguousarray(capture.image))
    if path.suffix.lower() not in (".safetensors", ".npz"):
        raise GramscopeError("Heads are written as .safetensors or .npz. Choose one of these endings.")
    encode = _safetensors if path.suffix.lower() == ".safetensors" else _npz
    atomic_write(path, encode(tensors, header_text(capture, name)), should_stop)


def _parts(heads: LayerHeads) -> dict[str, Tensor]:
    parts: dict[str, Tensor] = {"scale": torch.tensor(heads.scale, dtype=torch.float64)}
    if heads.softcap is not None:
        parts["softcap"] = torch.tensor(heads.softcap, dtype=torch.float64)
    for name in PARTS:
        part = getattr(heads, name)
        if part is not None:
            parts[name] = part.detach().cpu().contiguous()
    return parts


def _safetensors(tensors: dict[str, Tensor], header: str) -> bytes:
    from safetensors.torch import save

    return save({name: tensor.clone() for name, tensor in tensors.items()}, metadata={KEY: header})


def _npz(tensors: dict[str, Tensor], header: str) -> bytes:
    arrays = {
        name: (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
        for name, tensor in tensors.items()
    }
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{KEY: np.array(header)}, **arrays)
    return buffer.getvalue()
