"""Threads that may be left behind: a read from a drive that is gone never returns, nor can it be ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
CLOSING_S = 3.0
"""How long closing waits for what was asked to stop."""
GLANCE_S = 0.5
"""How long the window waits for a drive that ought to answer at once."""
_PREFIX = "gramscope-"


def start(name: str, work: Callable[..., Any], *args: Any) -> threading.Thread:
    """Run `work(*args)` on a thread that does not keep the process alive."""
    thread = threading.Thread(target=work, args=args, name=_PREFIX + name, daemon=True)
    thread.start()
    return thread


def within(seconds: float, work: Callable[[], T], otherwise: T) -> T:
    """Return what `work()` does, or `otherwise` if that takes longer: it is left behind then, or raises."""
    found: list[T] = []
    wait([start("glance", lambda: found.append(work()))], seconds)
    return found[0] if found else otherwise


def wait(threads: Iterable[threading.Thread], seconds: float = CLOSING_S) -> None:
    """Wait for threads that were asked to stop, `seconds` for all of them together."""
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(end - time.monotonic(), 0.0))


def left() -> bool:
    """Return whether a thread of ours still runs."""
    return any(thread.name.startswith(_PREFIX) for thread in threading.enumerate())
