"""Attention functions that a model can be given: (q, k, v, scale, layer) → output, all (B, H, N, D)."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from explorer.maths.references import scaled_attention
from explorer.maths.rpc import pap
from explorer.params import Form, Queries

AttentionFn = Callable[[Tensor, Tensor, Tensor, float, int], Tensor]


def softmax(q: Tensor, k: Tensor, v: Tensor, scale: float, layer: int) -> Tensor:
    """softmax(τ Q Kᵀ) V, the model's default."""
    return scaled_dot_product_attention(q, k, v, scale=scale)


def symmetric(q: Tensor, k: Tensor, v: Tensor, scale: float, layer: int) -> Tensor:
    """softmax(τ K Kᵀ) V: the keys are the queries (arXiv 2406.13762, symmetric attention)."""
    return scaled_dot_product_attention(k, k, v, scale=scale)


def scaled(s: Tensor | float) -> AttentionFn:
    """softmax(τ Q Kᵀ)(I − s·softmax(τ K Kᵀ)) V (arXiv 2406.13762, scaled attention).

    Parameters
    ----------
    s : Tensor or float
        A scalar, or one entry a head, shape (H, 1, 1).
    """

    def attend(q: Tensor, k: Tensor, v: Tensor, scale: float, layer: int) -> Tensor:
        return scaled_attention(q, k, v, scale, s).to(v.dtype)

    return attend


def rpc(
    *,
    width: int,
    form: Form = "published",
    queries: Queries = "symmetric",
    lam: float | None = None,
    mu: float | None = None,
    iterations: int = 4,
) -> AttentionFn:
    """Principal attention pursuit in the place of softmax; the parameters are those of `maths.rpc.pap`."""

    def attend(q: Tensor, k: Tensor, v: Tensor, scale: float, layer: int) -> Tensor:
        found = pap(
            q, k, v, scale, form=form, queries=queries, width=width, lam=lam, mu=mu, iterations=iterations
        )
        return found.output.to(v.dtype)

    return attend
