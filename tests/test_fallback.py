"""A GPU that has no memory left, or goes: a message, and the same picture from the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pytestqt.qtbot import QtBot

from explorer import devices, fallback
from explorer.__main__ import main
from explorer.analysis import Evaluator
from explorer.errors import GramscopeError
from explorer.fallback import is_of_device, lasting, lastingly
from explorer.models.base import Capture, ShouldStop, never
from explorer.params import Input, Params
from explorer.ui.study_page import StudyPage
from explorer.ui.window import MainWindow
from explorer.views.picture import Picture
from tests.sources import FixedSource
from tests.ui.desk import sentences, sit_down
from tests.ui.test_study_page import choose

LOST = torch.AcceleratorError("CUDA error: unspecified launch failure")
FULL = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
ON_THE_CPU = "computes on the CPU"


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
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """A machine that says it has CUDA, which nobody has given up yet; what is told of it."""
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(fallback, "lost", set())
    monkeypatch.setattr(fallback, "_tell", lambda *news: told.append(news))
    return told


def told_by_user(error: Exception) -> GramscopeError:
    wrapped = GramscopeError("It does not fit.")
    wrapped.__cause__ = error
    return wrapped


@pytest.mark.parametrize("error", [FULL, LOST, told_by_user(FULL), RuntimeError("CUDA error: device lost")])
@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_the_picture_comes_from_the_cpu(told: list, device: str, error: Exception) -> None:
    source, evaluate = FailingSource(), Evaluator()
    source.error = error
    params = Params(level=0.1, device=device)
    *_, result = lasting(lambda: evaluate(params, source))
    assert len(told) == 1 and ON_THE_CPU in told[0][0] and str(error) in told[0][1]
    assert result.device == "cpu" and result.params == params and result.final
    *_, expected = Evaluator()(Params(level=0.1, device="cpu"), FixedSource())
    np.testing.assert_array_equal(result.map, expected.map)
    *_, again = lasting(lambda: evaluate(params.but(level=0.2), source))
    assert len(told) == 1 and again.device == "cpu"


def test_a_device_lost_after_the_first_picture(told: list) -> None:
    def evaluate() -> Iterator[Any]:
        results = Evaluator()(Params(device="cpu"), FixedSource())
        yield next(results)
        if devices.choose("auto").type != "cpu":
            raise LOST
        yield from results

    *_, result = lasting(evaluate)
    assert len(told) == 1 and result.final


def test_who_was_under_way_when_another_gave_the_device_up_begins_again(told: list) -> None:
    def work() -> str:
        device = devices.choose("auto").type
        if device != "cpu":
            lastingly(other)
            raise LOST
        return device

    def other() -> None:
        if devices.choose("auto").type != "cpu":
            raise FULL

    assert lastingly(work) == "cpu"
    assert len(told) == 1


def test_what_was_on_a_device_that_is_gone_must_be_opened_again(told: list) -> None:
    def always() -> None:
        raise LOST

    with pytest.raises(GramscopeError, match="Open it again"):
        lastingly(always)
    with pytest.raises(torch.AcceleratorError):  # nothing is left to give up
        lastingly(always)


def test_other_errors_are_what_they_are(told: list) -> None:
    source = FailingSource()
    source.error = ValueError("a fault of the program")
    with pytest.raises(ValueError, match="a fault"):
        list(lasting(lambda: Evaluator()(Params(), source)))
    assert devices.choose("auto").type == "cuda"
    assert told == []
    assert not is_of_device(RuntimeError("shapes differ"))


@pytest.fixture
def full_gpu(told: list, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tensor finds room on the GPU."""
    move = torch.Tensor.to

    def to(tensor: torch.Tensor, *args: Any, **options: Any) -> torch.Tensor:
        if any(isinstance(arg, torch.device) and arg.type == "cuda" for arg in args):
            raise FULL
        return move(tensor, *args, **options)

    monkeypatch.setattr(torch.Tensor, "to", to)


@pytest.fixture
def window(qtbot: QtBot, full_gpu: None) -> Iterator[MainWindow]:
    with sit_down(qtbot, None) as window:
        yield window


@pytest.mark.parametrize("title", ["Explore", "Overview", "Robustness", "Model", "Evidence", "Study"])
def test_every_page_that_computes_goes_on_on_the_cpu(title: str, window: MainWindow) -> None:
    """Compare shows what Explore has found, and the laboratory computes on the CPU alone."""
    window.opener.open_sample()
    assert any(ON_THE_CPU in said for said in sentences(window))
    window.messages.bars[0].closed.emit()
    fallback.lost.clear()
    titles = [window.pages.row.tabText(place) for place in range(window.pages.count)]
    window.pages.show_page(titles.index(title))
    page = window.pages.page(window.pages.place)
    if isinstance(page, StudyPage):
        choose(page, "blur")
        page.controls.button.click()
    if title in ("Explore", "Robustness"):
        window.state.update(input=Input(index=3))
    (said,) = sentences(window)
    assert ON_THE_CPU in said
    assert any(view.result is not None for view in page.findChildren(Picture))


def test_a_report_falls_back(full_gpu: None, told: list, tmp_path: Path) -> None:
    few = ("--layers", "1", "--nulls", "gaussian", "--draws", "9", "--untrained", "0")
    assert main(["report", "sample", "--out", str(tmp_path), *few]) == 0
    assert len(told) == 1


def test_a_verb_falls_back(full_gpu: None, told: list, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    out = tmp_path / "a.csv"
    assert main(["export", "sample", "--panel", "spectrum", "--out", str(out)]) == 0
    assert len(told) == 1 and "log10" in out.read_text()
    fallback._to_the_terminal("It goes on.", "")
    assert capsys.readouterr().err == "gramscope: It goes on.\n"


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
