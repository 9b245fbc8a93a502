"""The laboratory's setting on its own."""

from __future__ import annotations

from explorer.lab.setting import Data
from explorer.ui.lab_state import LabState


def test_there_are_no_more_heads_than_features() -> None:
    state = LabState()
    state.update(structure="frame", rank=7)
    state.update_data(d=3)
    assert state.setting.rank == 3
    state.update(data=Data("drawn", spectrum=(2.0, 1.0)))
    assert state.setting.rank == 2
    state.update(data=Data("rows"), rank=8)
    assert state.setting.rank == 8


def test_a_spectrum_that_is_not_drawn_yet_leaves_one_head() -> None:
    state = LabState()
    state.update(structure="heads", rank=2)
    state.update(data=Data("drawn"))
    assert state.setting.rank == 1
