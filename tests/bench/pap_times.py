"""Running times of the pursuit, of four bare attention products, and of its formula, in one fresh process.

Run as a program with heads, tokens and features; prints the three in seconds. The memory that earlier work
of a process has given back or kept decides what the formula's large matrices cost, hence a fresh one. As many
threads work as for a picture of so many tokens.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor

from explorer import stages
from explorer.maths.rpc import pap
from tests.bench import plain
from tests.maths.strategies import difference, draw

ITERATIONS, LAM = 4, 4.0
LEAST_S = 3.0
"""How long the three take turns."""


def times(*functions: Callable[[], Tensor]) -> list[float]:
    """Return the least seconds of each, measured in turns: what else the machine does only ever adds.

    One thread's seconds are the processor's, several threads' the clock's.
    """
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    best = [math.inf] * len(functions)
    end = time.perf_counter() + LEAST_S
    while time.perf_counter() < end:
        for i, function in enumerate(functions):
            begin = clock()
            function()
            best[i] = min(best[i], clock() - begin)
    return best


def main(shape: tuple[int, int, int]) -> None:
    stages.use_threads(shape[1])
    k, v = draw(0, *shape).float(), draw(1, *shape).float()
    width, scale = shape[0] * shape[2], 1 / math.sqrt(shape[2])

    def pursuit() -> Tensor:
        return pap(
            k, k, v, scale, form="published", queries="symmetric",
            width=width, lam=LAM, iterations=ITERATIONS,
        ).output  # fmt: skip

    def formula() -> Tensor:
        return plain.pap(k, v, ITERATIONS, LAM, scale, width)

    error = difference(pursuit(), formula())
    own, kernels, written = times(pursuit, lambda: plain.four_sdpa(k, v, scale), formula)
    print(json.dumps({"pap": own, "four_sdpa": kernels, "formula": written, "error": float(error)}))


if __name__ == "__main__":
    heads, tokens, features = map(int, sys.argv[1:])
    main((heads, tokens, features))
