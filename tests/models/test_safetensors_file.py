"""A safetensors header is checked against the file before anything is read by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from explorer.errors import GramscopeError
from explorer.models.safetensors_file import TensorInfo, read_header, read_metadata
from explorer.models.safety import load_tensors


def write(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> Path:
    raw = json.dumps(header).encode() if not isinstance(header, bytes) else header
    path.write_bytes((len(raw) if length is None else length).to_bytes(8, "little") + raw + data)
    return path


def entry(begin: int, end: int, shape: list[Any] | None = None, dtype: str = "F32") -> dict[str, Any]:
    return {
        "dtype": dtype,
        "shape": [(end - begin) // 4] if shape is None else shape,
        "data_offsets": [begin, end],
    }


def test_a_sound_file_is_read_with_progress(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(6.0).view(2, 3), "b": torch.ones(4, dtype=torch.bfloat16)}
    path = tmp_path / "a.safetensors"
    save_file(tensors, path, {"accuracy": "0.97"})
    assert read_header(path)["a"] == TensorInfo("F32", (2, 3))
    assert read_metadata(path) == {"accuracy": "0.97"}
    told: list[tuple[int, int, str]] = []
    loaded = load_tensors(path, progress=lambda *report: told.append(report))
    assert all(torch.equal(loaded[name], tensors[name]) for name in tensors)
    assert told[-1] == (32, 32, "reading a.safetensors")


@pytest.mark.parametrize(
    ("header", "data", "length", "says"),
    [
        ({}, b"", 2**60, "claims 1,152,921,504,606,846,976 bytes"),
        ({}, b"", 2**64 - 1, "claims"),
        (b"{", b"", None, "not JSON"),
        (b"[" * 10_000, b"", None, "not JSON"),
        (b"[]", b"", None, "not a table"),
        ({"a": entry(0, 400)}, b"\0" * 8, None, "truncated"),
        ({"a": entry(0, 8)}, b"\0" * 16, None, "account for 8 bytes and 16"),
        ({"a": entry(0, 8), "b": entry(4, 12)}, b"\0" * 12, None, "b overlaps"),
        ({"a": entry(0, 8), "b": entry(0, 8)}, b"\0" * 8, None, "overlaps"),
        ({"a": entry(0, 8), "b": entry(12, 16)}, b"\0" * 16, None, "hole before b"),
        ({"a": entry(0, 8, [1000])}, b"\0" * 8, None, "disagree"),
        ({"a": entry(0, 8, [-2])}, b"\0" * 8, None, "makes no sense"),
        ({"a": entry(0, 8, [2**70, 0])}, b"\0" * 8, None, "disagree"),
        ({"a": entry(-8, 0)}, b"", None, "makes no sense"),
        ({"a": entry(0, 8, ["2"])}, b"\0" * 8, None, "makes no sense"),
        ({"a": entry(0, 8, dtype="X9")}, b"\0" * 8, None, "makes no sense"),
        ({"a": {"dtype": "F32"}}, b"", None, "incomplete"),
        ({"a": 3}, b"", None, "incomplete"),
    ],
)
def test_a_lying_header_is_refused(
    tmp_path: Path, header: Any, data: bytes, length: int | None, says: str
) -> None:
    path = write(tmp_path / "a.safetensors", header, data, length)
    with pytest.raises(GramscopeError, match=says) as caught:
        load_tensors(path)
    assert "a.safetensors" in str(caught.value)


@pytest.mark.parametrize("size", [0, 4, 8])
def test_a_file_too_short_for_a_header_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(b"\1" * size)
    with pytest.raises(GramscopeError, match="not a sound safetensors file"):
        read_header(path)


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    save_file({"a": torch.zeros(10), "b": torch.zeros(3)}, path)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(GramscopeError):
            load_tensors(path)
