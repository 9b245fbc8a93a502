"""Four thousand tokens in a real window: the first picture, steps of the slider, and the longest stalls."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import pytest
import torch
from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer import stages
from explorer.app import build
from explorer.commands.smoke import at_rest
from explorer.maths.gram import key_gram
from explorer.models.recipes import Recipe
from explorer.models.synthetic import SyntheticSource
from explorer.params import Params
from tests.bench.plain import update_kernels

pytestmark = pytest.mark.bench
TOKENS, STEPS = 4096, range(10, 70, 10)


def bare(source: SyntheticSource) -> tuple[float, float]:
    """Return the seconds of the leading eigenpairs, and of the kernels of one update."""
    head = source.capture([0], Params().input, torch.device("cpu")).head(0, 0)
    gram = key_gram(head.k, head.scale)
    begin = time.perf_counter()
    basis = stages.solve(gram).leading(stages.LEADING).vectors
    solved = time.perf_counter() - begin
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        update_kernels(head.q, head.k, head.v, head.scale, basis)
        times.append(time.perf_counter() - begin)
    return solved, min(times)


def watch(until: Callable[[], bool]) -> tuple[float, float]:
    """Return the seconds until something holds, and the longest in which the window did not answer."""
    begin, longest = time.perf_counter(), 0.0
    while not until():
        last = time.perf_counter()
        assert last - begin < 120
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)
        longest = max(longest, time.perf_counter() - last)
        time.sleep(0.001)
    return time.perf_counter() - begin, longest


def test_a_window_of_four_thousand_tokens(qtbot: QtBot, capsys: pytest.CaptureFixture[str]) -> None:
    window = build()
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.show()
    window.open_recipe(Recipe())
    watch(lambda: at_rest(window))
    source = SyntheticSource(Recipe(tokens=TOKENS))
    solved, kernels = bare(source)
    state = window.state
    window.state.open(source, Params())
    first, stall = watch(lambda: state.result is not None and len(state.result.tokens) == TOKENS)
    steps, stalls = [], [stall]
    for step in STEPS:
        window.explore.controls.level.slider.setValue(step)
        took, stall = watch(lambda: state.result is not None and state.result.params == state.params)
        steps.append(took)
        stalls.append(stall)
    with capsys.disabled():
        print(
            f"\n{TOKENS} tokens: first picture {first:.2f} s (bare eigenpairs {solved:.2f} s, kernels of an "
            f"update {kernels:.2f} s), a step of the slider {statistics.median(steps):.2f} s, stalls "
            f"{1e3 * statistics.median(stalls):.0f} ms (median), {1e3 * max(stalls):.0f} ms (longest)"
        )
    assert first <= 3 * (solved + 2 * kernels)
    assert statistics.median(steps) <= 4 * kernels
    assert statistics.median(stalls) <= kernels
    window.close()
