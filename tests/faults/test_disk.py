"""A disk that is full or read-only, and files that go while they are read: a message, and nothing half."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from pytestqt.qtbot import QtBot
from safetensors.torch import save_file

from explorer.errors import GramscopeError
from explorer.maths.evidence_draws import Draws
from explorer.models.checkpoint import read_weights
from explorer.models.recipes import Recipe
from explorer.models.safety import load_tensors
from explorer.params import Input
from explorer.report.run import run_report
from explorer.ui.window import MainWindow
from tests.ui.desk import sentences, sit_down

OLD = b"what was there before"
SPARE = 4096


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of 256 kB; only the superuser may make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "gramscope-test", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no file system can be made here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def full(small_disk: Path) -> Path:
    room = shutil.disk_usage(small_disk).free
    (small_disk / "ballast").write_bytes(bytes(room - SPARE))
    return small_disk


@pytest.fixture
def read_only(small_disk: Path) -> Path:
    for name in NAMES:
        (small_disk / name).write_bytes(OLD)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    return small_disk


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot) as window:
        yield window


def save_session(window: MainWindow, folder: Path) -> None:
    window.state.select(frozenset(range(20_000)))
    window.workbench.sessions.save_to(folder / NAMES[0])


def export(window: MainWindow, folder: Path) -> None:
    window.exports.try_save(None, folder / NAMES[1])


def save_heads(window: MainWindow, folder: Path) -> None:
    window.open_recipe(Recipe(tokens=64, dim=16, components=3))
    window.save_captured(folder / NAMES[2])


NAMES = ("a.gramscope", "a.png", "a.safetensors")
WRITERS = pytest.mark.parametrize("write", [save_session, export, save_heads])


@WRITERS
def test_a_full_disk(write: Callable[[MainWindow, Path], None], window: MainWindow, full: Path) -> None:
    before = {path: path.read_bytes() for path in full.iterdir()}
    write(window, full)
    assert "no space left" in sentences(window)[0]
    assert {path: path.read_bytes() for path in full.iterdir()} == before
    window.state.update(level=0.1)
    assert window.state.result is not None and window.state.result.params.level == 0.1


@WRITERS
def test_a_read_only_disk(
    write: Callable[[MainWindow, Path], None], window: MainWindow, read_only: Path
) -> None:
    write(window, read_only)
    said = sentences(window)[0]
    assert "read-only" in said or "may not write" in said
    assert all((read_only / name).read_bytes() == OLD for name in NAMES)


def test_a_report_on_a_full_disk(full: Path) -> None:
    with pytest.raises(GramscopeError, match="no space left"):
        run_report("controls", out=full / "report", draws=Draws(cheap=8, costly=2))


def test_a_report_on_a_read_only_disk(read_only: Path) -> None:
    with pytest.raises(GramscopeError, match="cannot be made"):
        run_report("controls", out=read_only / "report", draws=Draws(cheap=8, costly=2))


def shards(folder: Path) -> list[Path]:
    files = [folder / f"{number}.safetensors" for number in range(2)]
    for path in files:
        save_file({f"{path.stem}.{part}": torch.zeros(100_000) for part in range(4)}, path)
    return files


def test_a_file_that_goes_before_its_turn(tmp_path: Path) -> None:
    files = shards(tmp_path)
    with pytest.raises(GramscopeError, match=r"There is nothing at .*1\.safetensors"):
        read_weights(files, progress=lambda *_: files[1].unlink(missing_ok=True))


def test_a_file_that_is_cut_short_while_it_is_read(tmp_path: Path) -> None:
    path = shards(tmp_path)[0]

    def cut(done: int, total: int, what: str) -> None:
        with path.open("r+b") as file:
            file.truncate(1000)

    with pytest.raises(GramscopeError, match="became shorter"):
        load_tensors(path, progress=cut)


def test_a_file_that_goes_while_it_is_open_is_read_to_its_end(tmp_path: Path) -> None:
    path = shards(tmp_path)[0]
    if sys.platform == "win32":
        pytest.skip("an open file cannot be removed")
    assert len(load_tensors(path, progress=lambda *_: path.unlink(missing_ok=True))) == 4


def test_an_input_that_goes(window: MainWindow, tmp_path: Path) -> None:
    window.opener.open_sample()
    result = window.state.result
    window.state.update(input=Input(path=str(tmp_path / "gone.png")))
    assert "There is nothing at" in sentences(window)[0]
    assert window.state.result is result
