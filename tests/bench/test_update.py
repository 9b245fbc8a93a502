"""The time of a whole update beside the kernels that it cannot do without, in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer import stages
from explorer.analysis import Evaluator
from explorer.app import build
from explorer.maths.gram import key_gram
from explorer.params import Params
from tests.bench.plain import update_kernels
from tests.sources import FixedSource

pytestmark = pytest.mark.bench
ROUNDS = 25


def one_head(tokens: int) -> FixedSource:
    return FixedSource(tokens=tokens, dim=64, layers=1, heads=1, key_heads=1, dtype=torch.float64)


def kernels(source: FixedSource) -> Iterator[float]:
    head = source.capture([0], Params().input, torch.device("cpu")).head(0, 0)
    basis = stages.solve(key_gram(head.k, head.scale)).leading(stages.LEADING).vectors
    while True:
        begin = time.perf_counter()
        update_kernels(head.q, head.k, head.v, head.scale, basis)
        yield (time.perf_counter() - begin) * 1e3


def updates(source: FixedSource) -> Iterator[float]:
    evaluator, step = Evaluator(), 0
    list(evaluator(Params(queries="asymmetric", level=0.01), source))
    while True:
        step += 1
        params = Params(queries="asymmetric", level=0.01 + 0.002 * (step % 50))
        begin = time.perf_counter()
        next(evaluator(params, source))
        yield (time.perf_counter() - begin) * 1e3


@pytest.mark.parametrize(("tokens", "most"), [(197, 2.0), (1024, 1.75)])
def test_the_computing_part(tokens: int, most: float, capsys: pytest.CaptureFixture[str]) -> None:
    source = one_head(tokens)
    threads = torch.get_num_threads()
    bare, whole = kernels(source), updates(source)
    pairs = []
    for _ in range(ROUNDS):
        torch.set_num_threads(threads)
        pairs.append((next(whole), next(bare)))
    ours, theirs = (statistics.median(column) for column in zip(*pairs[3:], strict=True))
    ratio = statistics.median(a / b for a, b in pairs[3:])
    with capsys.disabled():
        print(
            f"\nN = {tokens}, float64: update {ours:.1f} ms, kernels {theirs:.1f} ms, "
            f"ratio {ratio:.2f} (at most {most})"
        )
    assert ratio <= most


def test_painting_and_the_sample_at_30_frames_a_second(
    qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    window = build(inline=True)
    window.show()
    window.opener.open_sample()
    qtbot.wait(50)
    whole, painting = [], []
    for step in range(1, ROUNDS):
        begin = time.perf_counter()
        window.state.update(level=step / 100)
        shown: Any = window.state.result
        middle = time.perf_counter()
        QApplication.processEvents()
        end = time.perf_counter()
        painting.append((end - middle) * 1e3)
        whole.append((end - begin) * 1e3)
        assert shown.params.level == step / 100
    window.close()
    window.deleteLater()
    median = statistics.median(whole)
    with capsys.disabled():
        print(
            f"\nsample: a level change {median:.1f} ms, of which painting "
            f"{statistics.median(painting):.1f} ms"
        )
    assert median <= 1000 / 30
