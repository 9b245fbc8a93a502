from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer import settings
from explorer.errors import GramscopeError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "home")


def test_resources_of_a_checkout() -> None:
    assert settings.resource("fonts/LICENSE").is_file()


def test_resources_of_a_frozen_application(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "x.txt").write_text("x")
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert settings.resource("x.txt").read_text() == "x"
    with pytest.raises(GramscopeError, match=r"fonts is missing\. Install it again"):
        settings.resource("fonts")


def test_resources_of_a_wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "explorer"
    (package / "resources").mkdir(parents=True)
    (package / "resources" / "x.txt").write_text("x")
    monkeypatch.setattr(settings, "__file__", str(package / "settings.py"))
    assert settings.resource("x.txt").read_text() == "x"


def test_preferences_live_in_this_tests_home(home: Path) -> None:
    settings.settings().setValue("a/b", "c")
    assert settings.settings().value("a/b") == "c"
    assert list((home / "config").glob("*.ini"))


@pytest.mark.parametrize("kind", ["config", "data", "cache", "logs"])
def test_directories_are_apart_and_exist(kind: settings.Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings.directory(kind).is_dir()
    monkeypatch.delenv(settings.HOME)
    assert "gramscope" in settings._platform_directory(kind).parts


def test_a_home_that_is_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(settings.HOME, str(tmp_path / "file"))
    with pytest.raises(
        GramscopeError, match=r"keeps its preferences, cannot be made: .*\. Set GRAMSCOPE_HOME to a"
    ):
        settings.directory("config")


def test_a_write_is_whole_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    settings.atomic_write(path, b"one")
    path.chmod(0o640)
    settings.atomic_write(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["a.txt"]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"one")
    (tmp_path / "link").symlink_to("real")
    settings.atomic_write(tmp_path / "link", b"two")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"two"


def test_no_folder_no_file(tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match="does not exist"):
        settings.atomic_write(tmp_path / "absent" / "a", b"x")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(GramscopeError, match="is not a folder"):
        settings.atomic_write(tmp_path / "file" / "a", b"x")
    with pytest.raises(GramscopeError, match="is a folder"):
        (tmp_path / "folder").mkdir()
        settings.atomic_write(tmp_path / "folder", b"x")
    with pytest.raises(GramscopeError, match="too long"):
        settings.atomic_write(tmp_path / ("n" * 300), b"x")
    assert names(tmp_path) == ["file", "folder"]


def test_a_pipe_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(GramscopeError, match="device or a pipe"):
        settings.atomic_write(tmp_path / "pipe", b"x")
    assert (tmp_path / "pipe").is_fifo()


def test_a_write_that_the_system_cuts_short_leaves_the_old_file(tmp_path: Path) -> None:
    """A limit on file sizes stops a real write half way, as a full disk does."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    code = (
        "import resource, sys; from explorer.settings import atomic_write\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "atomic_write(sys.argv[1], bytes(50_000))"
    )
    env = os.environ | {"PYTHONPATH": str(Path(settings.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, env=env)
    assert "GramscopeError: a.txt is larger than" in done.stderr
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no space left"),
        (errno.EDQUOT, "quota"),
        (errno.EACCES, "may not write"),
        (errno.EPERM, "may not write"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "was not written"),
    ],
)
@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_whatever_the_system_refuses_the_old_file_stays(
    number: int, words: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def refuse(*args: object) -> None:
        raise OSError(number, os.strerror(number))

    if step == "fsync":
        monkeypatch.setattr(settings.os, "fsync", refuse)
    elif step == "replace":
        monkeypatch.setattr(Path, "replace", refuse)
    else:
        monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(GramscopeError, match=words) as caught:
        settings.atomic_write(path, b"new")
    monkeypatch.undo()
    assert "a.txt" in str(caught.value)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.txt"]


def test_a_file_that_may_not_be_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    monkeypatch.setattr(settings.os, "access", lambda *args: False)
    with pytest.raises(GramscopeError, match="may not write"):
        settings.atomic_write(path, b"new")
    assert path.read_bytes() == b"old"


def test_what_killed_writers_left_is_swept_up(tmp_path: Path) -> None:
    old, young = tmp_path / ".gramscope-0123.tmp", tmp_path / ".gramscope-4567.tmp"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    settings.atomic_write(tmp_path / "a.txt", b"whole")
    assert sorted(path.name for path in tmp_path.glob("*") if path.is_file()) == [young.name, "a.txt"]
