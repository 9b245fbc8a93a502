"""What Qt needs of the system; where it lacks, a sentence that says what to install."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from explorer.errors import GramscopeError

PACKAGES = (
    "libgl1 libegl1 libglib2.0-0 libfontconfig1 libxkbcommon0 libdbus-1-3 libxkbcommon-x11-0 libxcb-cursor0 "
    "libxcb-icccm4 libxcb-keysyms1 libxcb-shape0"
)
"""What Qt needs on a bare Debian or Ubuntu."""
NO_SCREEN = (
    "There is no screen to open a window on{where}. Start Gramscope on a desktop, or use what needs no "
    "screen: gramscope inspect, export or report."
)
NOT_STARTED = (
    "Qt cannot open a window here, most often because libraries of the system are missing. On Debian or "
    "Ubuntu: apt-get install {packages}"
)
NO_LIBRARY = (
    "The system lacks the library {library}, which Qt needs. On Debian or Ubuntu: apt-get install {packages}"
)


@contextmanager
def libraries() -> Iterator[None]:
    """Turn the failure to import Qt for want of a library of the system into a sentence.

    Raises
    ------
    GramscopeError
        With the library's name, and the packages that bring all of them.
    """
    try:
        yield
    except ImportError as error:
        missing = re.match(r"(lib\S+\.so[.\d]*): cannot open shared object file", str(error))
        if missing is None:
            raise
        raise GramscopeError(NO_LIBRARY.format(library=missing[1], packages=PACKAGES)) from error


@contextmanager
def platform() -> Iterator[None]:
    """While the application is made, end with a sentence and status 1 where Qt would abort."""
    from PySide6.QtCore import qInstallMessageHandler

    before = qInstallMessageHandler(_teller())
    try:
        yield
    finally:
        qInstallMessageHandler(before)


def _teller() -> Callable[..., None]:
    from PySide6.QtCore import QtMsgType

    said: list[str] = []

    def tell(kind: QtMsgType, context: object, text: str) -> None:
        said.append(text)
        if kind == QtMsgType.QtFatalMsg:
            print(f"gramscope: {why(said)}", file=sys.stderr, flush=True)
            os._exit(1)

    return tell


def why(said: list[str]) -> str:
    """Return a sentence for what Qt said before it gave up."""
    for text in said:
        if found := re.match(r"could not connect to display (\S*)", text):
            where = f" (the display {found[1]} does not answer)" if found[1] else ""
            return NO_SCREEN.format(where=where)
    return NOT_STARTED.format(packages=PACKAGES)
