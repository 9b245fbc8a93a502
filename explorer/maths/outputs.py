"""What one head says by each attention, and how far contamination moves it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.maths.attention import fused_attention
from explorer.maths.references import clipped_attention, uniform_attention
from explorer.maths.rpc import Pap, pap
from explorer.params import Form, Queries


@dataclass(frozen=True, slots=True)
class Convention:
    """Which attention a head computes: everything that `pap` is told, and what softmax must share with it.

    Attributes
    ----------
    form, queries, width, lam, mu, iterations
        As in `explorer.maths.rpc.pap`. With symmetric queries softmax attends from keys to keys too.
    mask, bias, softcap
        As in `explorer.maths.attention`.
    """

    form: Form
    queries: Queries
    width: int
    lam: float | Tensor | None = None
    mu: float | Tensor | None = None
    iterations: int = 4
    mask: Tensor | None = None
    bias: Tensor | None = None
    softcap: float | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Outputs:
    """What one head says by each attention, each (…, N, D).

    Attributes
    ----------
    softmax : Tensor
    rpc : Pap or None
        None where the head's values are not as wide as its keys.
    uniform, clipped : Tensor
        The two references.
    """

    softmax: Tensor
    rpc: Pap | None
    uniform: Tensor
    clipped: Tensor


def head_outputs(
    q: Tensor, k: Tensor, v: Tensor, scale: float, convention: Convention, trace: bool = False
) -> Outputs:
    """Compute a head's output by softmax, RPC-Attention and the two references.

    Parameters
    ----------
    q : Tensor, shape (…, N, D)
        Read only by asymmetric queries.
    k : Tensor, shape (…, N, D)
    v : Tensor, shape (…, N, Dv)
    scale : float
        τ.
    convention : Convention
    trace : bool
        Passed on to `pap`.
    """
    c = convention
    return Outputs(
        softmax=softmax_output(q, k, v, scale, c),
        rpc=attend_rpc(q, k, v, scale, c, trace) if v.shape[-1] == k.shape[-1] else None,
        uniform=uniform_attention(v, c.mask),
        clipped=clipped_attention(
            None if c.queries == "symmetric" else q, k, v, scale, c.mask, c.bias, c.softcap
        ),
    )


def softmax_output(q: Tensor, k: Tensor, v: Tensor, scale: float, convention: Convention) -> Tensor:
    """Compute softmax attention, from keys to keys where queries are symmetric; shapes as `head_outputs`."""
    c = convention
    asking = k if c.queries == "symmetric" else q
    return fused_attention(asking, k, v, scale, c.mask, c.bias, c.softcap)


def attend_rpc(
    q: Tensor, k: Tensor, v: Tensor, scale: float, convention: Convention, trace: bool = False
) -> Pap:
    """Run `pap` by the convention; shapes as `head_outputs`."""
    c = convention
    return pap(
        q, k, v, scale, form=c.form, queries=c.queries, width=c.width, lam=c.lam, mu=c.mu,
        iterations=c.iterations, mask=c.mask, bias=c.bias, softcap=c.softcap, trace=trace,
    )  # fmt: skip


def relative_error(moved: Tensor, reference: Tensor) -> Tensor:
    """Compute ‖moved − reference‖/‖reference‖ over tokens and features, shape (…).

    Where the reference is zero: 0 if nothing moved, else 1.
    """
    distance = torch.linalg.vector_norm(moved - reference, dim=(-2, -1))
    size = torch.linalg.vector_norm(reference, dim=(-2, -1))
    return torch.where(size > 0, distance / torch.where(size > 0, size, 1.0), (distance > 0).to(size))


def error_by_token(moved: Tensor, reference: Tensor) -> Tensor:
    """Compute ‖moved_i − reference_i‖ over the root mean square of ‖reference_i‖, shape (…, N).

    Its root mean square over tokens is `relative_error`.
    """
    distance = torch.linalg.vector_norm(moved - reference, dim=-1)
    size = torch.linalg.vector_norm(reference, dim=-1).square().mean(-1, keepdim=True).sqrt()
    return torch.where(size > 0, distance / torch.where(size > 0, size, 1.0), (distance > 0).to(size))


def errors(clean: Outputs, moved: Outputs) -> dict[str, Tensor]:
    """Compute the three errors and the two references by name, each of shape (…).

    "softmax" and "rpc": contaminated against the same attention's own clean output. "rpc_to_softmax":
    contaminated RPC against softmax's clean output; "rpc" alone flatters, since an output that ignores
    the data never moves. "uniform" and "clipped": the references against softmax's clean output.
    The two with RPC are absent where the head has none.
    """
    found = {
        "softmax": relative_error(moved.softmax, clean.softmax),
        "uniform": relative_error(moved.uniform, clean.softmax),
        "clipped": relative_error(moved.clipped, clean.softmax),
    }
    if moved.rpc is not None and clean.rpc is not None:
        found["rpc"] = relative_error(moved.rpc.output, clean.rpc.output)
        found["rpc_to_softmax"] = relative_error(moved.rpc.output, clean.softmax)
    return found


def support_scores(sparse: Tensor, hit: Tensor) -> tuple[float | None, float | None]:
    """Compare the support of S with the truly contaminated entries.

    Parameters
    ----------
    sparse : Tensor, shape (…, N, D)
    hit : Tensor of bool, shape (…, N, D)

    Returns
    -------
    precision, recall : float or None
        Share of S's entries that are contaminated, and of the contaminated entries that are in S; None
        where nothing is in S, or nothing contaminated.
    """
    found = sparse != 0
    both, in_support, contaminated = (int(x.sum()) for x in (found & hit, found, hit))
    if not contaminated:
        return None, None
    return (both / in_support if in_support else None), both / contaminated
