"""RPC-Attention: principal attention pursuit.

Keys are split K ≈ L + S, L low-rank through attention and S sparse (Teo and Nguyen, arXiv 2406.13762).
With the scaled dual Z = Y/μ one iteration from L = Z = 0 is

    R = clamp(K − L + Z, −t, t)    what the threshold leaves: S ← K − L + Z − R
    C ← K − S ∓ Z                  = L + R − 2Z ("published") or L + R ("pcp")
    L' ← softmax(τ C Cᵀ) V
    Z ← Z + K − L' − S             = L + R − L'
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.maths.attention import attention_weights, fused_attention, upcast
from explorer.params import Form, Queries


@dataclass(frozen=True, eq=False, slots=True)
class Pap:
    """What principal attention pursuit gave.

    Attributes
    ----------
    output : Tensor, shape (…, N, D)
        The last L: what the head says.
    sparse : Tensor, shape (…, N, D)
        The last S.
    denoised : Tensor, shape (…, N, D)
        The last C, the keys of the last attention.
    queries : Tensor, shape (…, N, D)
        Its queries: C itself when symmetric.
    mu, threshold : Tensor, shape (…)
        μ, and the shrinkage threshold t in the keys' units.
    residuals : Tensor, shape (iterations, …), or None
        ‖K − L − S‖/‖K‖ after each iteration, when traced. Nothing guarantees that it falls.
    trace_low, trace_sparse : Tensor, shape (iterations, …, N, D), or None
        L and S after each iteration, when traced.
    """

    output: Tensor
    sparse: Tensor
    denoised: Tensor
    queries: Tensor
    mu: Tensor
    threshold: Tensor
    residuals: Tensor | None = None
    trace_low: Tensor | None = None
    trace_sparse: Tensor | None = None


def default_lambda(form: Form, n: int, d: int) -> float:
    """Return the λ that goes with a form: the authors' 4, or 1/√max(N, D) of principal component pursuit."""
    return 4.0 if form == "published" else max(n, d) ** -0.5


def default_mu(k: Tensor, width: int) -> Tensor:
    """Compute μ = N·W/(4‖K‖₁) over each head's entries, shape (…); 1 for keys that are all zero."""
    size = k.abs().sum((-2, -1))
    there = size > 0
    mu = k.shape[-2] * width / 4 / torch.where(there, size, 1.0)
    return torch.where(there, mu.clamp_max(torch.finfo(mu.dtype).max), 1.0)


def pap(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    *,
    form: Form,
    queries: Queries,
    width: int,
    lam: float | Tensor | None = None,
    mu: float | Tensor | None = None,
    iterations: int = 4,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    softcap: float | None = None,
    trace: bool = False,
) -> Pap:
    """Run principal attention pursuit.

    Parameters
    ----------
    q, k, v : Tensor, shape (…, N, D)
        `q` is read only by asymmetric queries.
    scale : float
        τ.
    form : {"published", "pcp"}
        "published": t = λμ and C = K − S − Y/μ, what the authors' program computes; "pcp": t = λ/μ and
        C = K − S + Y/μ, the augmented Lagrangian of principal component pursuit.
    queries : {"symmetric", "asymmetric"}
        Attention of C with itself, or with the head's own queries.
    width : int
        W of the default μ: the model's width for "published" in a model, else D.
    lam, mu : float or Tensor of shape (…), optional
        λ and μ; None: `default_lambda` and `default_mu`.
    mask, bias, softcap
        As in `explorer.maths.attention`. Under a mask give only the tokens that the chosen query sees.
    trace : bool
        Keep L, S and the residual of every iteration.

    Raises
    ------
    GramscopeError
        If the values are not as wide as the keys (K ≈ L + S cannot hold then), or without iterations.
    """
    if iterations < 1:
        raise GramscopeError("RPC-Attention needs at least one iteration.")
    if v.shape[-1] != k.shape[-1]:
        raise GramscopeError(
            f"RPC-Attention needs values as wide as keys, and this head has {v.shape[-1]}-dimensional values "
            f"with {k.shape[-1]}-dimensional keys. Choose another head or checkpoint for it."
        )
    q, k, v = upcast(q), upcast(k), upcast(v)
    mu = default_mu(k, width) if mu is None else torch.as_tensor(mu, dtype=k.dtype, device=k.device)
    threshold = _threshold(default_lambda(form, *k.shape[-2:]) if lam is None else lam, mu, form)
    upper = threshold[..., None, None]
    lower = -upper
    operands = (q, k, v, upper) if queries == "asymmetric" else (k, v, upper)
    shape = torch.broadcast_shapes(*(x.shape for x in operands))
    space, joint, other = _scratch(k, shape, *operands)
    gap = k.expand(shape)
    low = dual = torch.empty(0)
    steps: list[tuple[Tensor, Tensor]] = []
    for i in range(iterations):
        if i > 0:
            gap = torch.sub(k, low, out=space).add_(dual)
        rest = torch.minimum(torch.maximum(gap, lower, out=joint), upper, out=joint)
        if trace or i == iterations - 1:
            sparse = gap - rest
        c = joined = rest if i == 0 else rest.add_(low)
        if i > 0 and form == "published":
            c = torch.sub(joined, dual, alpha=2, out=space)
        asking = c if queries == "symmetric" else q
        low = fused_attention(asking, c, v, scale, mask, bias, softcap)
        if i < iterations - 1:
            dual = torch.sub(joined, low, out=other)
        if trace:
            steps.append((low, sparse))
    result = Pap(low, sparse, c, asking, mu, threshold)
    return _with_trace(result, k, steps) if trace else result


def _scratch(
    like: Tensor, shape: torch.Size, *operands: Tensor
) -> tuple[Tensor, Tensor, Tensor] | tuple[None, None, None]:
    """Return memory for intermediate results, so that none is asked for in the loop; none under autograd."""
    if torch.is_grad_enabled() and any(x.requires_grad for x in operands):
        return None, None, None
    return like.new_empty(shape), like.new_empty(shape), like.new_empty(shape)


def _threshold(lam: float | Tensor, mu: Tensor, form: Form) -> Tensor:
    lam = lam.to(mu) if isinstance(lam, Tensor) else lam
    t = mu * lam if form == "published" else lam / mu
    return t.clamp_max(torch.finfo(t.dtype).max)


def _with_trace(result: Pap, k: Tensor, steps: list[tuple[Tensor, Tensor]]) -> Pap:
    low, sparse = (torch.stack(column) for column in zip(*steps, strict=True))
    left, size = (torch.linalg.vector_norm(x, dim=(-2, -1)) for x in (k - low - sparse, k))
    residuals = left / torch.where(size > 0, size, 1.0)
    return replace(result, residuals=residuals, trace_low=low, trace_sparse=sparse)


def rpc_weights(
    result: Pap,
    scale: float,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    softcap: float | None = None,
) -> Tensor:
    """Compute the last attention map of a pursuit, softmax(τ C Cᵀ) or softmax(τ Q Cᵀ), shape (…, N, N)."""
    return attention_weights(result.queries, result.denoised, scale, mask, bias, softcap)
