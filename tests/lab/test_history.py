from __future__ import annotations

import numpy as np

from explorer.lab.history import History


def test_memory_is_bounded_and_rows_evenly_spaced():
    history = History(1, capacity=8)
    for step in range(100):
        if history.wants(step):
            history.add([step])
    steps = history.rows()[:, 0]
    assert len(steps) <= 8
    assert steps[0] == 0
    assert history.stride == 16
    np.testing.assert_array_equal(np.diff(steps), 16)


def test_rows_are_a_copy():
    history = History(2)
    history.add([0, 1])
    history.rows()[:] = 9
    np.testing.assert_array_equal(history.rows(), [[0, 1]])
