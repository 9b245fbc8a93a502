"""Goes on on the CPU where a GPU has no memory left, or is gone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from explorer.errors import GramscopeError

T = TypeVar("T")
Tell = Callable[[str, str], object]
WORDS = ("CUDA error", "CUDA driver", "MPS backend out of memory", "device-side assert")

lost: set[str] = set()
"""The devices on which nothing is computed any more, "cuda" or "mps"."""
_lock = threading.Lock()


def _to_the_terminal(sentence: str, detail: str) -> None:
    print(f"gramscope: {sentence}", file=sys.stderr)


_tell: Tell = _to_the_terminal


def tell_to(tell: Tell) -> None:
    """Say to whom it is told that a GPU has failed, as a sentence and its details; at first the terminal."""
    global _tell
    _tell = tell


def is_of_device(error: BaseException | None) -> bool:
    """Return whether an exception, or what it came from, says that a GPU failed and not the program."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    kinds = (torch.OutOfMemoryError, getattr(torch, "AcceleratorError", torch.OutOfMemoryError))
    while error is not None:
        of_torch = isinstance(error, RuntimeError) and any(words in str(error) for words in WORDS)
        if of_torch or isinstance(error, kinds):
            return True
        error = error.__cause__
    return False


def lasting(produce: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Yield what `produce()` does; from its beginning again, on the CPU, once a GPU has failed.

    Whatever computes goes through here or through `lastingly`: the window's threads and the verbs of the
    command line.

    Raises
    ------
    GramscopeError
        If what is needed was on a GPU that is gone.
    """
    before = len(lost)
    try:
        yield from produce()
    except Exception as error:
        if not _give_up(error) and len(lost) == before:
            raise
    else:
        return
    try:
        yield from produce()
    except Exception as error:
        if not is_of_device(error):
            raise
        raise GramscopeError(
            "The model was on a GPU that is gone. Open it again: it is then computed on the CPU.",
            f"{type(error).__name__}: {error}",
        ) from error


def lastingly(work: Callable[[], T]) -> T:
    """Return what `work()` does; see `lasting`."""
    (done,) = lasting(lambda: iter((work(),)))
    return done


def _give_up(error: Exception) -> bool:
    """Compute on the CPU from now on if the GPU has failed, and tell; return whether that is new."""
    if not is_of_device(error):
        return False
    from explorer.devices import available

    with _lock:
        failed = {name for name in available() if name != "cpu"} - lost
        lost.update(failed)
    if failed:
        _tell(
            f"The {' and '.join(sorted(failed)).upper()} device ran out of memory or is gone: Gramscope "
            "computes on the CPU until it is started again.",
            f"{type(error).__name__}: {error}",
        )
    return bool(failed)
