"""A head on the input as it is and on the contaminated input, and which token is which in the two."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.base import Capture, Head, ShouldStop, Source
from explorer.params import Params

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reread:
    """A head in the model's pass over the contaminated input.

    Attributes
    ----------
    whole : Head
    at : int or None
        The query whose view is shown, by its place now; None: the last one.
    touched : Tensor of bool, shape (N',)
        Tokens whose word or patch was contaminated.
    kept : Tensor of int, shape (N',), or None
        Each token's place among those of the clean head; None: the same.
    query : int or None
        The clean place of the query whose view this is.
    """

    whole: Head
    at: int | None
    touched: Tensor
    kept: Tensor | None
    query: int | None


def contaminated(
    source: Source, p: Params, layer: int, device: torch.device, should_stop: ShouldStop
) -> Capture:
    """Let the model read the contaminated input, and keep one layer.

    Raises
    ------
    GramscopeError
        If this contamination cannot be done to what the source reads.
    Stopped
        If `should_stop` said so.
    """
    source.refuse_entry(p.contamination)
    return source.capture([layer], replace(p.input, change=p.change), device, should_stop)


def seen(whole: Head, query: int | None) -> tuple[int | None, Places]:
    """Return the query whose view a head gives (None without a mask) and the places of the tokens seen.

    Raises
    ------
    GramscopeError
        If there is no such token.
    """
    n = whole.k.shape[0]
    if whole.mask is None or bool(whole.mask.all()):
        return None, np.arange(n)
    if query is None:
        query = int(torch.nonzero(whole.mask.any(-1)).max())
    if not 0 <= query < n:
        raise GramscopeError(f"There is no token {query}: the input has tokens 0 to {n - 1}.")
    visible = whole.mask[query].clone()
    visible[query] = True
    return query, torch.nonzero(visible).flatten().cpu().numpy()


def reread(capture: Capture, layer: int, index: int, query: int | None, clean: Places) -> Reread:
    """Take a head from the capture of a contaminated input.

    Parameters
    ----------
    query : int or None
        The query's place in the clean input.
    clean : ndarray of int, shape (N,)
        The places, in the clean input, of the tokens of the clean head.

    Raises
    ------
    GramscopeError
        If deletion leaves nothing to compare.
    """
    whole = capture.head(layer, index)
    origin = np.array(capture.origin, dtype=np.int64) if capture.origin else np.arange(whole.k.shape[0])
    asked = _left_of(origin, query)
    at, places = seen(whole, asked)
    device = whole.k.device
    return Reread(
        whole=whole,
        at=asked,
        touched=torch.tensor(capture.changed)[places].to(device),
        kept=_kept(clean, origin[places]).to(device) if capture.origin else None,
        query=None if at is None else int(origin[at]),
    )


def _left_of(origin: Places, query: int | None) -> int | None:
    """Return the place now of the last token that is left of those up to the query."""
    if query is None:
        return None
    if not (origin <= query).any():
        raise GramscopeError("The query token and all before it are deleted. Choose a later query token.")
    return int((origin <= query).sum()) - 1


def _kept(clean: Places, left: Places) -> Tensor:
    at = np.searchsorted(clean, left).clip(max=len(clean) - 1)
    if not np.array_equal(clean[at], left):
        raise GramscopeError(
            "With these words deleted the query sees tokens that it did not see before: its window holds "
            "only so many. Nothing can be compared token by token; mask or swap words instead."
        )
    return torch.from_numpy(at)
