"""What a model says: by softmax and by another attention, on clean and on contaminated input."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from explorer import stages
from explorer.answers import Answer, AnswerCurve, Answers, Exchange
from explorer.devices import choose
from explorer.errors import GramscopeError
from explorer.exchanged import attention_of, contaminated, only_in, softmax
from explorer.models.base import ShouldStop, Source, never
from explorer.models.saying import Question, Speaker, ask
from explorer.params import ENTERS, LEVEL_MAX, Params
from explorer.prediction_words import (
    contamination_in_words,
    exchange_in_words,
    hidden_keys_in_words,
    trained_with,
)

FEW = 12
"""Up to so many classes are shown all, in their own order."""
TOP = 8
LEVELS, SEEDS = 13, 3
KEPT = 64
ASKED = 2
"""Contaminated inputs that are kept: one for the answers, one for the curve."""
CASES = ((False, False), (False, True), (True, False), (True, True))
"""(contaminated, exchanged), in the order in which they are computed."""


class Predictor:
    """Asks a model, and keeps what it said: moving the level does not ask about the clean input again.

    Several threads may ask at once.

    Parameters
    ----------
    source : Source
        Of a model; heads without one say nothing.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._said: OrderedDict[Hashable, Tensor] = OrderedDict()
        self._asked: OrderedDict[Hashable, Question] = OrderedDict()
        self._lock = threading.Lock()

    def predict(
        self,
        p: Params,
        exchange: Exchange,
        place: int | None = None,
        should_stop: ShouldStop = never,
    ) -> Iterator[Answers]:
        """Ask the same question up to four times, one yield an answer.

        Parameters
        ----------
        exchange : Exchange
            λ, μ, iterations, form and queries are those of `p`.
        place : int or None
            The token to mask, of a masked language model.

        Raises
        ------
        GramscopeError
            If the source is no model, the input does not suit it, or the attention is not defined for it.
        Stopped
            If `should_stop` said so between two layers.
        """
        speaker, question = self._begin(p, place)
        first: Tensor | None = None
        answers: dict[tuple[bool, bool], Answer] = {}
        for case in CASES if p.level > 0 else CASES[:2]:
            said = self._say(speaker, question, p, exchange, *case, should_stop)
            first = said if first is None else first
            answers[case] = _answer(question, said, first)
            yield Answers(
                kind=question.kind,
                question=question.words,
                exchange=exchange_in_words(exchange, p, speaker),
                contamination=contamination_in_words(exchange, p, speaker),
                label=trained_with(speaker, exchange, p),
                notes=(*filter(None, [question.note]), *hidden_keys_in_words(speaker, exchange, p)),
                true=None if question.truth is None else question.name(question.truth),
                answers=dict(answers),
            )

    def curve(
        self,
        p: Params,
        exchange: Exchange,
        place: int | None = None,
        should_stop: ShouldStop = never,
    ) -> Iterator[AnswerCurve]:
        """Follow one number of the answer over the levels, seed by seed, one yield a level.

        It is the probability of the true answer; of what clean softmax says, where that is not known; or
        the cosine with clean softmax's embedding. There is one seed where nothing is drawn. Raises as
        `predict`.
        """
        speaker, question = self._begin(p, place)
        most, seeds = LEVEL_MAX[p.contamination], SEEDS if p.is_drawn else 1
        levels = [most * (i / (LEVELS - 1)) ** 1.5 for i in range(LEVELS)]
        first = self._say(speaker, question, p, exchange, False, False, should_stop)
        measure = _measure(question, first)
        found = {exchanged: np.full((seeds, LEVELS), np.nan) for exchanged in (False, True)}
        spent: list[float] = []
        for s in range(seeds):
            for i, level in enumerate(levels):
                at, begin = p.but(level=level, seed=p.seed + s), time.monotonic()
                for exchanged, values in found.items():
                    said = self._say(speaker, question, at, exchange, level > 0, exchanged, should_stop)
                    values[s, i] = _number(question, said, first)
                if level > 0:
                    spent.append(time.monotonic() - begin)
                left = sum(spent) / len(spent) * (seeds * (LEVELS - 1) - len(spent)) if spent else None
                yield AnswerCurve(np.array(levels), found[False].copy(), found[True].copy(), measure, left)

    def _begin(self, p: Params, place: int | None) -> tuple[Speaker, Question]:
        stages.use_threads()
        question = ask(self._source, replace(p.input, change=None), choose(p.device), place)
        assert isinstance(self._source, Speaker)
        return self._source, question

    def _say(
        self,
        source: Speaker,
        question: Question,
        p: Params,
        exchange: Exchange,
        dirty: bool,
        exchanged: bool,
        should_stop: ShouldStop,
    ) -> Tensor:
        """Return what the model says in one case, from memory where it has been asked before."""
        key = (
            p.input, question.place, choose(p.device), exchange if exchanged else exchange.layers,
            (p.form, p.queries, p.lam, p.mu, p.iterations) if exchanged else None,
            _contamination_of(p) if dirty else None,
        )  # fmt: skip
        with self._lock:
            said = self._said.get(key)
        if said is None:
            said = self._run(source, question, p, exchange, dirty, exchanged, should_stop)
        with self._lock:
            self._said[key] = said
            self._said.move_to_end(key)
            if len(self._said) > KEPT:
                self._said.popitem(last=False)
        return said

    def _run(
        self,
        source: Speaker,
        question: Question,
        p: Params,
        exchange: Exchange,
        dirty: bool,
        exchanged: bool,
        should_stop: ShouldStop,
    ) -> Tensor:
        attend = attention_of(exchange, p, should_stop) if exchanged else softmax
        device = choose(p.device)
        if dirty and ENTERS[p.contamination] == "keys":
            attend = contaminated(attend, p, source.symmetric)
        elif dirty:
            question = self._ask_again(source, question, p, device, should_stop)
        handler = only_in(exchange.layers, attend, should_stop)
        with torch.no_grad(), source.attending(handler, range(source.layers)):
            return question.say(device)

    def _ask_again(
        self, source: Speaker, clean: Question, p: Params, device: torch.device, should_stop: ShouldStop
    ) -> Question:
        """Ask of the contaminated input; both attentions read the same, which an attack computes once."""
        key = (p.input, p.change, clean.place, device)
        with self._lock:
            question = self._asked.get(key)
        if question is None:
            input = replace(p.input, change=p.change)
            question = ask(source, input, device, clean=clean, should_stop=should_stop)
        with self._lock:
            self._asked[key] = question
            if len(self._asked) > ASKED:
                self._asked.popitem(last=False)
        return question


def _contamination_of(p: Params) -> Hashable:
    if ENTERS[p.contamination] != "keys":
        return p.change
    return p.contamination, p.level, p.magnitude, p.seed, p.contaminate_values


def _answer(question: Question, said: Tensor, first: Tensor) -> Answer:
    if question.kind == "embedding":
        return Answer((), np.empty(0), cosine=_cosine(said, first))
    order: Sequence[int] = range(len(said))
    if len(said) > FEW:
        order = said.topk(TOP).indices.tolist()
    truth = None if question.truth is None else float(said[question.truth])
    return Answer(tuple(map(question.name, order)), said[list(order)].numpy(), truth)


def _cosine(x: Tensor, y: Tensor) -> float:
    if len(x) != len(y):
        raise GramscopeError("The two embeddings have different lengths and cannot be compared.")
    return float(torch.nn.functional.cosine_similarity(x, y, dim=0))


def _number(question: Question, said: Tensor, first: Tensor) -> float:
    if question.kind == "embedding":
        return _cosine(said, first)
    return float(said[int(first.argmax()) if question.truth is None else question.truth])


def _measure(question: Question, first: Tensor) -> str:
    if question.kind == "embedding":
        return "cosine with clean softmax's embedding"
    if question.truth is not None:
        return f"probability of “{question.name(question.truth)}”, which is true"
    return f"probability of “{question.name(int(first.argmax()))}”, what clean softmax says"
