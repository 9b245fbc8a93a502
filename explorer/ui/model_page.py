"""The page that asks the model itself: what it says by another attention, and under contamination."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QWidget

from explorer import programs
from explorer.answers import AnswerCurve, Answers, Exchange
from explorer.errors import GramscopeError
from explorer.pace import LONG_S, duration
from explorer.params import Params
from explorer.runner import Runner
from explorer.script import Program
from explorer.state import State
from explorer.streams import ShouldStop, Stream
from explorer.ui.controls import Controls
from explorer.ui.messages import report
from explorer.ui.panel import Panel
from explorer.views.picture import Picture, Provenance
from explorer.views.predictions import PredictionsView
from explorer.views.predictions_curve import PredictionsCurveView

if TYPE_CHECKING:
    from explorer.models.base import Source
    from explorer.predictions import Predictor

REST_MS = 300
"""The hand rests when nothing has changed for so long: the curve, and what is slow, begins."""
LATE_MS = 250
"""A picture of something else than what is asked stays for so long, and no longer."""
KEPT = 8
SURE = 4
"""A curve that is further than one part in so many is finished, however long it takes."""
NO_MODEL = "These are heads without a model around them: nothing is said. Open a checkpoint or the sample."
NOT_YET = "Nothing is asked yet. Open a model or the sample: what it says appears here."
ASKED = "The model is being asked."
WAITS = "The curve begins when the hand rests."
BEGUN = "The curve is being computed."


@dataclass(frozen=True)
class _Request:
    """What is asked: only what the answers depend on, the rest at its default."""

    params: Params
    exchange: Exchange
    place: int | None

    def without_level(self) -> _Request:
        """Return what the curve depends on."""
        return _Request(self.params.but(level=0.0), self.exchange, self.place)


_Drawn = tuple["Source | None", _Request]
"""Whom a picture is of, and what was asked, but for the level."""


class ModelPage(QWidget):
    """The controls, the answers side by side, and below them the answer over the level.

    Asks only while it is shown. While the level moves, what runs is finished and shown before the latest
    request begins, so that a drag animates; anything else that changes cancels what runs.

    Parameters
    ----------
    inline : bool
        Ask on the calling thread; for tests.

    Attributes
    ----------
    predictions : PredictionsView
    curve : PredictionsCurveView
    panels : dict of str to Panel
    """

    def __init__(self, state: State, runner: Runner, *, inline: bool = False) -> None:
        super().__init__()
        self._state, self._inline = state, inline
        self.controls = Controls(state)
        self.predictions, self.curve = PredictionsView(), PredictionsCurveView()
        self.panels = {view.name: Panel(view) for view in self.views}
        self._docks = self._lay_out()
        self._predictors: dict[Source, Predictor] = {}
        self._running: _Request | None = None
        self._shown: _Request | None = None
        self._waiting: _Request | None = None
        self._curve_of: _Request | None = None
        self._drawn: dict[Picture, _Drawn] = {}
        self._agreed: _Drawn | None = None
        self._kept: OrderedDict[tuple[Source | None, _Request], AnswerCurve] = OrderedDict()
        self._rest = QTimer(self, interval=REST_MS, singleShot=True)
        self._rest.timeout.connect(self._at_rest)
        self._late = QTimer(self, interval=LATE_MS, singleShot=True)
        self._late.timeout.connect(self._clear)
        self._answers = Stream("answers", inline=inline, parent=self)
        self._curves = Stream("answer-curves", inline=inline, parent=self)
        self._connect(runner)

    @property
    def views(self) -> list[Picture]:
        """The views of all panels."""
        return [self.predictions, self.curve]

    def _lay_out(self) -> QMainWindow:
        docks = QMainWindow()
        docks.setWindowFlags(Qt.WindowType.Widget)
        above, below = self.panels.values()
        docks.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, above)
        docks.splitDockWidget(above, below, Qt.Orientation.Vertical)
        docks.resizeDocks([above, below], [1100, 900], Qt.Orientation.Vertical)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.controls)
        row.addWidget(docks, 1)
        return docks

    def _connect(self, runner: Runner) -> None:
        self._answers.item.connect(self._show_answers)
        self._answers.finished.connect(self._next)
        self._answers.failed.connect(self._fail)
        self._answers.running_changed.connect(self.predictions.working)
        self._answers.running_changed.connect(self.predictions.chooser.asking.working)
        self._curves.item.connect(self._show_curve)
        self._curves.failed.connect(self._fail_curve)
        self._curves.running_changed.connect(self.curve.working)
        self._curves.running_changed.connect(self.curve.asking.working)
        runner.busy_changed.connect(self._curves.hold)
        chooser = self.predictions.chooser
        chooser.changed.connect(self._follow)
        chooser.asking.cancelled.connect(self._cancel)
        chooser.asking.begun.connect(self._ask_again)
        self.curve.asking.cancelled.connect(self._cancel_curve)
        self.curve.asking.begun.connect(self._agree)
        self._state.source_changed.connect(self._on_source)
        self._state.params_changed.connect(self._follow)
        self._state.selection_changed.connect(self._follow)

    def stop(self) -> None:
        """Stop everything that runs, and wait for it."""
        self._rest.stop()
        self._late.stop()
        for stream in (self._answers, self._curves):
            stream.close()

    def is_complete(self) -> bool:
        """Whether the answers and the curve of the present parameters are all there."""
        curve: AnswerCurve | None = self.curve.result
        return (
            self._running is None and not self._rest.isActive() and curve is not None
            and curve.done == curve.wanted
        )  # fmt: skip

    def program(self) -> Program:
        """Return what asks the model again.

        Raises
        ------
        GramscopeError
            If there is no model to ask.
        """
        request = self._request()
        return programs.model(request.exchange, request.place)

    def showEvent(self, event: QShowEvent) -> None:
        """Ask."""
        super().showEvent(event)
        self._follow()

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave off."""
        super().hideEvent(event)
        self._forget()

    def _forget(self) -> None:
        self._rest.stop()
        self._late.stop()
        self._answers.cancel()
        self._curves.cancel()
        self._running = self._waiting = self._shown = self._curve_of = None

    def _cancel(self) -> None:
        self._rest.stop()
        self._answers.cancel()
        self._curves.cancel()
        self._shown, self._running, self._waiting = self._running, None, None
        self.predictions.chooser.asking.offer("Ask again", "cancelled")

    def _ask_again(self) -> None:
        self._shown = self._curve_of = None
        self._follow()

    def _cancel_curve(self) -> None:
        self._curves.cancel()
        self.curve.asking.offer("Begin again", "cancelled")

    def _agree(self) -> None:
        """Compute the curve however long it takes."""
        self._agreed = self._asked
        self._curve_of = None
        self._at_rest()

    @property
    def _asked(self) -> _Drawn | None:
        """What the present parameters ask for, but for the level."""
        try:
            return self._state.source, self._request().without_level()
        except GramscopeError:
            return None

    def _clear(self) -> None:
        """Show no answer to another question than the one that is asked."""
        for view, words in zip(self.views, (ASKED, WAITS), strict=True):
            if self._drawn.get(view) != self._asked:
                view.show_nothing(words)

    def _on_source(self) -> None:
        self._forget()
        self._predictors.clear()
        self._kept.clear()
        self._drawn.clear()
        self._agreed = None
        self._follow()

    def _follow(self, *_: object) -> None:
        """Ask what the window's parameters and the choosers want to know, unless it is known."""
        if not self.isVisible():
            return
        self.curve.show_level(self._state.params.level)
        try:
            request = self._request()
        except GramscopeError as error:
            self._forget()
            self._refuse(str(error))
            return
        if request == (self._waiting or self._running or self._shown):
            return
        self._rest.start()
        self._late.start()
        if request.without_level() != self._curve_of:
            self._curves.cancel()
        if self._running is not None and request.without_level() == self._running.without_level():
            self._waiting = request
        elif request.exchange.attention == "pcp":
            self._answers.cancel()
            self._running, self._waiting = None, request
        else:
            self._ask(request)

    def _request(self) -> _Request:
        source, p = self._state.source, self._state.params
        if source is None or source.kind in ("synthetic", "heads"):
            raise GramscopeError(NOT_YET if source is None else NO_MODEL)
        exchange = self.predictions.chooser.exchange(source.first_layer, source.layers, p.layer)
        answers: Answers | None = self.predictions.result
        asks_for_a_token = answers is not None and answers.kind == "masked"
        place = min(self._state.selection, default=None) if asks_for_a_token else None
        p = p.but(query=None, variant="softmax", axes=(0, 1), centred=False)
        if p.change is None or p.target == "loss":
            p = p.but(layer=0, head=0)
        return _Request(p, exchange, place)

    def _refuse(self, sentence: str) -> None:
        for view in self.views:
            view.show_nothing(sentence)

    def _ask(self, request: _Request) -> None:
        self._running, self._waiting, self._shown = request, None, None
        source = self._state.source
        assert source is not None

        def produce(should_stop: ShouldStop) -> Iterator[Answers]:
            predictor = self._predictor(source)
            yield from predictor.predict(request.params, request.exchange, request.place, should_stop)

        self._answers.run(produce)

    def _predictor(self, source: Source) -> Predictor:
        """Return what asks the source; made on the thread that asks, since it imports torch."""
        from explorer.predictions import Predictor

        return self._predictors.setdefault(source, Predictor(source))

    def _next(self) -> None:
        """Go on with what has waited."""
        self._shown, self._running = self._running, None
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._ask(waiting)

    def _at_rest(self) -> None:
        """Begin what would not keep pace with a hand: exact PCP, and the curve."""
        if self._running is None and self._waiting is not None:
            self._ask(self._waiting)
        try:
            request = self._request().without_level()
        except GramscopeError:
            return
        if request == self._curve_of:
            return
        self._curve_of = request
        source = self._state.source
        assert source is not None
        known = self._kept.get((source, request))
        if known is not None:
            self._curves.cancel()
            self._show_curve(known)
            return

        def produce(should_stop: ShouldStop) -> Iterator[AnswerCurve]:
            predictor = self._predictor(source)
            yield from predictor.curve(request.params, request.exchange, request.place, should_stop)

        if self.curve.result is None:
            self.curve.show_nothing(BEGUN)
        self._curves.run(produce)

    def _show_answers(self, answers: Answers) -> None:
        request = self._running
        if request is None:
            return
        self._drawn[self.predictions] = self._state.source, request.without_level()
        self.predictions.show_answers(answers, request.exchange.attention, self._provenance(request))
        self.predictions.chooser.asking.tell(f"{len(answers.answers)} of {answers.wanted} answers")

    def _show_curve(self, curve: AnswerCurve) -> None:
        request = self._curve_of
        if request is None:
            return
        attention = request.exchange.attention
        self._drawn[self.curve] = self._state.source, request
        self.curve.show_curve(curve, attention, request.params, self._provenance(request))
        self.curve.show_level(self._state.params.level)
        self._tell_or_wait(curve)
        if curve.done == curve.wanted:
            self._kept[self._state.source, request] = curve
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)

    def _tell_or_wait(self, curve: AnswerCurve) -> None:
        """Say how long the curve will take; one that takes long waits until a person agrees."""
        left = curve.seconds
        if left is None or curve.done == curve.wanted:
            return
        long = left > LONG_S
        begins = SURE * curve.done < curve.wanted
        if long and begins and self._agreed != self._asked:
            self._curves.cancel()
            self.curve.asking.offer("Compute", f"the whole curve takes {duration(left)}")
            return
        self.curve.asking.tell(f"{duration(left)} left" if long else "")

    def _provenance(self, request: _Request) -> Provenance:
        source = self._state.source
        params: dict[str, Any] = {**asdict(request.params), "exchange": asdict(request.exchange)}
        return Provenance("" if source is None else source.name, params, f"on {request.params.device}")

    def _fail(self, error: Exception) -> None:
        self._late.stop()
        self._shown, self._running, self._waiting = self._running, None, None
        self._curves.cancel()
        self._rest.stop()
        self._refuse(str(error) if isinstance(error, GramscopeError) else "The model could not be asked.")
        if not isinstance(error, GramscopeError):
            report(error)

    def _fail_curve(self, error: Exception) -> None:
        self.curve.show_nothing(
            str(error) if isinstance(error, GramscopeError) else "The model could not be asked."
        )
        if not isinstance(error, GramscopeError):
            report(error)
