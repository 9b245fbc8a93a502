"""A reader that does everything wrong, one thing an input: it shows that the watch over readers sees it."""

from __future__ import annotations

import ctypes
import os
import time
from itertools import count
from pathlib import Path

from explorer.errors import GramscopeError
from tests.fuzz import hunt, readers, worker

NAME = "bad"
_calls = count()


def make(folder: Path) -> Path:
    (folder / "a.txt").write_text("a")
    return folder / "a.txt"


def sin(path: Path) -> None:
    """Behave for the valid file, then as the length of the damaged one says."""
    which = os.environ.get("SIN", "")
    if next(_calls) == 0:
        return
    if which == "0":
        os.system("true")
    elif which == "1":
        time.sleep(60)
    elif which == "2":
        ctypes.string_at(0)
    elif which == "3":
        try:
            bytearray(3 * 2**30)
        except MemoryError as error:
            raise GramscopeError("It is too large.") from error
    elif which == "4":
        raise ZeroDivisionError


def hunted() -> list[hunt.Broken]:
    """Hand the bad reader five inputs, each with another sin."""
    broken = []
    for which in range(5):
        os.environ["SIN"] = str(which)
        broken += hunt.hunt([(NAME, which, 1)], worker=__name__).broken
    del os.environ["SIN"]
    return broken


readers.READERS[NAME] = readers.Reader(make, sin)
if __name__ == "__main__":
    import json
    import sys

    worker.work(json.loads(sys.argv[1]), None)
