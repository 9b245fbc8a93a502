"""The header of a safetensors file, read without believing it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import torch

from explorer.errors import GramscopeError

HEADER_LIMIT = 100_000_000
BITS = {
    "F64": 64, "F32": 32, "F16": 16, "BF16": 16, "I64": 64, "I32": 32, "I16": 16, "I8": 8,
    "U64": 64, "U32": 32, "U16": 16, "U8": 8, "BOOL": 8, "C64": 64,
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "F4": 4,
    "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
    "U64": torch.uint64, "U32": torch.uint32, "U16": torch.uint16, "U8": torch.uint8, "BOOL": torch.bool,
    "C64": torch.complex64, "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2,
    "F8_E4M3FNUZ": torch.float8_e4m3fnuz, "F8_E5M2FNUZ": torch.float8_e5m2fnuz,
}  # fmt: skip
"""Those that PyTorch knows, too."""


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """What a file says of one tensor: safetensors' own dtype name ("F32", "BF16", …) and its shape."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """Size in bytes."""
        return math.prod(self.shape) * BITS[self.dtype] // 8


def _damaged(path: Path, why: str) -> GramscopeError:
    return GramscopeError(
        f"{path.name} is not a sound safetensors file: {why}. Download or copy it again; if it stays so, "
        "the program that wrote it is at fault."
    )


def _read_json_header(path: Path) -> tuple[dict, int]:
    """Return the raw header and the number of bytes of data that follow it."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise _damaged(path, f"its header claims {length:,} bytes and the file has {size:,}")
        if length > HEADER_LIMIT:
            raise _damaged(path, f"its header of {length:,} bytes is larger than the format allows")
        raw = file.read(length)
    try:
        header = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "its header is not JSON") from error
    if not isinstance(header, dict):
        raise _damaged(path, "its header is not a table of tensors")
    return header, size - 8 - length


def _parse_entry(path: Path, name: str, entry: object) -> tuple[int, int, TensorInfo]:
    try:
        begin, end = entry["data_offsets"]  # type: ignore[index]
        dtype, shape = entry["dtype"], entry["shape"]  # type: ignore[index]
    except (TypeError, KeyError, ValueError) as error:
        raise _damaged(path, f"the entry of {name} is incomplete") from error
    numbers = [begin, end, *shape] if isinstance(shape, list) else [None]
    if not all(type(number) is int and number >= 0 for number in numbers) or dtype not in BITS:
        raise _damaged(path, f"the entry of {name} makes no sense")
    info = TensorInfo(dtype, tuple(shape))
    if end - begin != info.bytes:
        raise _damaged(path, f"{name} claims shape {info.shape} and {end - begin:,} bytes, which disagree")
    return begin, end, info


def read_header(path: Path) -> dict[str, TensorInfo]:
    """Return the tensors of a safetensors file, in the order of their bytes.

    Raises
    ------
    GramscopeError
        If the file is truncated, or its header claims what cannot be: a length beyond the file,
        sizes that disagree with shapes, tensors that overlap or leave holes.
    """
    header, room = _read_json_header(path)
    entries = [
        (*_parse_entry(path, name, entry), name) for name, entry in header.items() if name != "__metadata__"
    ]
    entries.sort(key=lambda entry: entry[:2])
    position = 0
    for begin, end, _, name in entries:
        if begin < position:
            raise _damaged(path, f"{name} overlaps the tensor before it")
        if begin > position:
            raise _damaged(path, f"there is a hole before {name}")
        position = end
    if position != room:
        kind = "it is truncated: its tensors need" if position > room else "its tensors account for"
        raise _damaged(path, f"{kind} {position:,} bytes and {room:,} are there")
    return {name: info for _, _, info, name in entries}


def read_metadata(path: Path) -> dict[str, str]:
    """Return the free text that whoever wrote the file put into its header."""
    metadata = _read_json_header(path)[0].get("__metadata__", {})
    return {str(key): str(value) for key, value in metadata.items()} if isinstance(metadata, dict) else {}
