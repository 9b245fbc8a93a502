"""Principal attention pursuit beside the fewest attention products that it needs, and beside its formula."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from explorer.maths.rpc import pap
from tests.maths.strategies import difference, draw

ITERATIONS, LAM = 4, 4.0
ROUNDS = 100


def bare(k: Tensor, v: Tensor, scale: float) -> Tensor:
    """Four bare calls of the fused kernel."""
    for _ in range(ITERATIONS):
        out = scaled_dot_product_attention(k[None], k[None], v[None], scale=scale)[0]
    return out


def plain(k: Tensor, v: Tensor, scale: float, width: int) -> Tensor:
    """The formula as it is written, with the weights materialised."""
    mu = k.shape[1] * width / (4 * k.abs().sum((-1, -2), keepdim=True))
    low, y = torch.zeros_like(k), torch.zeros_like(k)
    for _ in range(ITERATIONS):
        s = k - low + y / mu
        s = torch.sign(s) * torch.relu(s.abs() - LAM * mu)
        c = k - s - y / mu
        low = ((c @ c.mT) * scale).softmax(-1) @ v
        y = y + mu * (k - low - s)
    return low


def times(*functions: Callable[[], Tensor]) -> list[float]:
    """Return the least seconds of each, measured in turns: what else the machine does only ever adds."""
    seconds: list[list[float]] = [[] for _ in functions]
    for _ in range(ROUNDS):
        for function, taken in zip(functions, seconds, strict=True):
            begin = time.perf_counter()
            function()
            taken.append(time.perf_counter() - begin)
    return [min(taken) for taken in seconds]


@pytest.mark.bench
@pytest.mark.parametrize(
    ("shape", "of_bare", "of_plain"),
    [((12, 197, 64), 1.4, None), ((3, 197, 64), 1.4, None), ((1, 1024, 64), 1.25, 0.6)],
)
def test_pursuit_costs_little_more_than_its_attention(
    shape: tuple[int, int, int], of_bare: float, of_plain: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    k, v = draw(0, *shape).float(), draw(1, *shape).float()
    width, scale = shape[0] * shape[2], 1 / math.sqrt(shape[2])

    def mine() -> Tensor:
        return pap(
            k, k, v, scale, form="published", queries="symmetric",
            width=width, lam=LAM, iterations=ITERATIONS,
        ).output  # fmt: skip

    assert difference(mine(), plain(k, v, scale, width)) < 1e-4
    own, kernels, formula = times(mine, lambda: bare(k, v, scale), lambda: plain(k, v, scale, width))
    with capsys.disabled():
        print(
            f"\nPAP {shape} float32: {own * 1e3:.2f} ms, {own / kernels:.2f} of four SDPA "
            f"({kernels * 1e3:.2f} ms), {own / formula:.2f} of the formula ({formula * 1e3:.2f} ms)"
        )
    assert own <= of_bare * kernels
    assert of_plain is None or own < of_plain * formula
