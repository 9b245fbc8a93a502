"""An attack that takes long is refused until it is agreed to; long curves stop, and go on where they were."""

from __future__ import annotations

import itertools
import math

import pytest

from explorer import curves, pace
from explorer.analysis import Evaluator
from explorer.errors import TakesLong
from explorer.models.digits import sample_source
from explorer.models.synthetic import SyntheticSource
from explorer.params import Change, Params

PGD = Params(contamination="pgd", level=0.1, layer=1, steps=3)


@pytest.mark.parametrize(
    ("change", "passes"),
    [(Change("blur", 1.0), 0), (Change("fgsm", 0.1), 4), (Change("pgd", 0.1, steps=10), 31)],
)
def test_an_attack_costs_its_gradients(change: Change, passes: int) -> None:
    assert change.passes == passes


def test_a_long_attack_is_said_and_not_begun() -> None:
    evaluate, digits = Evaluator(), sample_source()
    with pytest.raises(TakesLong, match=r"takes about 5 s: 3 gradients"):
        next(evaluate(PGD, digits, agreed=0.0))
    assert next(evaluate(PGD.but(level=0.0), digits, agreed=0.0)).errors.softmax == 0
    assert next(evaluate(PGD, digits, agreed=math.inf)).errors.softmax > 0
    blurred = next(evaluate(PGD.but(contamination="blur", level=1.0), digits, agreed=0.0))
    assert blurred.errors.softmax > 0, "no gradient, nothing to agree to"


def test_long_curves_wait_and_go_on_where_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_S", 0.0)
    monkeypatch.setattr(curves.time, "monotonic", itertools.count(step=7.0).__next__)
    evaluate, digits = Evaluator(), sample_source()
    p = Params(contamination="salt and pepper", level=0.1, layer=1)
    *_, waiting = evaluate(p, digits, agreed=10.0)
    assert waiting.final and waiting.curves.waits
    assert waiting.curves.seconds == pytest.approx(7 * 38), "38 of 39 points at 7 s each"
    reads = []
    capture = digits.capture
    monkeypatch.setattr(digits, "capture", lambda *given: reads.append(given) or capture(*given))
    *_, whole = evaluate(p, digits)
    assert whole.final and not whole.curves.waits and whole.curves.outcome != "unknown"
    assert len(reads) == 38 - 2, "level 0 reads nothing, and the first point is there already"


def test_quick_curves_do_not_wait() -> None:
    *_, whole = Evaluator()(Params(level=0.1), SyntheticSource(), agreed=1e9)
    assert whole.final and not whole.curves.waits
