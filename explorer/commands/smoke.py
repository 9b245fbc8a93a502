"""`gramscope --smoke`: drive the window once, as a person would, and check what comes of it."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from PySide6.QtCore import QElapsedTimer, QEventLoop
from PySide6.QtWidgets import QApplication

from explorer.app import application, build
from explorer.params import Params
from explorer.ui.window import MainWindow

PATIENCE_MS = 120_000
MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "csv": b"#"}


def since_start() -> float:
    """Return the seconds since this process was started."""
    stat = Path("/proc/self/stat")
    if not stat.exists():
        return time.time() - psutil.Process().create_time()
    ticks = int(stat.read_text().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


class SmokeError(Exception):
    """What the smoke test found wrong."""


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Let the window work until `condition` holds.

    Raises
    ------
    SmokeError
        If it does not within two minutes.
    """
    clock = QElapsedTimer()
    clock.start()
    while not condition():
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)
        if clock.elapsed() > PATIENCE_MS:
            raise SmokeError(f"waited {PATIENCE_MS // 1000} s in vain for {what}")
        time.sleep(0.0005)


def at_rest(window: MainWindow) -> bool:
    """Return whether the window shows, exactly and completely, what its parameters ask for."""
    result = window.state.result
    return result is not None and result.final and result.params == window.state.params


def _drag(window: MainWindow) -> list[float]:
    """Move the slider over its range and return the milliseconds from each step to its painted panels."""
    slider, times = window.explore.controls.level.slider, []
    for step in range(0, slider.maximum() + 1, 5):
        begin = time.perf_counter()
        slider.setValue(step)
        wait_until(lambda: _shown(window) == window.state.params, f"the picture at step {step}")
        QApplication.processEvents()
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def _shown(window: MainWindow) -> Params | None:
    return None if window.state.result is None else window.state.result.params


def _check_round_trip(window: MainWindow) -> None:
    state, slider = window.state, window.explore.controls.level.slider
    slider.setValue(0)
    wait_until(lambda: at_rest(window), "the clean picture")
    assert state.result is not None
    if state.result.errors is None or state.result.errors.softmax != 0:
        raise SmokeError("back at level 0 the error is not 0")


def _check_exports(window: MainWindow, folder: Path) -> None:
    for suffix, magic in MAGIC.items():
        path = folder / f"figure.{suffix}"
        window.exports.save(window.explore.views, path)
        if not path.read_bytes().startswith(magic):
            raise SmokeError(f"{path.name} is not a {suffix.upper()} file")
        print(f"exported {path.name}: {path.stat().st_size} bytes")


def _check_messages(window: MainWindow) -> None:
    if window.messages.bars:
        raise SmokeError(f"a message appeared: {window.messages.bars[0].message.sentence}")


def _drive(folder: Path) -> None:
    application()
    window = build()
    painted: list[float] = []
    window.painted.connect(lambda: painted.append(since_start()))
    window.show()
    try:
        wait_until(lambda: bool(painted), "the first paint")
        early = "torch" in sys.modules
        window.opener.open_sample()
        wait_until(lambda: _shown(window) is not None or bool(window.messages.bars), "the sample's picture")
        _check_messages(window)
        QApplication.processEvents()
        print(f"first paint {painted[0]:.2f} s, torch imported before it: {'yes' if early else 'no'}")
        print(f"the sample's picture {since_start():.2f} s after the process started")
        wait_until(lambda: at_rest(window), "the sample's curves")
        times = _drag(window)
        print(f"update: median {statistics.median(times):.1f} ms over {len(times)} slider steps")
        _check_round_trip(window)
        _check_exports(window, folder)
        if early:
            raise SmokeError("torch was imported before the first paint")
        _check_messages(window)
    finally:
        window.close()


def smoke(out: str | None) -> int:
    """Run the smoke test; 0 only if all is right."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(out or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            _drive(folder)
        except SmokeError as error:
            print(f"smoke test failed: {error}", file=sys.stderr)
            return 1
    print("all right")
    return 0
