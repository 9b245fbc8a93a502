"""Where things lie: shipped resources, preferences, cache and logs; and how files are written."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from explorer.errors import GramscopeError, Stopped

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings

HOME = "GRAMSCOPE_HOME"
Kind = Literal["config", "data", "cache", "logs"]
KEEPS: dict[Kind, str] = {
    "config": "preferences", "data": "sessions", "cache": "unfinished studies", "logs": "logs",
}  # fmt: skip
"""What each kind of folder is for."""

_SENTENCES = {
    errno.ENOSPC: "There is no space left to write {name} in {folder}. Free some, or choose another place.",
    errno.EDQUOT: "Your disk quota is used up: {name} was not written to {folder}. Choose another place.",
    errno.EACCES: "You may not write {name} in {folder}. Choose another folder or name.",
    errno.EPERM: "You may not write {name} in {folder}. Choose another folder or name.",
    errno.EROFS: "{folder} is read-only, so {name} was not written. Choose another folder.",
    errno.ENOENT: "The folder {folder} does not exist, so {name} was not written. Choose another one.",
    errno.ENOTDIR: "{folder} is not a folder, so {name} was not written. Choose another place.",
    errno.EISDIR: "{name} in {folder} is a folder. Choose another name.",
    errno.ENODEV: "{name} in {folder} is a device or a pipe, not a file. Choose another name.",
    errno.EFBIG: "{name} is larger than {folder} allows. Choose another place, or a smaller picture.",
    errno.ENAMETOOLONG: "The name {name} is too long for {folder}. Choose a shorter one.",
}


def resource(name: str) -> Path:
    """Return the path of a shipped file or folder, from a source checkout, a wheel or a frozen application.

    Raises
    ------
    GramscopeError
        The file is not there: the installation is incomplete.
    """
    package = Path(__file__).resolve().parent
    frozen = getattr(sys, "_MEIPASS", None)
    roots = [Path(frozen)] if frozen else [package, package.parent]
    for root in roots:
        path = root / "resources" / name
        if path.exists():
            return path
    raise GramscopeError(
        f"Gramscope's own file {name} is missing. Install it again.", "\n".join(str(root) for root in roots)
    )


def directory(kind: Kind) -> Path:
    """Return the person's folder of one `kind`, made if absent: under $GRAMSCOPE_HOME, or the platform's.

    Raises
    ------
    GramscopeError
        The folder cannot be made.
    """
    home = os.environ.get(HOME)
    path = Path(home) / kind if home else _platform_directory(kind)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GramscopeError(
            f"The folder {path}, where Gramscope keeps its {KEEPS[kind]}, cannot be made: {error.strerror}. "
            f"Set {HOME} to a folder that can be written.",
            str(error),
        ) from error
    return path


def settings() -> QSettings:
    """Return the preferences, a file that can be read and copied."""
    from PySide6.QtCore import QSettings

    return QSettings(str(directory("config") / "gramscope.ini"), QSettings.Format.IniFormat)


def _never() -> bool:
    return False


def atomic_write(path: str | Path, data: bytes, should_stop: Callable[[], bool] = _never) -> None:
    """Write `data` to `path`, whole or not at all: whoever opens it finds the old file or the new one.

    A link is followed; an existing file keeps its permissions; a device or pipe is refused, not replaced.

    Raises
    ------
    GramscopeError
        No space, no permission, no such folder, or anything else that the system refuses.
    Stopped
        `should_stop` said so before the new file took the old one's place.
    """
    try:
        target = Path(path).resolve()
        _refuse_target(target)
        _replace(target, data, should_stop)
    except OSError as error:
        raise _failure(error, Path(path)) from error


def prepare(path: str | Path) -> None:
    """Make the folders that a file will lie in, so that work whose end it is cannot be in vain.

    Raises
    ------
    GramscopeError
        The file could not be written there.
    """
    try:
        target = Path(path).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        _refuse_target(target)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target.parent))
    except OSError as error:
        raise _failure(error, Path(path)) from error


def _refuse_target(target: Path) -> None:
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    if target.exists() and not target.is_file() and not target.is_dir():
        raise OSError(errno.ENODEV, os.strerror(errno.ENODEV), str(target))


def _replace(target: Path, data: bytes, should_stop: Callable[[], bool]) -> None:
    _sweep(target.parent)
    temporary = target.with_name(f".gramscope-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.is_file():
            shutil.copymode(target, temporary)
        if should_stop():
            raise Stopped
        temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove what writers left that were killed; a file of the last hour may still be written."""
    for left in folder.glob(".gramscope-*.tmp"):
        with contextlib.suppress(OSError):
            if left.stat().st_mtime < time.time() - 3600:
                left.unlink()


def _failure(error: OSError, path: Path) -> GramscopeError:
    sentence = _SENTENCES.get(error.errno or 0, "{name} was not written to {folder}: {reason}.")
    path = path.absolute()
    reason = error.strerror or str(error)
    return GramscopeError(sentence.format(name=path.name, folder=path.parent, reason=reason), str(error))


def _platform_directory(kind: Kind) -> Path:
    from PySide6.QtCore import QStandardPaths

    place = QStandardPaths.StandardLocation
    root = {
        "config": place.GenericConfigLocation,
        "data": place.GenericDataLocation,
        "cache": place.GenericCacheLocation,
        "logs": place.GenericStateLocation,
    }[kind]
    path = Path(QStandardPaths.writableLocation(root)) / "gramscope"
    return path / "logs" if kind == "logs" else path
