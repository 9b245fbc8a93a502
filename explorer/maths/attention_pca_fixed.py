"""A rank-one head trained on the tokens of one given prompt, for as many prompts at once as wanted."""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.maths.attention_pca import Kind


def own_prompt_gradient(kind: Kind, x: Tensor, m: Tensor, coupling: Tensor) -> Tensor:
    """Gradient of the mean over a prompt's own tokens of ‖X_l − T(X)_l‖², for W = λ m mᵀ.

    For linear attention that mean is exactly the infinite-prompt loss with the sample covariance XᵀX/n, so
    that such a head learns sample PCA of its prompt.

    Parameters
    ----------
    kind : "softmax" or "linear"
    x : Tensor, shape (S, n, d)
        S prompts, each with a head of its own.
    m : Tensor, shape (S, d)
    coupling : Tensor, shape (S,)
        λ.

    Returns
    -------
    Tensor, shape (S, d)
        Euclidean, with respect to `m`.
    """
    along = (x @ m[:, :, None])[:, :, 0]
    if kind == "linear":
        return _linear(x, m, along, coupling[:, None])
    scores = coupling[:, None, None] * along[:, :, None] * along[:, None, :]
    weights = scores.softmax(-1)
    pulled = (weights @ x - x) @ x.mT
    back = 2 * weights * (pulled - (weights * pulled).sum(-1, keepdim=True)) / x.shape[1]
    slope = coupling[:, None] * ((back + back.mT) @ along[:, :, None])[:, :, 0]
    return (x.mT @ slope[:, :, None])[:, :, 0]


def _linear(x: Tensor, m: Tensor, along: Tensor, coupling: Tensor) -> Tensor:
    n = x.shape[1]
    once = (x.mT @ along[:, :, None])[:, :, 0] / n
    twice = (x.mT @ (x @ once[:, :, None]))[:, :, 0] / n
    variance, squared = (m * once).sum(1, keepdim=True), (m * twice).sum(1, keepdim=True)
    return -4 * coupling * twice + 2 * coupling**2 * (twice * variance + once * squared)


def own_prompt_step(kind: Kind, x: Tensor, m: Tensor, leading: Tensor, rate: float) -> Tensor:
    """One step of gradient descent on the sphere at λ = 1/σ̂_1, with σ̂_1 each prompt's own.

    Parameters
    ----------
    m : Tensor, shape (S, d)
        Unit vectors.
    leading : Tensor, shape (S,)
        σ̂_1, the leading eigenvalue of XᵀX/n (`leading_variance`).
    rate : float
        In units of 1/σ̂_1.
    """
    gradient = own_prompt_gradient(kind, x, m, 1 / leading)
    tangent = gradient - m * (m * gradient).sum(1, keepdim=True)
    moved = m - rate / leading[:, None] * tangent
    return moved / torch.linalg.vector_norm(moved, dim=1, keepdim=True)


def leading_variance(x: Tensor) -> Tensor:
    """Return σ̂_1 of each prompt (S, n, d), the leading eigenvalue of XᵀX/n, shape (S,)."""
    return torch.linalg.matrix_norm(x, ord=2).square() / x.shape[1]
