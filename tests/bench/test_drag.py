"""The slider dragged for ten seconds on the sample, in a real window with its real threads."""

from __future__ import annotations

import time

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.commands.smoke import at_rest, wait_until
from explorer.ui.window import MainWindow

pytestmark = pytest.mark.bench
SECONDS, STEP_MS, LIMIT = 10.0, 16, 100.0


class Paints(QObject):
    """Notes when each panel of the window is painted."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__()
        self.times: dict[str, list[float]] = {view.name: [] for view in window.explore.views}
        self._names = {view.canvas.viewport(): view.name for view in window.explore.views}
        for viewport in self._names:
            viewport.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and watched in self._names:
            self.times[self._names[watched]].append(time.perf_counter())
        return False


def drag(window: MainWindow, qtbot: QtBot) -> None:
    """Move the slider to and fro every 16 ms, the button held."""
    slider = window.explore.controls.level.slider
    steps = [*range(1, slider.maximum() + 1), *range(slider.maximum() - 1, 0, -1)]
    begin, moved = time.perf_counter(), 0
    timer = QTimer(interval=STEP_MS, timerType=Qt.TimerType.PreciseTimer)

    def move() -> None:
        nonlocal moved
        slider.setValue(steps[moved % len(steps)])
        moved += 1

    timer.timeout.connect(move)
    QTest.mousePress(slider, Qt.MouseButton.LeftButton)
    timer.start()
    qtbot.waitUntil(lambda: time.perf_counter() - begin > SECONDS, timeout=int(3000 * SECONDS))
    timer.stop()
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton)


def test_a_drag_of_ten_seconds_has_no_gaps(qtbot: QtBot, capsys: pytest.CaptureFixture[str]) -> None:
    window = build()
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.show()
    window.opener.open_sample()
    wait_until(lambda: at_rest(window), "the sample")
    paints = Paints(window)
    begin = time.perf_counter()
    drag(window, qtbot)
    end = time.perf_counter()
    worst = 0.0
    with capsys.disabled():
        print(f"\n{end - begin:.1f} s of dragging:")
        for name, times in paints.times.items():
            if not times:
                continue
            gaps = np.diff([begin, *times, end]) * 1e3
            high = float(np.percentile(gaps, 99))
            worst = max(worst, high)
            print(
                f"  {name}: {len(times) / (end - begin):.0f} frames a second, "
                f"gaps of {np.median(gaps):.0f} ms (median), {high:.0f} ms (99th percentile), "
                f"{gaps.max():.0f} ms (longest)"
            )
    assert sum(map(bool, paints.times.values())) >= 4
    assert worst <= LIMIT
    wait_until(lambda: at_rest(window), "the picture after the drag")
    window.close()
