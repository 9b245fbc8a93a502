"""Every test: offscreen, its own settings folder, no network, and nothing left running behind it."""

from __future__ import annotations

import gc
import ipaddress
import itertools
import os
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ["PYQTGRAPH_QT_LIB"] = "PySide6"

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QThread, QTimer
from PySide6.QtWidgets import QApplication, QWidget

THREADS_OF_LIBRARIES = (
    "pydevd", "tqdm_monitor", "asyncio_", "QueueFeederThread", "ExecutorManagerThread",
    "IO loop",  # of a Dask client that found no scheduler
)  # fmt: skip
PATIENCE_S = 2.0
TESTS = itertools.count(1)


@pytest.fixture(scope="session")
def qapp(qapp: QApplication) -> QApplication:
    """The application as a person has it: the shipped type, the light scheme."""
    from explorer.ui import theme

    theme.apply(qapp, "light")
    return qapp


@pytest.fixture(scope="session", autouse=True)
def collected_here() -> Iterator[None]:
    """Collect garbage on this thread alone, as the application does: elsewhere it would free Qt objects."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True)
def collected(collected_here: None) -> Iterator[None]:
    """Collect what a test left, all of it now and then."""
    yield
    gc.collect(2 if next(TESTS) % 40 == 0 else 1)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this test's own for preferences, cache and logs."""
    folder = tmp_path / "home"
    monkeypatch.setenv("GRAMSCOPE_HOME", str(folder))
    return folder


class NetworkUsed(OSError):
    """A test reached for another machine."""


def _is_local(address: Any) -> bool:
    if not isinstance(address, tuple):  # AF_UNIX
        return True
    try:
        return ipaddress.ip_address(address[0]).is_loopback
    except ValueError:
        return address[0] in ("localhost", "", None)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Refuse every connection that leaves this machine, and fail the test even if it swallows the refusal."""
    refused: list[str] = []

    def guarded(original: Callable[..., Any], address_of: Callable[[tuple[Any, ...]], Any]) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            address = address_of(args)
            if not _is_local(address):
                refused.append(f"{address}\n{_where()}")
                raise NetworkUsed(f"network refused in tests: {address}")
            return original(*args, **kwargs)

        return call

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, guarded(getattr(socket.socket, name), lambda args: args[1]))
    monkeypatch.setattr(socket.socket, "sendto", guarded(socket.socket.sendto, lambda args: args[-1]))
    monkeypatch.setattr(socket, "getaddrinfo", guarded(socket.getaddrinfo, lambda args: (args[0], args[1])))
    yield
    if refused:
        pytest.fail("the network was used:\n" + "\n".join(refused), pytrace=False)


def _where() -> str:
    """Return the innermost lines of the project or its tests that led here."""
    frames = [
        f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}\n    {frame.line}'
        for frame in traceback.extract_stack(sys._getframe(1))
        if ("explorer" in frame.filename or "tests" in frame.filename) and frame.filename != __file__
    ]
    return "\n".join(frames[-4:]) or "  (from a library)"


class Starts:
    """Where each thread, timer or window of a kind was started, while patched in.

    Attributes
    ----------
    records : mapping of object to str
        What started, as long as something else keeps it, and the lines that started it last.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: type, method: str) -> None:
        self.records: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        original = getattr(owner, method)

        def start(target: Any, *args: Any, **kwargs: Any) -> Any:
            self.records[target] = _where()
            return original(target, *args, **kwargs)

        monkeypatch.setattr(owner, method, start)

    def alive(self, is_alive: Callable[[Any], bool]) -> list[str]:
        return [f"{target!r} started at\n{where}" for target, where in self.known() if is_alive(target)]

    def known(self) -> list[tuple[Any, str]]:
        return list(self.records.items())

    def place(self, target: Any) -> str:
        return next((where for known, where in self.known() if known is target), "  (from a library)")


@pytest.fixture(autouse=True)
def nothing_left_behind(monkeypatch: pytest.MonkeyPatch, no_network: None, home: Path) -> Iterator[None]:
    """Fail a test that leaves a thread, an active timer or a visible window, naming where it began."""
    threads = Starts(monkeypatch, threading.Thread, "start")
    qthreads = Starts(monkeypatch, QThread, "start")
    timers = Starts(monkeypatch, QTimer, "start")
    windows = Starts(monkeypatch, QWidget, "show")
    yield
    leaks = _running(threads, qthreads) + _active(timers) + _visible(windows)
    for record in (threads, qthreads, timers, windows):
        record.records.clear()
    if leaks:
        pytest.fail("left behind:\n" + "\n".join(leaks), pytrace=False)


def _running(threads: Starts, qthreads: Starts) -> list[str]:
    for thread, _ in threads.known():
        if not thread.name.startswith(THREADS_OF_LIBRARIES):
            thread.join(PATIENCE_S)
    return threads.alive(
        lambda thread: thread.is_alive() and not thread.name.startswith(THREADS_OF_LIBRARIES)
    ) + qthreads.alive(lambda thread: shiboken6.isValid(thread) and not thread.wait(int(PATIENCE_S * 1000)))


def _active(timers: Starts) -> list[str]:
    def is_active(timer: QTimer) -> bool:
        return shiboken6.isValid(timer) and timer.isActive()

    if not timers.alive(is_active):
        return []
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    return timers.alive(is_active)


def _visible(windows: Starts) -> list[str]:
    if QApplication.instance() is None:
        return []
    widgets = filter(shiboken6.isValid, QApplication.topLevelWidgets())
    found = [widget for widget in widgets if widget.isVisible()]
    leaks = [f"{widget!r} {widget.windowTitle()!r} shown at\n{windows.place(widget)}" for widget in found]
    for widget in found:
        widget.close()
        widget.deleteLater()
    return leaks
