"""The header of a GGUF file is walked through without being believed."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import pytest

from explorer.errors import GramscopeError
from explorer.models.gguf_header import read_header
from explorer.models.open import open_path
from tests.models.test_gguf import write_llama

gguf = pytest.importorskip("gguf")
pytest.importorskip("accelerate")


def write(path: Path, tensors: int = 0, settings: int = 0, rest: bytes = b"", order: str = "<") -> Path:
    path.write_bytes(b"GGUF" + struct.pack(f"{order}IQQ", 3, tensors, settings) + rest)
    return path


def text(word: bytes) -> bytes:
    return struct.pack("<Q", len(word)) + word


def setting(name: bytes, kind: int, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + value


ARRAY = struct.pack("<IQ", 4, 2**40)
LIES = {
    "a length": {"settings": 1, "rest": struct.pack("<Q", 2**60)},
    "how many settings": {"settings": 2**40},
    "how many tensors": {"tensors": 2**40},
    "how many entries": {"settings": 1, "rest": setting(b"a", 9, ARRAY)},
    "arrays in arrays": {"settings": 1, "rest": setting(b"a", 9, struct.pack("<IQ", 9, 1) + ARRAY)},
    "a type": {"settings": 1, "rest": setting(b"a", 77, b"")},
    "how many dimensions": {"tensors": 1, "rest": text(b"a") + struct.pack("<I", 2**31)},
    "a shape": {"tensors": 1, "rest": text(b"a") + struct.pack("<IQIQ", 1, 2**50, 0, 0)},
}


@pytest.mark.parametrize("lie", LIES)
def test_what_cannot_be_is_refused_at_once(lie: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", **LIES[lie])
    begin = time.perf_counter()
    with pytest.raises(GramscopeError, match="claims what it does not hold"):
        open_path(path)
    assert time.perf_counter() - begin < 2


def test_what_is_there_is_told(tmp_path: Path) -> None:
    words = setting(b"words", 9, struct.pack("<IQ", 8, 2) + text(b"a") + text(b"bc"))
    rest = setting(b"x.block_count", 4, struct.pack("<I", 7)) + words
    rest += text(b"blk.3.a.weight") + struct.pack("<IQQIQ", 2, 3, 2, 0, 0) + bytes(24)
    header = read_header(write(tmp_path / "a.gguf", tensors=1, settings=2, rest=rest))
    assert header.numbers == {"x.block_count": 7} and header.shapes == {"blk.3.a.weight": (3, 2)}
    assert (header.blocks, header.stored, header.widest) == (1, 6, 3)


def test_the_other_byte_order(tmp_path: Path) -> None:
    rest = struct.pack(">Q", 1) + b"a" + struct.pack(">II", 4, 9)
    assert read_header(write(tmp_path / "a.gguf", settings=1, rest=rest, order=">")).numbers == {"a": 9}


def test_more_layers_than_there_are_tensors_of(tmp_path: Path) -> None:
    path = write_llama(tmp_path / "a.gguf")
    path.write_bytes(path.read_bytes().replace(b"llama.block_count", b"llama.block_cuont"))
    begin = time.perf_counter()
    with pytest.raises(GramscopeError, match="a model of 32 layers, and holds the tensors of 3"):
        open_path(path)
    assert time.perf_counter() - begin < 5
