"""However many heads a layer has, the N × N matrices of one batch of them are in memory, and no more."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from explorer.errors import GramscopeError, Stopped
from explorer.maths.evidence_draws import Draws
from explorer.models.base import Capture, LayerHeads, Token
from explorer.report import batches
from explorer.report.collect import layer_evidence
from explorer.report.compute import head_record
from explorer.report.layer import LayerEvidence

TOKENS = 24
DRAWS = Draws(cheap=5, costly=2)


def capture(tokens: int = TOKENS, heads: int = 6, key_heads: int = 3) -> Capture:
    rng = np.random.default_rng(0)
    q, k, v = (torch.from_numpy(rng.normal(size=(n, tokens, 4))) for n in (heads, key_heads, key_heads))
    layer = LayerHeads(q=q, k=k, v=v, scale=0.5, x=torch.from_numpy(rng.normal(size=(tokens, 9))))
    return Capture(tuple(Token(str(i)) for i in range(tokens)), {0: layer})


def evidence(given: Capture) -> LayerEvidence:
    *_, last = layer_evidence(given, 0, draws=DRAWS, untrained=(given,))
    return last


@pytest.fixture
def two_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Let two heads of `TOKENS` tokens be measured together; a list of how many were."""
    monkeypatch.setattr(batches, "TOGETHER_BYTES", 2 * batches.MATRICES * 8 * TOKENS**2)
    sizes: list[int] = []
    measure_heads, key_gram = batches.measure_heads, batches.key_gram

    def counted(function: object) -> object:
        def call(*given: torch.Tensor) -> object:
            sizes.append(len(given[1] if function is measure_heads else given[0]))
            return function(*given)  # type: ignore[operator]

        return call

    monkeypatch.setattr(batches, "measure_heads", counted(measure_heads))
    monkeypatch.setattr(batches, "key_gram", counted(key_gram))
    yield sizes


def test_heads_in_batches_have_the_numbers_of_all_together(two_at_once: list[int]) -> None:
    apart = evidence(capture())
    assert set(two_at_once) == {1, 2} and len(two_at_once) > 4
    batches.TOGETHER_BYTES *= 100
    together = evidence(capture())
    assert (
        apart.draws.keys() == together.draws.keys() == {"permutation", "gaussian", "projection", "untrained"}
    )
    for head in range(6):
        assert_alike(head_record(apart, head), head_record(together, head))
    for name in ("learned", "unit", "axes"):
        np.testing.assert_allclose(apart.values[name], together.values[name], atol=1e-9)


def assert_alike(mine: object, theirs: object) -> None:
    if isinstance(mine, dict) and isinstance(theirs, dict):
        assert mine.keys() == theirs.keys()
        for key in mine:
            assert_alike(mine[key], theirs[key])
    elif isinstance(mine, list) and isinstance(theirs, list):
        assert len(mine) == len(theirs)
        for one, other in zip(mine, theirs, strict=True):
            assert_alike(one, other)
    elif isinstance(mine, float):
        assert mine == pytest.approx(theirs, rel=1e-6, abs=1e-8)
    else:
        assert mine == theirs


def test_it_stops_between_batches(two_at_once: list[int]) -> None:
    with pytest.raises(Stopped):
        list(layer_evidence(capture(), 0, should_stop=lambda: len(two_at_once) > 0))
    assert two_at_once == [2]


def test_a_batch_that_does_not_fit_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = 3 * batches.MATRICES * 8 * 300**2
    monkeypatch.setattr("explorer.models.memory.free_bytes", lambda device: needed - 1)
    monkeypatch.setattr(
        "explorer.report.stack.attention_weights", lambda *_, **__: pytest.fail("it was made")
    )
    with pytest.raises(GramscopeError, match=r"Evidence on 300 tokens.* needs about 43.2 MB.*shorter input"):
        next(layer_evidence(capture(300), 0))


def test_many_heads_are_refused_no_sooner_than_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "TOGETHER_BYTES", 1)
    monkeypatch.setattr("explorer.models.memory.free_bytes", lambda device: batches.MATRICES * 8 * TOKENS**2)
    assert evidence(capture()).complete


MEASURE = """
import threading, psutil
from explorer.maths.evidence_draws import Draws
from explorer.report import batches
from explorer.report.collect import layer_evidence
from tests.report.test_batches import capture

draws = Draws(1, 1, nulls=("permutation",), families=("kernel_cka",))
list(layer_evidence(capture(64, 8, 8), 0, draws=draws))
given, process, done = capture(640, 4, 4), psutil.Process(), threading.Event()
before = peak = process.memory_info().rss

def watch():
    global peak
    while not done.wait(0.002):
        peak = max(peak, process.memory_info().rss)

watching = threading.Thread(target=watch)
watching.start()
batches.TOGETHER_BYTES = 1
list(layer_evidence(given, 0, draws=draws))
done.set()
watching.join()
print(peak - before)
"""


def test_what_a_layer_takes_does_not_grow_with_its_heads() -> None:
    """Four heads of 640 tokens, one at a time, take what one head is said to take at the most."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    one_head = batches.MATRICES * 8 * 640**2
    assert one_head / 4 < int(done.stdout) < one_head * 1.2
