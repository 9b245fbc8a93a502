"""Trains on a thread of its own, at a pace, and keeps the latest snapshot for whoever draws it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.lab.setting import Setting

if TYPE_CHECKING:
    from explorer.lab.snapshot import Snapshot
    from explorer.lab.trainer import Trainer

FRAME_S = 1 / 30
"""A picture is worth making so often."""
CLOSING_S = 3.0


@dataclass(frozen=True, eq=False)
class News:
    """What happened since it was last asked for.

    Attributes
    ----------
    snapshot : Snapshot or None
        The latest, where there is a new one.
    running : bool
        Whether training goes on.
    error : Exception or None
        Why something was refused, or why training ended.
    setting : Setting or None
        What is in force after a refusal; None where nothing ever was.
    """

    snapshot: Snapshot | None = None
    running: bool = False
    error: Exception | None = None
    setting: Setting | None = None


class Worker:
    """Commands return at once; the thread obeys within a step.

    Parameters
    ----------
    setting : Setting
    told : callable
        Called on the thread when there is news and none was waiting.
    """

    def __init__(self, setting: Setting, told: Callable[[], None]) -> None:
        self._told = told
        self._lock = threading.Condition()
        self._wanted: Setting | None = setting
        self._passed: Setting | None = None
        self._running = self._closing = self._reset = False
        self._steps = 0
        self._pace: float | None = None
        self._news: News | None = None
        self._trainer: Trainer | None = None
        self._thread = threading.Thread(target=self._work, name="gramscope-laboratory", daemon=True)
        self._thread.start()

    def run(self, on: bool) -> None:
        """Start or pause."""
        with self._lock:
            self._running = on
            self._steps = 0
            self._lock.notify()

    def step(self) -> None:
        """Pause, after exactly one more step."""
        with self._lock:
            self._running = False
            self._steps += 1
            self._lock.notify()

    def reset(self) -> None:
        """Begin again at the setting's random start; pause."""
        with self._lock:
            self._running, self._steps, self._reset = False, 0, True
            self._lock.notify()

    def change(self, setting: Setting) -> None:
        """Go on under another setting; the latest wins, and the one before it where the latest is refused."""
        with self._lock:
            self._passed, self._wanted = self._wanted, setting
            self._lock.notify()

    def pace(self, steps_a_second: float | None) -> None:
        """Take so many steps a second; None: as many as can be."""
        with self._lock:
            self._pace = steps_a_second
            self._lock.notify()

    def take(self) -> News | None:
        """Return the news, once."""
        with self._lock:
            news, self._news = self._news, None
        return news

    def close(self) -> None:
        """Stop, and wait for the step under way, though not for ever: a table's drive may be gone."""
        with self._lock:
            self._closing = True
            self._lock.notify()
        self._thread.join(CLOSING_S)

    def _work(self) -> None:
        from explorer.preload import map_libraries

        map_libraries()
        from explorer.lab.threads import one_thread

        with one_thread():
            while self._wait():
                try:
                    self._obey()
                except Exception as error:  # shown to the person, with its traceback
                    self._refuse(error)

    def _wait(self) -> bool:
        """Wait for something to do; False: it was closed."""
        with self._lock:
            self._lock.wait_for(
                lambda: self._closing or self._reset or self._wanted or self._steps or self._running
            )
            return not self._closing

    def _obey(self) -> None:
        """Take over what was set, then train until something else is asked for."""
        with self._lock:
            wanted, self._wanted = self._wanted, None
            passed, self._passed = self._passed, None
            reset, self._reset = self._reset, False
            if wanted is None and self._trainer is None:  # what was wanted first was refused
                self._running, self._steps = False, 0
                return
        if wanted is not None:
            self._take_over(wanted, passed)
        if reset and self._trainer is not None:
            self._trainer.restart(self._trainer.setting)
        begun = time.monotonic()
        due = begun + FRAME_S
        taken = 0
        while self._may_step(begun, taken):
            assert self._trainer is not None
            self._trainer.step()
            taken += 1
            if (now := time.monotonic()) >= due:
                self._show()
                due = max(due, now - FRAME_S) + FRAME_S
        self._show()

    def _take_over(self, wanted: Setting, passed: Setting | None) -> None:
        try:
            self._change(wanted)
        except Exception:
            if passed is not None:
                self._change(passed)
            raise

    def _change(self, setting: Setting) -> None:
        from explorer.lab.trainer import Trainer

        if self._trainer is None:
            self._trainer = Trainer(setting)
        else:
            self._trainer.change(setting)

    def _may_step(self, begun: float, taken: int) -> bool:
        """Wait until the next step is due; False: something else is asked for."""
        with self._lock:
            pace = self._pace
            if self._is_interrupted():
                return False
            if self._steps:
                self._steps -= 1
                return True
            if self._running and pace is not None:
                due = begun + (taken + 1) / pace
                self._lock.wait_for(
                    lambda: self._is_interrupted() or not self._running or self._pace != pace,
                    timeout=due - time.monotonic(),
                )
            return self._running and self._pace == pace and not self._is_interrupted()

    def _is_interrupted(self) -> bool:
        return self._closing or self._reset or self._wanted is not None

    def _show(self) -> None:
        assert self._trainer is not None
        snapshot = self._trainer.snapshot()
        self._tell(lambda news: replace(news, snapshot=snapshot, running=self._running))

    def _refuse(self, error: Exception) -> None:
        setting = None if self._trainer is None else self._trainer.setting

        def tell(news: News) -> News:
            self._running, self._steps = False, 0
            return replace(news, error=error, setting=setting, running=False)

        self._tell(tell)
        if self._trainer is not None:
            self._show()

    def _tell(self, add: Callable[[News], News]) -> None:
        with self._lock:
            waiting = self._news is not None
            self._news = add(self._news or News())
        if not waiting and not self._closing:
            self._told()
