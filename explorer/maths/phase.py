"""The phase diagram: for which λ and level RPC-Attention does better than softmax."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from explorer.errors import Stopped
from explorer.maths.contamination import contaminate_many
from explorer.maths.outputs import Convention, attend_rpc, relative_error, softmax_output
from explorer.params import Contamination


@dataclass(frozen=True, eq=False, slots=True)
class Phase:
    """Errors over λ and level so far; NaN where not computed yet.

    Attributes
    ----------
    lams, levels : Tensor, shape (a,) and (b,)
    softmax : Tensor, shape (seeds, b)
        Contaminated softmax against its clean output.
    rpc, rpc_to_softmax : Tensor, shape (seeds, a, b)
        Contaminated RPC against its own clean output, and against softmax's.
    done : float
        Share of the points computed.
    """

    lams: Tensor
    levels: Tensor
    softmax: Tensor
    rpc: Tensor
    rpc_to_softmax: Tensor
    done: float

    def margin(self, own: bool = True) -> Tensor:
        """Return log₁₀(e_rpc / e_softmax), mean over the seeds so far, shape (a, b): negative, RPC is better.

        Parameters
        ----------
        own : bool
            RPC against its own clean output; else against softmax's. Levels that move nothing are NaN.
        """
        rpc = self.rpc if own else self.rpc_to_softmax
        softmax = self.softmax[:, None].clone()
        softmax[softmax == 0] = torch.nan
        tiny = torch.finfo(rpc.dtype).tiny
        return (rpc.clamp_min(tiny) / softmax).log10().nanmean(0)


def _coarse_to_fine(count: int) -> list[int]:
    """Order indices so that every prefix is spread over the whole range."""
    order: list[int] = []
    step = 1 << max(count - 1, 1).bit_length()
    while step:
        order += [i for i in range(0, count, step) if i not in order]
        step //= 2
    return order


def phase_diagram(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    convention: Convention,
    *,
    kind: Contamination,
    levels: Sequence[float],
    lams: Sequence[float],
    magnitude: float,
    seeds: Sequence[int],
    contaminate_values: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Phase]:
    """Compute the errors over λ and level, a row of levels at a time, rows from coarse to fine.

    Parameters
    ----------
    q, k, v : Tensor, shape (N, D)
    convention : Convention
        Its λ is not read.

    Raises
    ------
    GramscopeError
        If the values are not as wide as the keys.
    Stopped
        If `should_stop` said so between rows.
    """
    clean_softmax = softmax_output(q, k, v, scale, convention)
    shape = (len(seeds), len(lams), len(levels))
    softmax = k.new_full((shape[0], shape[2]), torch.nan)
    rpc, to_softmax = k.new_full(shape, torch.nan), k.new_full(shape, torch.nan)
    clean = {}
    rows = [(s, i) for s in range(len(seeds)) for i in _coarse_to_fine(len(lams))]
    keys, values = k, v
    for done, (s, i) in enumerate(rows, 1):
        if should_stop():
            raise Stopped
        rule = replace(convention, lam=lams[i])
        if torch.isnan(softmax[s]).all():
            keys = contaminate_many(k, kind, levels, magnitude, [seeds[s]]).values[0]
            if contaminate_values:
                values = contaminate_many(v, kind, levels, magnitude, [seeds[s]]).values[0]
            softmax[s] = relative_error(softmax_output(q, keys, values, scale, rule), clean_softmax)
        if i not in clean:
            clean[i] = attend_rpc(q, k, v, scale, rule).output
        moved = attend_rpc(q, keys, values, scale, rule).output
        rpc[s, i] = relative_error(moved, clean[i])
        to_softmax[s, i] = relative_error(moved, clean_softmax)
        yield Phase(
            torch.tensor(lams), torch.tensor(levels),
            softmax.clone(), rpc.clone(), to_softmax.clone(), done / len(rows),
        )  # fmt: skip
