"""A GPU that has no memory left, or goes: a message, and the same picture from the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from explorer import devices
from explorer.analysis import Evaluator
from explorer.errors import GramscopeError
from explorer.fallback import Fallback, is_of_device
from explorer.models.base import Capture, ShouldStop, never
from explorer.params import Input, Params
from tests.sources import FixedSource

LOST = torch.AcceleratorError("CUDA error: unspecified launch failure")
FULL = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")


class FailingSource(FixedSource):
    """Works on the CPU only."""

    error: Exception = FULL

    def capture(
        self, layers: Sequence[int], input: Input, device: torch.device, should_stop: ShouldStop = never
    ) -> Capture:
        if device.type != "cpu":
            raise self.error
        return super().capture(layers, input, device, should_stop)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that says it has CUDA, which nobody has given up yet."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(devices, "_given_up", set())


def told_by_user(error: Exception) -> GramscopeError:
    wrapped = GramscopeError("It does not fit.")
    wrapped.__cause__ = error
    return wrapped


@pytest.mark.parametrize("error", [FULL, LOST, told_by_user(FULL), RuntimeError("CUDA error: device lost")])
@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_the_picture_comes_from_the_cpu(gpu: None, device: str, error: Exception) -> None:
    told: list[tuple[Any, ...]] = []
    source = FailingSource()
    source.error = error
    params = Params(level=0.1, device=device)
    evaluate = Fallback(Evaluator(), lambda *news: told.append(news))
    *_, result = evaluate(params, source)
    assert len(told) == 1 and "computes on the CPU" in told[0][0] and str(error) in told[0][1]
    assert result.device == "cpu" and result.params == params and result.final
    *_, expected = Evaluator()(Params(level=0.1, device="cpu"), FixedSource())
    np.testing.assert_array_equal(result.map, expected.map)
    *_, again = evaluate(params.but(level=0.2), source)
    assert len(told) == 1 and again.device == "cpu"


def test_a_device_lost_after_the_first_picture(gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[Any, ...]] = []
    on_cpu = Evaluator()

    def evaluate(params: Params, source: FixedSource, should_stop: ShouldStop = never) -> Any:
        results = on_cpu(params.but(device="cpu"), source, should_stop)
        yield next(results)
        if devices.choose(params.device).type != "cpu":
            raise LOST
        yield from results

    *_, result = Fallback(evaluate, lambda *news: told.append(news))(Params(), FixedSource())
    assert len(told) == 1 and result.final


def test_other_errors_are_what_they_are(gpu: None) -> None:
    source = FailingSource()
    source.error = ValueError("a fault of the program")
    with pytest.raises(ValueError, match="a fault"):
        list(Fallback(Evaluator(), print)(Params(), source))
    assert devices.choose("auto").type == "cuda"
    assert not is_of_device(RuntimeError("shapes differ"))


@pytest.mark.gpu
def test_the_window_on_a_gpu(qtbot: Any) -> None:
    from explorer.app import build

    real = next((name for name in devices.available() if name != "cpu"), None)
    if real is None:
        pytest.skip("there is no GPU")
    window = build(inline=True)
    qtbot.addWidget(window)
    window.show()
    window.opener.open_sample()
    for device in (real, "cpu"):
        window.state.update(device=device, level=0.05)
        assert window.state.result.device == device
    window.close()


@pytest.mark.gpu
@pytest.mark.parametrize("queries", ["symmetric", "asymmetric"])
@pytest.mark.parametrize("tokens", [12, 300])
def test_a_gpu_gives_the_numbers_of_the_cpu(queries: Any, tokens: int) -> None:
    real = next((name for name in devices.available() if name != "cpu"), None)
    if real is None:
        pytest.skip("there is no GPU")
    params = Params(level=0.1, queries=queries)
    *_, here = Evaluator()(params.but(device="cpu"), FixedSource(tokens))
    *_, there = Evaluator()(params.but(device=real), FixedSource(tokens))
    rtol = 1e-6 if there.dtype == "float64" else 1e-3
    np.testing.assert_allclose(there.map, here.map, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(there.clean.log10_values, here.clean.log10_values, atol=10 * rtol)
    np.testing.assert_allclose(there.errors.rpc, here.errors.rpc, rtol=100 * rtol, atol=rtol)
