"""Training as the window and the command line do it, on one thread."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from explorer.lab.threads import one_thread


@pytest.fixture(autouse=True)
def small_tensors() -> Iterator[None]:
    with one_thread():
        yield
