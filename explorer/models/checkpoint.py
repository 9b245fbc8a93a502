"""The weights of a Hugging Face folder, whichever files hold them."""

from __future__ import annotations

from pathlib import Path

import psutil
import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.base import ShouldStop, never
from explorer.models.safety import Progress, load_tensors, refuse_irregular_file, shards_of, silent

STANDARD = (
    "model.safetensors", "model.safetensors.index.json",
    "pytorch_model.bin", "pytorch_model.bin.index.json",
)  # fmt: skip
LOOSE = (".safetensors", ".bin", ".pt", ".pth", ".ckpt")
WRAPPERS = ("module.", "_orig_mod.")
ASIDE = ("optimizer", "scheduler", "training_args", "rng_state", "adapter_model")


def has_usual_name(path: Path) -> bool:
    """Whether a file is one that transformers itself would read in its folder."""
    return path.name in STANDARD or any(
        path in shards_of(index) for index in path.parent.glob("*.index.json")
    )


def weight_files(folder: Path, chosen: Path | None = None) -> list[Path]:
    """Return the files that hold a folder's weights, one or all shards.

    Parameters
    ----------
    chosen : Path or None
        The file that the person picked: it alone, or with the shards that an index joins it to.

    Raises
    ------
    GramscopeError
        If there are none, several candidates, or an index that cannot be followed.
    """
    if chosen is not None:
        joined = (shards_of(index) for index in folder.glob("*.index.json"))
        return next((shards for shards in joined if chosen in shards), [refuse_irregular_file(chosen)])
    for name in STANDARD:
        path = folder / name
        if path.exists():
            return shards_of(path) if name.endswith(".json") else [refuse_irregular_file(path)]
    for ending in LOOSE:
        found = [path for path in _ending_in(folder, ending) if not path.stem.startswith(ASIDE)]
        if len(found) == 1:
            return [refuse_irregular_file(found[0])]
        if found:
            names = ", ".join(path.name for path in found[:8])
            raise GramscopeError(f"{folder.name} holds several weight files ({names}). Open one of them.")
    raise GramscopeError(
        f"{folder.name} holds no weights: model.safetensors or pytorch_model.bin is needed.",
        "Found: " + ", ".join(sorted(path.name for path in folder.iterdir())[:40]),
    )


def _ending_in(folder: Path, ending: str) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.suffix.lower() == ending]


def refuse_not_finite(name: str, tensor: Tensor, file: str) -> None:
    """Raise where a weight is not a number or infinite: every picture of it would be empty."""
    if not tensor.is_floating_point() or not tensor.numel():
        return
    ends = (tensor.float() if tensor.element_size() == 1 else tensor).aminmax()
    if not all(torch.isfinite(end) for end in ends):
        raise GramscopeError(
            f"{file} has broken weights: {name} holds NaN or infinity. Training may have diverged; "
            "open an earlier checkpoint."
        )


def _offset(progress: Progress, before: int, total: int) -> Progress:
    """Report one of several files as a part of them all."""
    return lambda done, _, what: progress(before + done, total, what)


def read_weights(
    files: list[Path], should_stop: ShouldStop = never, progress: Progress = silent
) -> dict[str, Tensor]:
    """Read all shards into one dict.

    Parameters
    ----------
    progress : callable
        Told of bytes, of all files together.

    Raises
    ------
    GramscopeError
        If a file is not safe or sound (`load_tensors`), is not a flat dict of tensors, or a weight
        is not finite.
    """
    sizes = [path.stat().st_size for path in files]
    free = psutil.virtual_memory().available
    if sum(sizes) > free:
        raise GramscopeError(
            f"The weights take {sum(sizes):,} bytes and this machine has {free:,} free. Close other programs "
            "or open a smaller or quantised model."
        )
    weights: dict[str, Tensor] = {}
    for number, path in enumerate(files):
        part = load_tensors(path, should_stop, _offset(progress, sum(sizes[:number]), sum(sizes)))
        if not isinstance(part, dict) or not all(isinstance(value, Tensor) for value in part.values()):
            raise GramscopeError(
                f"{path.name} is not a plain dict of tensors, as a Hugging Face folder needs."
            )
        for name, tensor in part.items():
            refuse_not_finite(name, tensor, path.name)
        weights |= part
    return _without_wrappers(weights)


def _without_wrappers(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Drop the prefixes that data-parallel and compiled models put before every name."""
    for prefix in WRAPPERS * 2:
        if all(name.startswith(prefix) for name in weights):
            weights = {name.removeprefix(prefix): value for name, value in weights.items()}
    return weights
