"""One thread for small tensors: faster than several, and the others stay free for the window."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_USUAL = torch.get_num_threads()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the tensor operations of the calling thread run on one core meanwhile."""
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(_USUAL)
