"""Brings torch into the process without freezing the window."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from pathlib import Path


def map_libraries() -> None:
    """Map torch's shared libraries before Python imports them.

    An import maps them with the interpreter locked, and the window stands still for 0.2 s. The same
    mapping through a foreign call leaves the interpreter free; the import then finds them there. Where
    that is not possible (Windows, a frozen application with other names), the import does it as ever.
    """
    spec = importlib.util.find_spec("torch")
    if os.name != "posix" or spec is None or spec.origin is None:
        return
    library = next((Path(spec.origin).parent / "lib").glob("libtorch_python.*"), None)
    if library is None:
        return
    process = ctypes.CDLL(None)
    process.dlopen.argtypes = [ctypes.c_char_p, ctypes.c_int]
    process.dlopen.restype = ctypes.c_void_p
    process.dlopen(os.fsencode(library), os.RTLD_NOW | os.RTLD_LOCAL)
