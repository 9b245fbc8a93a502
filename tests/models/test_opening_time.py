"""How long opening takes is told from the size and the pace of the drive."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import GramscopeError, Stopped
from explorer.models import opening_time as timed
from explorer.models.opening_time import opening_time

GIGABYTE = 10**9


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file of a gigabyte that takes no room."""
    path = tmp_path / "large.safetensors"
    path.touch()
    os.truncate(path, GIGABYTE)
    return path


def slow(each: float) -> Callable[..., Any]:
    """Return what opens files whose every piece takes so many seconds."""

    class Slow(io.FileIO):
        def readinto(self, buffer: Any) -> int:
            time.sleep(each)
            return super().readinto(buffer)

    return lambda path, mode, buffering: Slow(str(path), mode)


def test_a_slow_drive_takes_long(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = opening_time([large])
    assert quick.size == GIGABYTE
    monkeypatch.setattr(Path, "open", slow(0.02))
    begin = time.monotonic()
    expected = opening_time([large]).seconds
    assert expected >= 0.02 * GIGABYTE / timed.PIECE > quick.seconds
    assert time.monotonic() - begin < expected / 2


def test_shards_count_together(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    folder = tiny("bert")
    assert opening_time([folder]).size == (folder / "model.safetensors").stat().st_size
    assert opening_time([folder / "config.json"]).size == opening_time([folder]).size


def test_what_cannot_be_opened_is_refused_as_opening_would(tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match="There is nothing at"):
        opening_time([tmp_path / "none.safetensors"])


def test_an_empty_file_takes_no_time(tmp_path: Path) -> None:
    (tmp_path / "a.npz").touch()
    assert opening_time([tmp_path / "a.npz"]).seconds == 0.0


def test_it_stops_when_asked(large: Path) -> None:
    with pytest.raises(Stopped):
        opening_time([large], should_stop=lambda: True)


def test_unpacking_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gguf")
    from tests.models.test_gguf import write_llama

    path = write_llama(tmp_path / "tiny.gguf")
    monkeypatch.setattr(timed, "_seconds_a_byte", lambda *_: 1e-9)
    monkeypatch.setattr(timed, "_seconds_a_byte_made", lambda: 1.0)
    assert opening_time([path]).seconds > path.stat().st_size / 2
