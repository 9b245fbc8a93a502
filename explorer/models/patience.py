"""Files on drives that may never answer: who waits for one can be stopped, and gives up."""

from __future__ import annotations

import contextlib
import stat
import threading
import time
from pathlib import Path

from explorer.errors import GramscopeError, Stopped
from explorer.models.base import ShouldStop, never

PATIENCE_S = 10.0
HEAD = 65_536
CHUNK = 1 << 22


def wait_for(path: Path, should_stop: ShouldStop = never) -> None:
    """Return once the first bytes of a file, or the names in a folder, have come.

    A read that never returns cannot be interrupted, only left behind: the first one of every file is done
    by a thread that the process does not wait for. What else may be wrong is for the reader to say.

    Raises
    ------
    GramscopeError
        If nothing came within ten seconds.
    Stopped
        If `should_stop` said so.
    """
    came = threading.Event()
    threading.Thread(target=_touch, args=(path, came), name="gramscope-first-read", daemon=True).start()
    end = time.monotonic() + PATIENCE_S
    while not came.wait(0.05):
        if should_stop():
            raise Stopped
        if time.monotonic() > end:
            raise GramscopeError(
                f"{path.name} does not answer: the drive that it lies on may be gone. Check the connection, "
                "and open it again."
            )


def read_through(path: Path, should_stop: ShouldStop = never) -> None:
    """Read a file plainly, before a library maps it or reads it with the interpreter locked.

    A drive that stalls then stalls here, where only this thread waits.

    Raises
    ------
    OSError
        If the file cannot be read.
    Stopped
        If `should_stop` said so.
    """
    piece = bytearray(CHUNK)
    with path.open("rb", buffering=0) as file:
        while file.readinto(piece):
            if should_stop():
                raise Stopped


def _touch(path: Path, came: threading.Event) -> None:
    with contextlib.suppress(OSError, ValueError):
        if path.is_dir():
            next(path.iterdir(), None)
        elif stat.S_ISREG(path.stat().st_mode):
            with path.open("rb", buffering=0) as file:
                file.read(HEAD)
    came.set()
