"""Ten thousand points turn in three dimensions at 30 frames a second."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.result import Projection
from explorer.state import State
from explorer.views.projection import ProjectionView
from tests.views import factory

pytestmark = pytest.mark.bench
POINTS, ROUNDS = 10_000, 40


def cloud(level: float) -> Projection:
    return factory.projection(np.random.default_rng(0), POINTS, level)


@pytest.mark.parametrize("colour", ["plain", "position"])
@pytest.mark.parametrize("level", [0.0, 0.05])
def test_turning(level: float, colour: str, qtbot: QtBot, capsys: pytest.CaptureFixture[str]) -> None:
    made = factory.synthetic(64)
    result = replace(
        made,
        projection=cloud(level),
        tokens=(),
        positions=np.arange(POINTS),
        contaminated=np.full(POINTS, level > 0),
    )
    view = ProjectionView(State())
    qtbot.addWidget(view)
    view.resize(560, 360)
    view.show()
    view.set_options({"3-D": True, "colour": colour})
    view.state.show(result)
    qtbot.wait(50)
    frames = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        view.turn(0.03, 0.01)
        view.canvas.viewport().repaint()
        QApplication.processEvents()
        frames.append((time.perf_counter() - begin) * 1e3)
    median = statistics.median(frames[5:])
    with capsys.disabled():
        print(f"\n{POINTS} tokens in 3-D, level {level}, {colour}: {median:.1f} ms a frame (at most 33.3)")
    assert median <= 1000 / 30
