"""The phase diagram beside its bare attention products in batches, and the slider while it is computed.

Both of the ratio work on one thread, and are timed by the processor's clock.
"""

from __future__ import annotations

import math
import time

import pytest
import torch
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer import robustness, stages
from explorer.app import build
from explorer.maths import phase
from explorer.models.digits import sample_source
from explorer.params import Input, Params
from tests.bench.plain import four_sdpa

pytestmark = pytest.mark.bench
ROUNDS = 4
POINTS = robustness.LAMS * robustness.LEVELS * robustness.SEEDS


@pytest.mark.parametrize("queries", ["symmetric", "asymmetric"])
def test_the_diagram_costs_little_more_than_its_products(
    queries: str, capsys: pytest.CaptureFixture[str]
) -> None:
    p = Params(queries=queries)
    head = stages.prepare(sample_source().capture([0], Input(), torch.device("cpu")).head(0, 0), None)
    n, d = head.k.shape
    batch = phase._BATCH_WEIGHTS // (n * max(n, d))
    k, v = (x.expand(batch, n, d).contiguous() for x in (head.k, head.v))

    def bare() -> None:
        for begin in range(0, POINTS, batch):
            many = min(batch, POINTS - begin)
            four_sdpa(k[:many], v[:many], head.scale)

    least, first, floor = math.inf, math.inf, math.inf
    for _ in range(ROUNDS):
        begin, working = time.perf_counter(), time.process_time()
        maps = robustness.phase_maps(head, "sparse", p)
        next(maps)
        first = min(first, time.perf_counter() - begin)
        *_, last = maps
        least = min(least, time.process_time() - working)
        assert last.done == POINTS
        working = time.process_time()
        bare()
        floor = min(floor, time.process_time() - working)
    with capsys.disabled():
        print(
            f"\nphase diagram of the sample, {queries}: {least:.2f} s, {least / floor:.2f} of its products "
            f"({floor:.2f} s), the first picture after {first * 1e3:.0f} ms"
        )
    assert least <= 1.5 * floor
    assert first < 1.0


def test_the_slider_stays_live_while_it_is_computed(qtbot: QtBot, capsys: pytest.CaptureFixture[str]) -> None:
    """Levels change one after the other for two seconds; each picture that is shown counts."""
    window = build()
    window.show()
    window.opener.open_sample()
    qtbot.waitUntil(lambda: window.state.result is not None, timeout=30_000)
    titles = [window.pages.row.tabText(i) for i in range(window.pages.count)]
    window.pages.show_page(titles.index("Robustness"))
    page = window.pages.page(window.pages.place)
    qtbot.waitUntil(lambda: page.phase.table()[0] != [], timeout=10_000)
    shown: list[float] = []
    window.state.result_changed.connect(lambda result: shown.append(result.params.level))
    begin = time.perf_counter()
    step = 0
    while time.perf_counter() - begin < 2.0:
        step += 1
        window.state.update(level=0.01 + 0.0005 * (step % 400))
        until = time.perf_counter() + 0.01
        while time.perf_counter() < until:
            QApplication.processEvents()
    rate = len(set(shown)) / (time.perf_counter() - begin)
    qtbot.waitUntil(page.is_complete, timeout=60_000)
    window.close()
    window.deleteLater()
    with capsys.disabled():
        print(f"\nwhile the diagram is computed: {rate:.0f} pictures a second")
    assert rate >= 20
