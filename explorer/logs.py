"""The log file, which rotates, and the trace that a hard crash leaves for the next start."""

from __future__ import annotations

import faulthandler
import logging
import os
import platform
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from explorer import __version__
from explorer.settings import directory

LOG_BYTES, LOG_FILES = 1_000_000, 5


@dataclass(frozen=True, eq=False)
class Logs:
    """What `start` opened.

    Attributes
    ----------
    path : Path
        The log file.
    last_crash : str
        The trace that an earlier run left when it crashed; empty: none did.
    """

    path: Path
    last_crash: str
    _handler: logging.Handler
    _trace: TextIO

    def stop(self) -> None:
        """Close the files; an empty trace goes away."""
        faulthandler.disable()
        self._trace.close()
        Path(self._trace.name).unlink(missing_ok=True)
        logging.getLogger().removeHandler(self._handler)
        self._handler.close()


def start() -> Logs:
    """Open the log and the crash trace of this process, and collect what an earlier crash left.

    Raises
    ------
    GramscopeError
        The folder for logs cannot be made.
    OSError
        A file in it cannot be opened.
    """
    folder = directory("logs")
    handler = RotatingFileHandler(
        folder / "gramscope.log",
        maxBytes=LOG_BYTES,
        backupCount=LOG_FILES - 1,
        encoding="utf-8",
        delay=True,
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    logging.getLogger("explorer").setLevel(logging.INFO)
    last_crash = _collect_traces(folder)
    trace = (folder / f"crash-{os.getpid()}.txt").open("w", encoding="utf-8")
    faulthandler.enable(trace)
    logging.getLogger(__name__).info("Gramscope %s, Python %s, %s", __version__, *_platform())
    return Logs(folder / "gramscope.log", last_crash, handler, trace)


def _collect_traces(folder: Path) -> str:
    import psutil

    traces = []
    for path in sorted(folder.glob("crash-*.txt")):
        number = path.stem.removeprefix("crash-")
        if number.isdigit() and psutil.pid_exists(int(number)):
            continue
        traces.append(path.read_text(encoding="utf-8", errors="replace").strip())
        path.unlink()
    return "\n\n".join(filter(None, traces))


def _platform() -> tuple[str, str]:
    return platform.python_version(), platform.platform()


def about() -> str:
    """Return a line with the versions that a report of a fault needs."""
    return "Gramscope {}, Python {}, {}".format(__version__, *_platform())
