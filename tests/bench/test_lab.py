"""The laboratory: training beside its bare tensor operations, a picture beside its bare painting."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.ui.lab import LabPage

pytestmark = pytest.mark.bench
ROUNDS, PICTURES = 5, 40


@pytest.mark.parametrize("kind", ["softmax", "linear"])
def test_training_costs_little_more_than_its_tensor_operations(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """400 steps, d = 10, L = 64, batch 256: at most 1.3 ×, references and curves included."""
    command = [sys.executable, "-m", "tests.bench.lab_times", kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    times = json.loads(done.stdout)
    ours, theirs = times["training"], times["bare"]
    with capsys.disabled():
        print(f"\n{kind}: training {ours:.3f} s, bare operations {theirs:.3f} s, ratio {ours / theirs:.2f}")
    assert min(times["found"]) > 0.99
    assert ours <= 1.3 * theirs


def seconds(work: Callable[[], object]) -> float:
    """Return the processor's seconds that the window's thread spends on `work`."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


def test_a_picture_costs_little_more_than_its_painting(
    qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    window = build(inline=True)
    window.show()
    window.pages.show_page(window.pages.count - 1)
    page = window.pages.page(window.pages.count - 1)
    assert isinstance(page, LabPage)
    seen = []
    page.training.snapshot.connect(seen.append)
    qtbot.waitUntil(lambda: bool(seen), timeout=30_000)
    page.training.run(True)
    qtbot.waitUntil(lambda: len(seen) > PICTURES, timeout=60_000)
    begin, before = time.perf_counter(), len(seen)
    qtbot.wait(3000)
    rate = (len(seen) - before) / (time.perf_counter() - begin)
    page.training.run(False)
    qtbot.wait(200)
    moments = seen[-PICTURES:]
    ports = [view.canvas.viewport() for view in page.live_views if not view.visibleRegion().isEmpty()]

    def whole() -> None:
        for moment in moments:
            page.show_snapshot(moment)
            QApplication.processEvents()

    def painting() -> None:
        for _ in moments:
            for port in ports:
                port.repaint()

    pairs = [(seconds(whole), seconds(painting)) for _ in range(ROUNDS)]
    window.close()
    window.deleteLater()
    ours, bare = (min(column) / len(moments) * 1e3 for column in zip(*pairs, strict=True))
    with capsys.disabled():
        print(
            f"\nlaboratory: {rate:.1f} pictures a second; one takes {ours:.1f} ms, of its bare painting "
            f"({bare:.1f} ms) {ours / bare:.2f}"
        )
    assert ours <= 2 * bare
