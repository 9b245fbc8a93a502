"""Latest-wins background evaluation: one request runs, one waits, a newer one replaces the waiting one."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from explorer import threads
from explorer.errors import Stopped
from explorer.fallback import lasting
from explorer.pace import LONG_S
from explorer.params import Params
from explorer.state import State

if TYPE_CHECKING:
    from explorer.models.base import Source
    from explorer.result import Result

ShouldStop = Callable[[], bool]
Evaluate = Callable[[Params, "Source", ShouldStop, float], Iterator["Result"]]
"""With the seconds that long work may take before a person is asked."""
PATIENCE_S = 3.0
"""A picture that takes longer gives way to a newer request of the same head too."""


@dataclass(frozen=True, eq=False)
class _Request:
    params: Params
    source: Source

    def is_of_same_data(self, other: _Request) -> bool:
        """Whether a picture for this request is still worth showing while `other` waits."""
        mine, theirs = self.params, other.params
        return self.source is other.source and (mine.layer, mine.head, mine.query, mine.input) == (
            theirs.layer,
            theirs.head,
            theirs.query,
            theirs.input,
        )


class Runner(QObject):
    """Evaluates `state.params` on a thread of its own and hands each result to the state.

    The first result of a request is always finished while its head is still the one wanted, so that a
    steady drag animates; what follows it (the exact solution, the curves) gives way to a newer request.

    Parameters
    ----------
    state : State
    load : callable
        Called once, on the worker, for the function that evaluates: the place where torch is imported.
    inline : bool
        Evaluate on the calling thread at once; for tests and headless use.

    Signals
    -------
    busy_changed(bool)
    failed(Exception)
        The evaluation of the latest request failed; the previous result stays.
    """

    busy_changed = Signal(bool)
    failed = Signal(object)
    _woken = Signal()

    def __init__(
        self,
        state: State,
        load: Callable[[], Evaluate],
        *,
        inline: bool = False,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._load = load
        self._evaluate: Evaluate | None = None
        self._condition = threading.Condition()
        self._waiting: _Request | None = None
        self._outbox: list[tuple[_Request, Result | Exception | bool]] = []
        self._closing = self._left_off = False
        self._inline = inline
        self._agreed_for: Source | None = None
        self._thread: threading.Thread | None = None
        state.params_changed.connect(self._submit)
        self._woken.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def close(self) -> None:
        """Forget what waits, ask what runs to stop, and wait for it, though not for ever."""
        with self._condition:
            self._closing = True
            self._waiting = None
            self._condition.notify_all()
        if self._thread is not None:
            threads.wait([self._thread])
            self._thread = None
        self._outbox.clear()

    def agree(self) -> None:
        """Go on with what the present parameters ask for, and with this source, however long it takes."""
        self._agreed_for = self._state.source
        self._submit(self._state.params)

    def leave_off(self) -> None:
        """Leave what runs as far as it is: the picture stays, and what was still to come does not."""
        self._left_off = True

    def _submit(self, params: Params) -> None:
        if self._state.source is None or self._closing:
            return
        request = _Request(params, self._state.source)
        if self._inline:
            self._run(request)
            self._deliver()
            return
        with self._condition:
            self._waiting = request
            self._condition.notify_all()
        if self._thread is None:
            self._thread = threads.start("evaluation", self._work)

    def _work(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._closing or self._waiting is not None)
                if self._closing:
                    return
                request, self._waiting = self._waiting, None
            assert request is not None
            self._run(request)

    def _run(self, request: _Request) -> None:
        latest: Result | None = None
        begin = time.monotonic()
        agreed = math.inf if self._inline or self._agreed_for is request.source else LONG_S
        self._left_off = False

        def should_stop() -> bool:
            newer = self._waiting
            late = latest is not None or time.monotonic() - begin > PATIENCE_S
            superseded = newer is not None and (late or not request.is_of_same_data(newer))
            return self._closing or superseded or (self._left_off and latest is not None)

        self._post(request, True)
        try:
            evaluate = self._evaluate = self._evaluate or self._load()
            for result in lasting(lambda: evaluate(request.params, request.source, should_stop, agreed)):
                self._post(request, result)
                latest = result
                if should_stop():
                    break
        except Stopped:
            pass
        except Exception as error:  # whatever went wrong is shown to the person, with its traceback
            self._post(request, error)
        finally:
            if self._left_off and latest is not None:
                self._post(request, replace(latest, final=True))
            self._post(request, False)

    def _post(self, request: _Request, news: Result | Exception | bool) -> None:
        with self._condition:
            idle = not self._outbox
            self._outbox.append((request, news))
        if idle and not self._inline:
            self._woken.emit()

    def _deliver(self) -> None:
        with self._condition:
            outbox, self._outbox = self._outbox, []
        latest: Result | None = None
        busy: bool | None = None
        for request, news in outbox:
            if self._closing or request.source is not self._state.source:
                continue
            if isinstance(news, bool):
                busy = news
            elif isinstance(news, Exception):
                self.failed.emit(news)
            else:
                latest = news
        if latest is not None:
            self._state.show(latest)
        if busy is not None:
            self.busy_changed.emit(busy or self._waiting is not None)
