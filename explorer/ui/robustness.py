"""The page that shows why: the keys taken apart, what S finds, and the phase diagram of λ and level."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QWidget

from explorer import programs
from explorer.detail import Exact, PhaseMap, Sweep
from explorer.errors import GramscopeError
from explorer.pace import LONG_S, duration
from explorer.params import Params
from explorer.result import Result
from explorer.runner import Runner
from explorer.script import Program
from explorer.state import State
from explorer.streams import ShouldStop, Stream
from explorer.ui.controls import Controls
from explorer.ui.messages import report
from explorer.ui.panel import Panel
from explorer.views.base import View
from explorer.views.decomposition import DecompositionView
from explorer.views.phase import PhaseView
from explorer.views.support import SupportView

if TYPE_CHECKING:
    from explorer.models.base import Head

T = TypeVar("T")
REST_MS = 200
"""The hand rests when nothing has changed for so long: exact PCP begins."""
PACE_S = 0.05
KEPT = 8


class RobustnessPage(QWidget):
    """The controls, and three panels; what takes a while runs only while the page is shown.

    Parameters
    ----------
    inline : bool
        Compute on the calling thread; for tests.

    Attributes
    ----------
    panels : dict of str to Panel
        By the views' names.
    """

    def __init__(self, state: State, runner: Runner, *, inline: bool = False) -> None:
        super().__init__()
        self._state = state
        self.controls = Controls(state)
        self.decomposition, self.support, self.phase = (
            DecompositionView(state), SupportView(state), PhaseView(state),
        )  # fmt: skip
        self.panels = {view.name: Panel(view) for view in self.views}
        self._docks = self._lay_out()
        self._kept: OrderedDict[Hashable, PhaseMap] = OrderedDict()
        self._phase_of: Hashable = None
        self._agreed: Hashable = None
        self._keys_of: Hashable = None
        self._rest = QTimer(self, interval=REST_MS, singleShot=True)
        self._rest.timeout.connect(self._take_apart)
        self._streams = {
            name: self._stream(name, inline, view, show)
            for name, view, show in (
                ("phase", self.phase, self._show_phase),
                ("sweep", self.support, self.support.show_sweep),
                ("exact", self.decomposition, self.decomposition.show_exact),
            )
        }
        for stream in self._streams.values():
            runner.busy_changed.connect(stream.hold)
        self._streams["phase"].running_changed.connect(self.phase.asking.working)
        self.phase.asking.cancelled.connect(self._cancel_phase)
        self.phase.asking.begun.connect(self._agree)
        self.decomposition.iteration_changed.connect(self.support.show_iteration)
        self.support.show_iteration(self.decomposition.iteration)
        state.result_changed.connect(self._follow)
        state.source_changed.connect(self._leave_off)

    @property
    def views(self) -> list[View]:
        """The views of all panels."""
        return [self.decomposition, self.support, self.phase]

    def _lay_out(self) -> QMainWindow:
        docks = QMainWindow()
        docks.setWindowFlags(Qt.WindowType.Widget)
        docks.setDockNestingEnabled(True)
        above, left, right = self.panels.values()
        docks.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, above)
        docks.splitDockWidget(above, left, Qt.Orientation.Vertical)
        docks.splitDockWidget(left, right, Qt.Orientation.Horizontal)
        docks.resizeDocks([above, left], [1000, 1000], Qt.Orientation.Vertical)
        docks.resizeDocks([left, right], [1000, 1100], Qt.Orientation.Horizontal)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.controls)
        row.addWidget(docks, 1)
        return docks

    def _stream(self, name: str, inline: bool, view: View, show: Callable[[Any], None]) -> Stream:
        stream = Stream(name, inline=inline, parent=self)
        stream.item.connect(show)
        stream.failed.connect(report)
        stream.running_changed.connect(view.working)
        return stream

    def is_complete(self) -> bool:
        """Whether the phase diagram and exact PCP of the present picture are all there."""
        exact = self.decomposition.exact
        return self._phase_of in self._kept and exact is not None and exact.converged

    def program(self) -> Program:
        """Return what takes the keys apart and computes the diagram again."""
        return programs.robustness(self._state.params)

    def stop(self) -> None:
        """Stop everything that runs, and wait for it."""
        self._rest.stop()
        for stream in self._streams.values():
            stream.close()

    def showEvent(self, event: QShowEvent) -> None:
        """Compute what the page shows."""
        super().showEvent(event)
        if self._state.result is not None:
            self._follow(self._state.result)

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave off."""
        super().hideEvent(event)
        self._leave_off()

    def _leave_off(self, *_: object) -> None:
        self._phase_of = self._keys_of = None
        self._rest.stop()
        for stream in self._streams.values():
            stream.cancel()

    def _follow(self, result: Result) -> None:
        if not self.isVisible():
            return
        self._draw_phases(result)
        keys = (result.head, _of_keys(result.params))
        if keys == self._keys_of:
            return
        self._keys_of = keys
        for name in ("sweep", "exact"):
            self._streams[name].cancel()
        self.decomposition.show_exact(None)
        self.support.show_sweep(None)
        self._rest.start()

    def _draw_phases(self, result: Result) -> None:
        of = (result.head, _of_diagram(result.params))
        if of == self._phase_of:
            return
        self._phase_of = of
        self.phase.show_phase(self._kept.get(of))
        source = self._state.source
        if result.pursuit is None or of in self._kept or source is None or source.name != result.source:
            self._streams["phase"].cancel()
            return

        def produce(should_stop: ShouldStop) -> Iterator[PhaseMap]:
            from explorer.phase_inputs import input_phase_maps
            from explorer.robustness import phase_maps, timed

            p, kind = result.params, result.params.key_kind
            if kind is None:
                maps = input_phase_maps(source, p, should_stop)
            else:
                maps = phase_maps(_present(result.head), kind, p, should_stop)
            yield from paced(timed(maps), PACE_S)

        self._streams["phase"].run(produce)

    def _take_apart(self) -> None:
        result = self._state.result
        if result is not None and result.pursuit is not None:
            self._run("sweep", result)
            self._run("exact", result)

    def _run(self, name: str, result: Result) -> None:
        def produce(should_stop: ShouldStop) -> Iterator[Sweep | Exact]:
            from explorer import robustness

            work: dict[str, Callable[..., Iterator[Any]]]
            work = {"sweep": robustness.sweeps, "exact": robustness.exact}
            head = _present(robustness.head_of(result))
            yield from paced(work[name](head, result.params, should_stop), PACE_S)

        self._streams[name].run(produce)

    def _show_phase(self, phase: PhaseMap) -> None:
        self.phase.show_phase(phase)
        if phase.done == phase.wanted:
            self._kept[self._phase_of] = phase
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return
        long = phase.seconds is not None and phase.seconds > LONG_S
        if long and self._agreed != self._phase_of:
            self._streams["phase"].cancel()
            self.phase.asking.offer("Compute", f"the whole diagram takes {duration(phase.seconds or 0.0)}")
        else:
            self.phase.asking.tell(f"{duration(phase.seconds or 0.0)} left" if long else "")

    def _cancel_phase(self) -> None:
        self._streams["phase"].cancel()
        self.phase.asking.offer("Begin again", "cancelled")

    def _agree(self) -> None:
        """Compute the diagram however long it takes."""
        self._agreed, self._phase_of = self._phase_of, None
        if self._state.result is not None:
            self._draw_phases(self._state.result)


def _present(head: Head | None) -> Head:
    if head is None:
        raise GramscopeError("This picture came without its head. Open the model again.")
    return head


def _of_diagram(p: Params) -> Params:
    """Return the parameters that the phase diagram depends on, the others at their defaults."""
    return p.but(level=0.0, lam=None, variant="softmax", axes=(0, 1), centred=False)


def _of_keys(p: Params) -> Params:
    """Return the parameters that exact PCP and the scores over λ depend on."""
    lam = p.lam if p.form == "pcp" else None
    return p.but(lam=lam, variant="softmax", axes=(0, 1), centred=False)


def paced(items: Iterator[T], seconds: float) -> Iterator[T]:
    """Yield the first item, then at most one in so many seconds, and always the last."""
    waiting: list[T] = []
    last = -seconds
    for item in items:
        waiting = [item]
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            waiting = []
            yield item
    yield from waiting
