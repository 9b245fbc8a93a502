"""The overview's numbers are those of the picture and of the evidence, head by head."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer import overview as module
from explorer.analysis import Evaluator
from explorer.errors import GramscopeError, Stopped
from explorer.maths.evidence import measure_heads
from explorer.models.base import Capture, LayerHeads, never
from explorer.overview import Overviewer
from explorer.params import Input, Params
from explorer.quantities import QUANTITIES, Overview
from explorer.report.stack import stack_heads
from tests.sources import FixedSource

CPU = torch.device("cpu")


def all_of(source: FixedSource, p: Params | None = None) -> Overview:
    *_, last = Overviewer()(p or Params(level=0.1), source)
    return last


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("head", [0, 5])
def test_the_errors_are_those_of_the_picture(causal: bool, head: int) -> None:
    source = FixedSource(tokens=14, dim=6, layers=2, heads=8, key_heads=4, causal=causal)
    p = Params(layer=1, head=head, level=0.1, form="pcp", queries="asymmetric")
    overview, picture = all_of(source, p), next(Evaluator()(p, source))
    assert picture.errors is not None
    for key in ("softmax", "rpc", "rpc_to_softmax"):
        assert overview.value(key, 1, head) == pytest.approx(getattr(picture.errors, key), rel=1e-9)
    margin = np.log10(picture.errors.softmax / picture.errors.rpc)
    assert overview.value("margin", 1, head) == pytest.approx(margin)


def test_alignment_and_rank_are_those_of_the_evidence() -> None:
    source = FixedSource(tokens=20, dim=5, heads=4, key_heads=2, causal=True)
    overview = all_of(source)
    stack = stack_heads(source.capture([1], Input(), CPU), 1)
    evidence, _ = measure_heads(stack.q, stack.k, stack.v, stack.output, stack.scale)
    for key, want in (
        ("overlap", evidence.measures["overlap"]),
        ("rank", evidence.spectra["keys"]["participation"]),
    ):
        assert overview.table(key)[1] == pytest.approx(np.repeat(want, 2), rel=1e-6)


def sharp(layer: LayerHeads) -> LayerHeads:
    """Head 0 reads the first token alone, head 1 every token evenly."""
    q, k = torch.zeros_like(layer.q), torch.zeros_like(layer.k)
    q[0, :, 0], k[0, 0, 0] = 1e4, 1.0
    return replace(layer, q=q, k=k)


def test_entropy_and_sinks_at_their_ends() -> None:
    overview = all_of(FixedSource(tokens=10, heads=2, key_heads=2, change=sharp))
    assert overview.table("entropy")[0] == pytest.approx([0.0, 1.0], abs=1e-9)
    assert overview.table("sink")[0] == pytest.approx([1.0, 0.1])


def test_even_causal_attention_has_entropy_one() -> None:
    overview = all_of(FixedSource(tokens=10, heads=2, key_heads=2, causal=True, change=sharp))
    assert overview.table("entropy")[0][1] == pytest.approx(1.0)


def test_small_maps_keep_the_sink_and_the_mask() -> None:
    part = all_of(FixedSource(tokens=100, heads=2, key_heads=2, causal=True, change=sharp)).done[0]
    assert part.maps.shape == (2, 48, 48)
    assert part.maps[0, :, 0] == pytest.approx(1.0)
    assert np.isnan(part.maps[0, 0, -1])


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    source = FixedSource(tokens=12, dim=4)
    whole = all_of(source)
    monkeypatch.setattr(module, "BATCH", 8 * 12**2)
    parts = all_of(source)
    for key in QUANTITIES:
        assert parts.table(key) == pytest.approx(whole.table(key), rel=1e-9)


def test_without_rpc_the_rest_is_there() -> None:
    overview = all_of(FixedSource(dim=4, value_dim=6))
    assert np.isnan(overview.table("rpc")).all() and np.isfinite(overview.table("softmax")).all()


def test_it_grows_layer_by_layer_and_is_kept() -> None:
    source, overviewer = FixedSource(layers=5), Overviewer()
    assert [len(item.done) for item in overviewer(Params(level=0.1), source)] == [1, 2, 3, 4, 5]
    before = source.captures
    *_, again = overviewer(Params(level=0.1), source)
    assert source.captures - before <= 1 and again.complete and again.tokens == 12
    *_, other = overviewer(Params(level=0.2), source)
    assert (other.table("entropy") == again.table("entropy")).all()
    assert (other.table("softmax") != again.table("softmax")).all()


def test_a_source_that_is_closed_is_let_go() -> None:
    source, overviewer = FixedSource(), Overviewer()
    list(overviewer(Params(level=0.1), source))
    closed = weakref.ref(source)
    del source
    gc.collect()
    assert closed() is None


def test_kept_maps_stay_within_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    source, overviewer = FixedSource(layers=3, heads=2, key_heads=2), Overviewer()
    *_, whole = overviewer(Params(level=0.1), source)
    monkeypatch.setattr(module, "KEPT_BYTES", 2 * whole.done[0].maps.nbytes)
    for query in range(4):
        list(overviewer(Params(level=0.1, query=query), source))
    (known,) = overviewer._kept.values()
    assert 0 < module._map_bytes(known) <= module.KEPT_BYTES


def test_it_stops() -> None:
    with pytest.raises(Stopped):
        list(Overviewer()(Params(), FixedSource(), lambda: True))


class Broken(FixedSource):
    """A source that refuses some layers."""

    def __init__(self, bad: set[int]) -> None:
        super().__init__(layers=3)
        self.bad = bad

    def capture(
        self,
        layers: Sequence[int],
        input: Input,
        device: torch.device,
        should_stop: Callable[[], bool] = never,
    ) -> Capture:
        if self.bad & set(layers):
            raise GramscopeError(f"Layer {layers[0]} gives NaN.")
        return super().capture(layers, input, device, should_stop)


def test_one_bad_layer_spoils_no_other() -> None:
    overview = all_of(Broken({0}))
    assert overview.done[0].problem == "Layer 0 gives NaN."
    assert np.isfinite(overview.table("entropy")[1:]).all()
    with pytest.raises(GramscopeError, match="Layer 0"):
        all_of(Broken({0, 1, 2}))


def test_true_numbers_from_a_first_layer_above_zero() -> None:
    source = FixedSource(layers=4)
    source.first_layer = 2
    overview = all_of(source)
    assert overview.layers == range(2, 4) and overview.table("entropy").shape == (2, 4)
    assert overview.value("entropy", 3, 1) == overview.table("entropy")[1, 1]
