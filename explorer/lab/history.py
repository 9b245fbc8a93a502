"""Curves over steps in bounded memory: when full, every other row goes and the stride doubles."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


class History:
    """Rows of numbers, one a recorded step.

    Attributes
    ----------
    stride : int
        Steps from one recorded row to the next.
    """

    def __init__(self, columns: int, capacity: int = 512) -> None:
        self._rows = np.empty((capacity, columns))
        self._count = 0
        self.stride = 1

    def wants(self, step: int) -> bool:
        """Return whether this step is to be recorded."""
        return step % self.stride == 0

    def add(self, row: ArrayLike) -> None:
        """Record a row."""
        if self._count == len(self._rows):
            self._count = len(self._rows[::2])
            self._rows[: self._count] = self._rows[::2].copy()
            self.stride *= 2
        self._rows[self._count] = row
        self._count += 1

    def rows(self) -> NDArray[np.float64]:
        """Return a copy of what is recorded, shape (n, columns)."""
        return self._rows[: self._count].copy()
