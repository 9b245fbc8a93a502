"""Training against the bare tensor operations of its step, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import torch

from explorer.lab.setting import Kind, Setting
from explorer.lab.threads import one_thread
from explorer.lab.trainer import train

pytestmark = pytest.mark.bench
STEPS, ROUNDS = 400, 5
D, LENGTH, BATCH, RATE = 10, 64, 256, 0.1


def bare(kind: str) -> torch.Tensor:
    """What a step cannot do without: draw tokens, attend from the first one, pull back the error, step."""
    generator = torch.Generator().manual_seed(0)
    deviations = torch.ones(D)
    deviations[1:] = 0.5
    m = torch.randn(D, generator=generator)
    m = m / m.norm()
    for _ in range(STEPS):
        x = torch.randn(BATCH, LENGTH, D, generator=generator).mul_(deviations)
        first = x[:, 0]
        w = torch.outer(m, m)
        scores = (first @ w)[:, None] @ x.mT
        weights = scores.softmax(-1) if kind == "softmax" else scores / LENGTH
        error = (weights @ x)[:, 0] - first
        along = error[:, None] @ x.mT
        if kind == "softmax":
            back = weights * (along - (weights * along).sum(-1, keepdim=True))
        else:
            back = along / LENGTH
        gradient = first.mT @ (back @ x)[:, 0] * (2 / BATCH)
        towards = (gradient + gradient.mT) @ m
        m = m - RATE * (towards - m * (m @ towards))
        m = m / m.norm()
    return m


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@pytest.mark.parametrize("kind", ["softmax", "linear"])
def test_training_costs_little_more_than_its_tensor_operations(kind: Kind) -> None:
    """400 steps, d = 10, L = 64, batch 256: at most 1.3 ×, references and curves included."""
    setting = Setting(kind=kind, batch=BATCH, length=LENGTH, rate=RATE)
    with one_thread():
        assert bare(kind)[0].abs() > 0.99
        assert train(setting, STEPS).alignment() > 0.99
        pairs = [(seconds(lambda: train(setting, STEPS)), seconds(lambda: bare(kind))) for _ in range(ROUNDS)]
    ours, theirs = (min(column) for column in zip(*pairs, strict=True))
    print(f"{kind}: training {ours:.3f} s, bare operations {theirs:.3f} s, ratio {ours / theirs:.2f}")
    assert ours <= 1.3 * theirs
