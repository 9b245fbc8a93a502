from __future__ import annotations

import pytest

from explorer.state import State
from explorer.views.attention_map import AttentionMap
from explorer.views.decomposition import DecompositionView
from explorer.views.input import InputView
from explorer.views.outputs import Outputs
from explorer.views.projection import ProjectionView
from explorer.views.spectrum import SpectrumView

KINDS = (AttentionMap, SpectrumView, ProjectionView, Outputs, DecompositionView, InputView)


@pytest.fixture
def state(qapp):
    return State()


@pytest.fixture
def shown(qtbot, state):
    """Makes a view of a kind at a size and waits until it is laid out."""

    def make(kind, result=None, size=(560, 360)):
        view = kind(state)
        qtbot.addWidget(view)
        view.resize(*size)
        view.show()
        if result is not None:
            state.params = result.params
            state.show(result)
        settle(qtbot)
        return view

    return make


@pytest.fixture
def settle_paint(qtbot):
    return lambda: settle(qtbot)


def settle(qtbot):
    for _ in range(5):
        qtbot.wait(1)
