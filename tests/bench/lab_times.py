"""Times of training and of the bare tensor operations of its steps, in one fresh process.

Run as a program with the kind of head; prints both in seconds.
"""

from __future__ import annotations

import json
import sys
from typing import cast

import torch

from explorer.lab.setting import Kind, Setting
from explorer.lab.threads import one_thread
from explorer.lab.trainer import train
from tests.bench.pap_times import times

STEPS = 400
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


def main(kind: Kind) -> None:
    setting = Setting(kind=kind, batch=BATCH, length=LENGTH, rate=RATE)
    with one_thread():
        found = float(bare(kind)[0].abs()), train(setting, STEPS).alignment()
        ours, theirs = times(lambda: train(setting, STEPS).learner.maps(), lambda: bare(kind))
    print(json.dumps({"training": ours, "bare": theirs, "found": found}))


if __name__ == "__main__":
    main(cast(Kind, sys.argv[1]))
