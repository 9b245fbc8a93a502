"""Attention-based PCA: heads with score x_l·W x_k, their reconstruction loss and its exact gradient.

A rank-one head has W = λ m mᵀ with ‖m‖ = 1; several heads have one such W each and add their outputs; a frame
has W = λ M Mᵀ with MᵀM = I; a free head has any W. All are a stack `w` of shape (R, d, d), one a head.

References
----------
Maulen-Soto and Boyer, "Attention-based PCA", arXiv 2605.18315.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Kind = Literal["softmax", "linear"]


def one_map(m: Tensor, coupling: Tensor | float) -> Tensor:
    """Return W = λ M Mᵀ as one head, shape (1, d, d), from a direction or frame `m` (d, R)."""
    return (coupling * m @ m.mT)[None]


def head_maps(m: Tensor, coupling: Tensor | float) -> Tensor:
    """Return W_r = λ m_r m_rᵀ, shape (R, d, d), from the columns of `m` (d, R)."""
    columns = m.mT
    return coupling * columns[:, :, None] * columns[:, None, :]


def first_scores(x: Tensor, w: Tensor) -> Tensor:
    """Return x_1·W_r x_k, shape (B, R, L), for prompts `x` (B, L, d)."""
    return (x[:, 0] @ w).transpose(0, 1) @ x.mT


def first_weights(kind: Kind, x: Tensor, w: Tensor) -> Tensor:
    """Return what the first token gives every token of its prompt, shape (B, R, L).

    Softmax weights sum to 1 over the prompt; linear weights are the scores over L and may be negative.
    """
    scores = first_scores(x, w)
    return scores.softmax(-1) if kind == "softmax" else scores / x.shape[1]


def attend(kind: Kind, x: Tensor, w: Tensor) -> Tensor:
    """Return T(X) for every token, heads added, shape (B, L, d)."""
    scores = (x[:, None] @ w) @ x[:, None].mT
    weights = scores.softmax(-1) if kind == "softmax" else scores / x.shape[1]
    return weights.sum(1) @ x


def prompt_loss(kind: Kind, x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """Mean over prompts of ‖X_1 − T(X)_1‖², and its gradient.

    Only the first token's output is computed: the tokens of a prompt are exchangeable, so its expectation is
    the loss. Cost: four products of (B, L, d) with a vector a prompt and head.

    Parameters
    ----------
    kind : "softmax" or "linear"
    x : Tensor, shape (B, L, d)
        B prompts of L tokens.
    w : Tensor, shape (R, d, d)

    Returns
    -------
    loss : Tensor, scalar
    gradient : Tensor, shape (R, d, d)
        With respect to `w`.
    """
    batch, length, _ = x.shape
    first = x[:, 0]
    weights = first_weights(kind, x, w)
    outputs = weights @ x
    error = outputs.sum(1) - first
    along = error[:, None] @ x.mT
    if kind == "softmax":
        pulled = (weights * (along - outputs @ error[:, :, None])) @ x
    else:
        pulled = (along / length @ x).expand_as(outputs)
    gradient = first.mT @ pulled.transpose(0, 1) * (2 / batch)
    return error.square().sum() / batch, gradient


def population_loss(covariance: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """Return the loss of infinitely long Gaussian prompts, softmax or linear alike, and its gradient.

    There T(x) = Σ Wᵀ x with W the sum of the heads, so the loss is tr Σ − 2 tr(Σ Wᵀ Σ) + tr(Σ Wᵀ Σ W Σ):
    for W = λ m mᵀ, tr Σ − 2λ mᵀΣ²m + λ² (mᵀΣ²m)(mᵀΣm).

    Parameters
    ----------
    covariance : Tensor, shape (d, d) or (B, d, d)
        One for all prompts, or one a prompt: then the mean over B.
    w : Tensor, shape (R, d, d)

    Returns
    -------
    loss : Tensor, scalar
    gradient : Tensor, shape (R, d, d)
        With respect to `w`; the same for every head.
    """
    sigma = covariance if covariance.ndim == 3 else covariance[None]
    residual = w.sum(0) @ sigma
    residual.diagonal(dim1=-2, dim2=-1).sub_(1)
    pulled = sigma @ residual
    loss = (pulled * residual).sum((-2, -1)).mean()
    gradient = 2 * (pulled @ sigma).mean(0)
    return loss, gradient.expand_as(w)


def direction_gradient(gradient: Tensor, m: Tensor, coupling: Tensor | float) -> Tensor:
    """Return the gradient with respect to `m` (d, R) from that with respect to W (chain rule, no constraint).

    Parameters
    ----------
    gradient : Tensor, shape (1, d, d) for `one_map`, (R, d, d) for `head_maps`
    """
    symmetric = gradient + gradient.mT
    if len(gradient) == 1:
        return coupling * (symmetric[0] @ m)
    return coupling * (symmetric @ m.mT[:, :, None])[:, :, 0].mT


def coupling_gradient(gradient: Tensor, m: Tensor) -> Tensor:
    """Return the derivative with respect to λ, a scalar."""
    unit = one_map(m, 1.0) if len(gradient) == 1 else head_maps(m, 1.0)
    return (gradient * unit).sum()


def sphere_step(m: Tensor, gradient: Tensor, rate: float) -> Tensor:
    """Riemannian gradient descent on the sphere, column by column: tangent part, step, back to unit norm.

    Parameters
    ----------
    m : Tensor, shape (d, R), unit columns
    gradient : Tensor, shape (d, R), Euclidean
    """
    moved = m - rate * (gradient - m * (m * gradient).sum(0))
    return moved / torch.linalg.vector_norm(moved, dim=0)


def frame_step(m: Tensor, gradient: Tensor, rate: float) -> Tensor:
    """Riemannian gradient descent on subspaces: the step outside span(m), then orthonormal again (QR).

    Parameters
    ----------
    m : Tensor, shape (d, R), orthonormal columns
    gradient : Tensor, shape (d, R), Euclidean, of a function of M Mᵀ alone
    """
    q, r = torch.linalg.qr(m - rate * (gradient - m @ (m.mT @ gradient)))
    return q * r.diagonal().sign()


def readout(outputs: Tensor) -> Tensor:
    """Return the top right singular vector of each prompt's outputs (B, L, d), shape (B, d).

    It is the direction that a trained free head says a prompt has; its sign is free.
    """
    scaled = outputs / outputs.abs().amax((-2, -1), keepdim=True)
    return torch.linalg.eigh(scaled.mT @ scaled)[1][..., -1]
