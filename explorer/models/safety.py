"""Reading files that a stranger may have made: nothing in them is run, nothing they claim is believed."""

from __future__ import annotations

import argparse
import json
import math
import os
import pickle
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import psutil
import torch
from torch import Tensor

from explorer.errors import GramscopeError, Stopped
from explorer.models.base import ShouldStop, never
from explorer.models.patience import wait_for
from explorer.models.safetensors_file import DTYPES, TensorInfo, read_header

Progress = Callable[[int, int, str], None]
"""Called with how much is done, of how much, and what it is ("reading model.safetensors")."""

JSON_LIMIT = 256_000_000
SCALAR: Any = np.float64().__reduce__()[0]
HARMLESS: list[Callable[..., Any] | tuple[Callable[..., Any], str]] = [
    argparse.Namespace,
    np.dtype,
    *(type(np.dtype(kind)) for kind in ("f2", "f4", "f8", "i4", "i8", "?")),
    (SCALAR, "numpy.core.multiarray.scalar"),
    (SCALAR, "numpy._core.multiarray.scalar"),
]
"""What people save beside their weights (arguments, a best accuracy); building one runs nothing."""


def silent(done: int, total: int, what: str) -> None:
    """Report progress to nobody."""


def refuse_irregular(path: str | Path, should_stop: ShouldStop = never) -> Path:
    """Return `path` if it is a regular file or a folder; links are followed.

    Raises
    ------
    GramscopeError
        If nothing is there, it cannot be looked at or does not answer, or it is a pipe, a socket or a
        device, reading which could block for ever.
    Stopped
        If `should_stop` said so while its drive did not answer.
    """
    path = Path(path)
    wait_for(path, should_stop)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise GramscopeError(f"There is nothing at {path}. Check the name.") from error
    except (OSError, ValueError) as error:
        raise GramscopeError(f"{path} cannot be read: {error}.") from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise GramscopeError(f"{path.name} is a pipe, a socket or a device. Open a file or a folder.")
    return path


def refuse_irregular_file(path: str | Path) -> Path:
    """Return `path` if it is a regular file; see `refuse_irregular`."""
    path = refuse_irregular(path)
    if path.is_dir():
        raise GramscopeError(f"{path.name} is a folder where a file is needed.")
    return path


def _number(value: dict[str, Any]) -> Any:
    """Return the number that transformers writes as {"__float__": "Infinity"}; any other object as it is."""
    named = value.get("__float__") if len(value) == 1 else None
    return float(named) if named in ("Infinity", "-Infinity", "NaN") else value


def refuse_empty_file(path: str | Path) -> Path:
    """Return `path` if it is a regular file with anything in it; see `refuse_irregular`."""
    path = refuse_irregular_file(path)
    if not path.stat().st_size:
        raise GramscopeError(f"{path.name} is an empty file, of 0 bytes. Copy or download it again.")
    return path


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises
    ------
    GramscopeError
        If the file is not one JSON object of a sane size.
    """
    refuse_irregular_file(path)
    if path.stat().st_size > JSON_LIMIT:
        raise GramscopeError(f"{path.name} is {path.stat().st_size:,} bytes: too large for a settings file.")
    try:
        value = json.loads(path.read_text(encoding="utf-8"), object_hook=_number)
    except (ValueError, RecursionError) as error:
        raise GramscopeError(f"{path.name} is not valid JSON. Download it again.", str(error)) from error
    except OSError as error:
        raise GramscopeError(f"{path.name} cannot be read: {error}.") from error
    if not isinstance(value, dict):
        raise GramscopeError(f"{path.name} should hold one JSON object, and holds a {type(value).__name__}.")
    return value


def shards_of(index: Path) -> list[Path]:
    """Return the files that a sharded checkpoint's index names, each once.

    Raises
    ------
    GramscopeError
        If the index names a file outside its own folder, or one that is missing.
    """
    names = read_json(index).get("weight_map")
    if not isinstance(names, dict) or not names:
        raise GramscopeError(f"{index.name} lists no weights: it has no weight_map.")
    shards = []
    for name in dict.fromkeys(map(str, names.values())):
        if Path(name).is_absolute() or ".." in Path(name).parts or "\\" in name:
            raise GramscopeError(f"{index.name} points outside its folder ({name}): it was not opened.")
        try:
            shards.append(refuse_irregular_file(index.parent / name))
        except GramscopeError as error:
            raise GramscopeError(
                f"{index.name} needs {name[:100]}, which is not beside it. Complete the download.", str(error)
            ) from error
    return shards


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Walk through nested dicts, lists and tuples; a container met twice is entered once."""
    waiting, met = [value], set()
    while waiting:
        item = waiting.pop()
        if isinstance(item, Tensor):
            yield item
        elif isinstance(item, (dict, list, tuple)) and id(item) not in met:
            met.add(id(item))
            waiting += item.values() if isinstance(item, dict) else item


def load_tensors(path: str | Path, should_stop: ShouldStop = never, progress: Progress = silent) -> Any:
    """Read a `.safetensors`, or what `torch.save` wrote in the zip or the legacy format.

    Returns
    -------
    object
        A flat dict of str to Tensor (safetensors), or whatever was saved: tensors, numbers and
        strings in nested dicts and lists, on the CPU.

    Raises
    ------
    GramscopeError
        If the file is damaged, is not of these kinds, claims more numbers than it holds, or is a
        pickle that needs more than tensors: no code in it runs.
    Stopped
        If `should_stop` said so while reading.
    """
    path = refuse_empty_file(path)
    try:
        if path.suffix.lower() == ".safetensors":
            return _load_safetensors(path, should_stop, progress)
        return _load_torch(path, should_stop, progress)
    except OSError as error:
        raise GramscopeError(f"{path.name} cannot be read: {error}.") from error


def _load_safetensors(path: Path, should_stop: ShouldStop, progress: Progress) -> dict[str, Tensor]:
    """Read tensor by tensor, not by mapping: a mapped file that is cut short or whose drive goes kills."""
    header = read_header(path)
    total, done, tensors = sum(info.bytes for info in header.values()), 0, {}
    with path.open("rb") as file:
        file.seek(-total, os.SEEK_END)
        for name, info in header.items():
            if should_stop():
                raise Stopped
            tensors[name] = _next_tensor(file, path, info)
            done += info.bytes
            progress(done, total, f"reading {path.name}")
    return tensors


def _next_tensor(file: BinaryIO, path: Path, info: TensorInfo) -> Tensor:
    if info.dtype not in DTYPES:
        raise GramscopeError(f"{path.name} holds {info.dtype} numbers, which PyTorch does not know.")
    buffer = torch.empty(info.bytes, dtype=torch.uint8)
    if file.readinto(buffer.numpy()) != info.bytes:  # type: ignore[attr-defined]
        raise GramscopeError(f"{path.name} became shorter while it was read. Open it again when it is whole.")
    return buffer.view(DTYPES[info.dtype]).reshape(info.shape)


class _CountedFile:
    """A binary file that reports how far it was read, and stops when asked to."""

    def __init__(self, file: BinaryIO, path: Path, should_stop: ShouldStop, progress: Progress) -> None:
        self._file, self._should_stop, self._progress = file, should_stop, progress
        self._what, self._total, self._done = f"reading {path.name}", path.stat().st_size, 0
        self.seek, self.tell = file.seek, file.tell

    def _count(self, size: int) -> None:
        if self._should_stop():
            raise Stopped
        self._done = min(self._done + size, self._total)
        self._progress(self._done, self._total, self._what)

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(min(size, self._total))  # a claimed size is not believed
        self._count(len(data))
        return data

    def readline(self, size: int = -1) -> bytes:
        line = self._file.readline(size)
        self._count(len(line))
        return line

    def readinto(self, buffer: Any) -> int:
        size = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self._count(size)
        return size


def _refuse_zip_bomb(path: Path) -> None:
    try:
        if not zipfile.is_zipfile(path):  # which raises, too, where the end of an archive makes no sense
            return
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        raise GramscopeError(f"{path.name} is a damaged archive. Copy it again.", str(error)) from error
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise GramscopeError(
            f"{path.name} is a compressed archive; PyTorch never compresses. Unpack it first."
        )
    if sum(entry.file_size for entry in entries) > path.stat().st_size:
        raise GramscopeError(f"{path.name} claims to hold more than its size: it was not opened.")
    if any(entry.filename.endswith("constants.pkl") for entry in entries):
        raise GramscopeError(
            f"{path.name} is a TorchScript program, which would have to be run. Save the model's state_dict."
        )


def _refuse_pickle(path: Path, error: Exception) -> GramscopeError:
    found = re.search(r"GLOBAL (\S+)", str(error))
    needs = f" ({found[1]})" if found else ""
    if "Unsupported operand" in str(error):
        return GramscopeError(
            f"{path.name} is a pickle with instructions that are not followed, as those of protocols above 2 "
            "have. Save it again with torch.save as it is by default, or convert it to safetensors.",
            str(error),
        )
    if isinstance(error, pickle.UnpicklingError):
        return GramscopeError(
            f"{path.name} is a pickle that holds more than tensors{needs}: reading it could run code, so "
            "it was not opened. If you trust it, save its tensors alone or convert it to safetensors.",
            str(error),
        )
    return GramscopeError(
        f"{path.name} is not a whole file of PyTorch tensors. Copy it again, or convert it to safetensors.",
        f"{type(error).__name__}: {error}",
    )


def _load_torch(path: Path, should_stop: ShouldStop, progress: Progress) -> Any:
    _refuse_zip_bomb(path)
    with path.open("rb") as file, torch.serialization.safe_globals(HARMLESS):
        try:
            counted = _CountedFile(file, path, should_stop, progress)
            value = torch.load(counted, map_location="cpu", weights_only=True)  # type: ignore[arg-type]
        except Exception as error:  # a hostile file can raise anything
            if should_stop():
                raise Stopped from error
            raise _refuse_pickle(path, error) from error
    size = path.stat().st_size
    if any(tensor.numel() * tensor.element_size() > size for tensor in tensors_in(value)):
        raise GramscopeError(f"{path.name} holds a tensor larger than the file: it was not opened.")
    return value


def _refuse_false_claim(file: Any, size: int) -> None:
    """Raise ValueError if an array's header claims more numbers than its file or entry has room for."""
    version = np.lib.format.read_magic(file)
    headers = np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"its format {version} is for named fields, not for numbers")
    shape, _, dtype = headers[version[0] - 1](file)
    if math.prod(shape) * dtype.itemsize > size:
        raise ValueError(f"it claims the shape {shape}, for which it is too small")


def load_arrays(path: str | Path) -> dict[str, np.ndarray]:
    """Read a `.npz`, or a `.npy` as its one array "array"; pickled objects are refused.

    Raises
    ------
    GramscopeError
        If the file is damaged, holds Python objects, or would unpack to more than half of the free memory.
    """
    path = refuse_empty_file(path)
    try:
        if path.suffix.lower() == ".npz":
            with zipfile.ZipFile(path) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
                if size > psutil.virtual_memory().available // 2:
                    raise GramscopeError(
                        f"{path.name} unpacks to {size:,} bytes: more than this machine can hold."
                    )
                for entry in archive.infolist():
                    with archive.open(entry) as file:
                        _refuse_false_claim(file, entry.file_size)
            with np.load(path, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
        with path.open("rb") as file:
            _refuse_false_claim(file, path.stat().st_size)
        return {"array": np.load(path, allow_pickle=False)}
    except GramscopeError:
        raise
    except Exception as error:  # NumPy and what it reads with raise what they like
        raise GramscopeError(
            f"{path.name} is not a whole file of plain NumPy arrays (Python objects are not read). "
            "Save it again with numpy.save or numpy.savez.",
            str(error),
        ) from error
