"""Goes on on the CPU where a GPU has no memory left, or is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import torch

from explorer.devices import choose, give_up
from explorer.models.base import ShouldStop, Source, never
from explorer.params import Params

if TYPE_CHECKING:
    from explorer.result import Result

Evaluate = Callable[[Params, Source, ShouldStop], "Iterator[Result]"]
_FAILURES = (torch.OutOfMemoryError, getattr(torch, "AcceleratorError", torch.OutOfMemoryError))
_WORDS = ("CUDA error", "CUDA driver", "MPS backend out of memory", "device-side assert")


def is_of_device(error: BaseException | None) -> bool:
    """Return whether an exception, or what it came from, says that a GPU failed and not the program."""
    while error is not None:
        of_torch = isinstance(error, RuntimeError) and any(words in str(error) for words in _WORDS)
        if of_torch or isinstance(error, _FAILURES):
            return True
        error = error.__cause__
    return False


class Fallback:
    """Evaluates as another does, and on the CPU once the GPU has failed.

    Parameters
    ----------
    evaluate : callable
    tell : callable
        Given a sentence and the details when that happens.
    """

    def __init__(self, evaluate: Evaluate, tell: Callable[[str, str], object]) -> None:
        self._evaluate, self._tell = evaluate, tell

    def __call__(self, params: Params, source: Source, should_stop: ShouldStop = never) -> Iterator[Result]:
        """Yield as the other does, from the beginning again after a failure of the GPU."""
        try:
            yield from self._evaluate(params, source, should_stop)
        except Exception as error:
            device = choose(params.device).type
            if device == "cpu" or not is_of_device(error):
                raise
            give_up(device)
            self._tell(
                f"The {device.upper()} device ran out of memory or is gone: Gramscope computes on the CPU "
                "until it is started again.",
                f"{type(error).__name__}: {error}",
            )
            yield from self._evaluate(params, source, should_stop)
