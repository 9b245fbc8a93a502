"""Files made to hurt: nothing in them runs, nothing they claim is believed."""

from __future__ import annotations

import argparse
import json
import os
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from explorer.errors import GramscopeError, Stopped
from explorer.models.safety import (
    load_arrays,
    load_tensors,
    read_json,
    refuse_irregular,
    refuse_irregular_file,
    shards_of,
    tensors_in,
)

ZIP_OR_LEGACY = pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
WRAPPERS = [
    "",
    "model",
    "state_dict",
    "model_state_dict",
    "module",
    "teacher",
    "student",
    "model_ema",
    "args",
]


def save(value: Any, path: Path, zipped: bool = True) -> Path:
    torch.save(value, path, _use_new_zipfile_serialization=zipped)
    return path


class Hostile:
    """Runs a command when it is unpickled in the ordinary way."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.mark}",)


class HostileState(dict):
    """Hides its command behind a dict of tensors."""

    def __reduce__(self) -> Any:
        return eval, ("__import__('pathlib').Path('hurt').touch()",)


@ZIP_OR_LEGACY
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_hostile_pickle_is_refused_and_does_not_run(tmp_path: Path, zipped: bool, wrapper: str) -> None:
    mark = tmp_path / "hurt"
    value: Any = {"weight": torch.zeros(2), "evil": Hostile(mark)}
    path = save({wrapper: value, "epoch": 3} if wrapper else value, tmp_path / "a.pt", zipped)
    with pytest.raises(
        GramscopeError, match=r"a\.pt is a pickle that holds more than tensors \(posix\.system\)"
    ):
        load_tensors(path)
    assert not mark.exists()
    torch.load(path, weights_only=False)
    assert mark.exists(), "the file was harmless: the test proves nothing"


@ZIP_OR_LEGACY
def test_hostile_container_is_refused(tmp_path: Path, zipped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GramscopeError, match="could run code"):
        load_tensors(save(HostileState(a=torch.zeros(1)), tmp_path / "a.pt", zipped))
    assert not Path("hurt").exists()


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_bare_pickle_is_refused(tmp_path: Path, protocol: int) -> None:
    mark, path = tmp_path / "hurt", tmp_path / "a.bin"
    path.write_bytes(pickle.dumps({"a": Hostile(mark)}, protocol))
    with pytest.raises(GramscopeError, match=r"safetensors"):
        load_tensors(path)
    assert not mark.exists()


@ZIP_OR_LEGACY
def test_whole_module_is_refused_with_its_name(tmp_path: Path, zipped: bool) -> None:
    with pytest.raises(GramscopeError, match=r"torch\.nn\.modules\.linear\.Linear"):
        load_tensors(save(torch.nn.Linear(2, 2), tmp_path / "a.pt", zipped))


@ZIP_OR_LEGACY
def test_what_people_save_beside_weights_is_read(tmp_path: Path, zipped: bool) -> None:
    value = {
        "model": {"a": torch.arange(6.0).view(2, 3)},
        "optimizer": {"state": {}, "param_groups": [{"lr": 0.1}]},
        "args": argparse.Namespace(lr=0.1), "best": np.float64(0.5), "epoch": np.int64(3),
    }  # fmt: skip
    told: list[tuple[int, int, str]] = []
    path = save(value, tmp_path / "a.pth", zipped)
    loaded = load_tensors(path, progress=lambda *report: told.append(report))
    assert torch.equal(loaded["model"]["a"], value["model"]["a"])
    assert loaded["args"].lr == 0.1 and loaded["best"] == 0.5 and loaded["epoch"] == 3
    assert told[-1][0] > 0.9 * path.stat().st_size and told[-1][1:] == (path.stat().st_size, "reading a.pth")


@ZIP_OR_LEGACY
def test_reading_stops_when_asked(tmp_path: Path, zipped: bool) -> None:
    path = save([torch.zeros(10_000) for _ in range(50)], tmp_path / "a.pt", zipped)
    answers = iter([False] * 5 + [True] * 1000)
    with pytest.raises(Stopped):
        load_tensors(path, lambda: next(answers))


@ZIP_OR_LEGACY
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_truncated_file_is_named(tmp_path: Path, zipped: bool, share: float) -> None:
    path = save({"a": torch.zeros(1000)}, tmp_path / "a.pt", zipped)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(GramscopeError, match=r"a\.pt is"):
        load_tensors(path)


def test_tensor_larger_than_its_file_is_refused(tmp_path: Path) -> None:
    path = save({"deep": [{"a": torch.zeros(1).expand(10**12)}]}, tmp_path / "a.pt")
    with pytest.raises(GramscopeError, match="larger than the file"):
        load_tensors(path)


def test_compressed_archive_is_refused(tmp_path: Path) -> None:
    path = save({"a": torch.zeros(1_000_000)}, tmp_path / "a.pt")
    bomb = tmp_path / "bomb.pt"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            new.writestr(entry, old.read(entry))
    assert bomb.stat().st_size < path.stat().st_size / 100
    with pytest.raises(GramscopeError, match="compressed archive"):
        load_tensors(bomb)


def test_archive_that_claims_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    path = save({"a": torch.zeros(1000)}, tmp_path / "a.pt")
    raw = bytearray(path.read_bytes())
    entry = raw.rindex(b"PK\x01\x02", 0, raw.index(b"data/0", raw.index(b"PK\x01\x02")))
    raw[entry + 20 : entry + 28] = struct.pack("<II", 2**31, 2**31)
    path.write_bytes(raw)
    with pytest.raises(GramscopeError, match=r"claims to hold more|damaged"):
        load_tensors(path)


def test_torchscript_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/constants.pkl", b"")
        archive.writestr("a/data.pkl", b"")
    with pytest.raises(GramscopeError, match="TorchScript"):
        load_tensors(path)


def test_object_arrays_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.array([Hostile(tmp_path / "hurt")], dtype=object))
    np.save(tmp_path / "a.npy", np.array([{}], dtype=object))
    for name in ("a.npz", "a.npy"):
        with pytest.raises(GramscopeError, match="Python objects"):
            load_arrays(tmp_path / name)
    assert not (tmp_path / "hurt").exists()


def test_arrays_that_unpack_beyond_memory_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(tmp_path / "a.npz", a=np.zeros(1_000_000))
    assert load_arrays(tmp_path / "a.npz")["a"].shape == (1_000_000,)
    free = type("Memory", (), {"available": 10_000})
    monkeypatch.setattr("explorer.models.safety.psutil.virtual_memory", lambda: free)
    with pytest.raises(GramscopeError, match="unpacks to 8,000,"):
        load_arrays(tmp_path / "a.npz")


def test_damaged_arrays_are_named(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(1000))
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:500])
    (tmp_path / "b.npz").write_bytes(b"not a zip")
    for name in ("a.npy", "b.npz"):
        with pytest.raises(GramscopeError, match="not a whole file of plain NumPy arrays"):
            load_arrays(tmp_path / name)


def test_pipes_and_devices_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pt")
    (tmp_path / "link.pt").symlink_to("/dev/zero")
    for name in ("pipe.pt", "link.pt"):
        with pytest.raises(GramscopeError, match="pipe, a socket or a device"):
            load_tensors(tmp_path / name)
    with pytest.raises(GramscopeError, match="There is nothing at"):
        refuse_irregular(tmp_path / "none")
    with pytest.raises(GramscopeError, match="is a folder"):
        refuse_irregular_file(tmp_path)
    with pytest.raises(GramscopeError, match="cannot be read"):
        refuse_irregular("a\0b")


@pytest.mark.parametrize("outside", ["../other.safetensors", "/etc/passwd", "a/../../b", "..\\b.safetensors"])
def test_index_that_points_outside_is_refused(tmp_path: Path, outside: str) -> None:
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": outside}}))
    with pytest.raises(GramscopeError, match="points outside its folder"):
        shards_of(index)


def test_index_that_lacks_a_shard_or_everything_is_refused(tmp_path: Path) -> None:
    index = tmp_path / "index.json"
    index.write_text(json.dumps({"weight_map": {"a": "gone.safetensors"}}))
    with pytest.raises(GramscopeError, match=r"needs gone\.safetensors"):
        shards_of(index)
    index.write_text("{}")
    with pytest.raises(GramscopeError, match="no weight_map"):
        shards_of(index)


@pytest.mark.parametrize(
    ("text", "says"), [("{", "not valid JSON"), ("[" * 100_000, "not valid JSON"), ("[1]", "holds a list")]
)
def test_json_that_is_no_object_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(GramscopeError, match=says):
        read_json(tmp_path / "a.json")


def test_a_container_that_holds_itself_is_walked_once() -> None:
    value: list[Any] = [torch.zeros(1)]
    value.append({"again": value})
    assert len(list(tensors_in(value))) == 1
