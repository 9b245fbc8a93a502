"""Results made with numpy alone: text, image, synthetic; one token, many tokens, no numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from explorer.detail import Decomposition
from explorer.params import Params
from explorer.result import Curves, Errors, Projection, Pursuit, Result, Spectrum

WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "while", "it", "rains"]


class Token:
    """Stands for `explorer.models.base.Token`, which would import torch."""

    def __init__(self, text, special=False, patch=None, word_start=True):
        self.text, self.special, self.patch, self.word_start = text, special, patch, word_start


def text_tokens(n):
    words = [Token("[CLS]", special=True), *(Token(WORDS[i % len(WORDS)]) for i in range(n - 2))]
    if n > 5:
        words[4] = Token("ing", word_start=False)
    return tuple([*words, Token("[SEP]", special=True)][:n])


def image_tokens(rows, columns):
    patches = [Token(f"{r},{c}", patch=(r, c)) for r in range(rows) for c in range(columns)]
    return (Token("[CLS]", special=True), *patches)


def attention(rng, n, sharpness=2.0):
    scores = rng.normal(0, sharpness, (n, n))
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


def spectrum(rng, n, noise=0.0, m=8):
    rank = max(1, n - 1)
    log10 = np.sort(-0.08 * np.arange(rank) ** 0.9 - 1 + noise * rng.normal(size=rank))[::-1]
    log10 = log10[log10 > -12]
    values = 10.0**log10
    vectors = np.linalg.qr(rng.normal(size=(n, min(m, n))))[0]
    vectors *= np.sign(vectors[np.abs(vectors).argmax(0), np.arange(vectors.shape[1])])
    identifiable = np.arange(vectors.shape[1]) != 2
    return Spectrum(log10, values / values.sum(), vectors, identifiable, -13.2, len(log10), exact=True)


def projection(rng, n, level, axes=(0, 1)):
    centres = rng.normal(0, 3, (6, 8))
    queries = centres[np.arange(n) % 6] + rng.normal(0, 0.4, (n, 8))
    keys = centres[np.arange(n) % 6] + rng.normal(0, 0.5, (n, 8))
    drift = rng.normal(0, 6 * level, (n, 8))
    leading = np.stack([queries, keys, queries * (1 - level) + drift, keys + drift])
    return Projection(*leading[..., list(axes)], axes, -3.0, leading)


@cache
def curves():
    levels = np.linspace(0, 0.5, 11)
    mean = {
        "softmax": 0.9 * levels**0.55,
        "rpc": 1.9 * levels**1.05,
        "rpc_to_softmax": 0.35 + 1.4 * levels**1.05,
        "uniform": np.full_like(levels, 0.82),
        "clipped": 0.1 + 0.55 * levels**0.6,
    }
    low = {name: 0.93 * values for name, values in mean.items()}
    high = {name: 1.07 * values for name, values in mean.items()}
    return Curves(levels, mean, low, high, 5, 5, "at a level", 0.2243, (0.2243,))


def errors(rng, n, level):
    by_token = 0.9 * level**0.55 * (1 + 0.3 * rng.normal(size=n)) ** 2
    rpc = 1.9 * level**1.05 * (1 + 0.3 * rng.normal(size=n)) ** 2
    size = (0.9 * level**0.55, 1.9 * level**1.05, 0.35 + 1.4 * level**1.05, 0.82, 0.1 + 0.55 * level**0.6)
    return Errors(*size, by_token, rpc)


def pursuit(level):
    clean = np.array([0.61, 0.42, 0.33, 0.29])
    moved = clean * (1 + level * np.array([0.5, 1.2, 2.2, 3.5]))
    found = (None, None) if level == 0 else (0.81, 0.64)
    return Pursuit(moved, clean, 4.0, 0.02, 0.08, 0.31, *found)


def decomposition(rng, n, level, d=8, iterations=4):
    clean = rng.normal(size=(n, d))
    hit = rng.permutation(n * d).reshape(n, d) < round(level * n * d)
    added = np.where(hit, 10 * rng.choice([-1.0, 1.0], (n, d)), 0.0)
    share = np.arange(1, iterations + 1)[:, None, None] / iterations
    found = np.where(np.abs(added + clean) > 1.5, added + 0.3 * clean, 0.0)
    return Decomposition(clean + added, added, hit, share * clean, share * found)


def result(tokens, level=0.08, grid=None, image=None, source="sample", seed=0, **params):
    n = len(tokens)
    rng = np.random.default_rng(seed)
    variant = params.get("variant", "softmax")
    weights = attention(rng, n)
    signed = variant in ("difference", "change", "gram")
    hit = rng.permutation(n) < round(level * n * 2)
    axes = params.get("axes", (0, 1))
    return Result(
        params=Params(level=level, **params),
        source=source,
        tokens=tokens,
        positions=np.arange(n),
        query=None,
        contaminated=hit,
        image=image,
        grid=grid,
        map=weights - attention(rng, n) if signed else weights,
        map_title=f"{variant} attention",
        map_formula="softmax(τ Q Kᵀ)",
        clean=spectrum(np.random.default_rng(1), n),
        moved=spectrum(np.random.default_rng(1 if level == 0 else 2), n, 4 * level),
        projection=projection(np.random.default_rng(3), n, level, axes),
        errors=errors(np.random.default_rng(4), n, level),
        pursuit=pursuit(level),
        curves=curves(),
        log10_norm_phi=-2.0,
        log10_norm_output=1.0,
        log10_error_axes=-2.3,
        log10_error_learned=1.0,
        error_learned_negative=True,
        plain_kernel=True,
        device="CPU",
        dtype="float32",
        milliseconds=11.0,
        final=True,
        decomposition=decomposition(np.random.default_rng(5), n, level),
    )


def text(n=14, **how):
    return result(text_tokens(n), **how)


def digits(**how):
    return result(image_tokens(8, 8), grid=(8, 8), **how)


def synthetic(n=128, **how):
    return result(tuple(Token(f"{i}·{i % 6}") for i in range(n)), **how)


def causal(n=14, **how):
    made = text(n, **how)
    return replace(made, map=np.where(np.tri(n, dtype=bool), made.map, np.nan), query=n - 1)


def without_numbers(n=14):
    """A result in which every number is NaN."""
    made = text(n)
    nothing = Spectrum(np.empty(0), np.empty(0), np.full((n, 4), np.nan), np.zeros(4, bool), np.nan, 0, True)
    pair = np.full((n, 2), np.nan)
    nan, row = float("nan"), np.full(n, np.nan)
    keys = np.full((n, 8), np.nan)
    apart = Decomposition(keys, keys, np.zeros((n, 8), bool), np.array([keys] * 4), np.array([keys] * 4))
    empty = {name: np.full(11, np.nan) for name in made.curves.mean}
    return replace(
        made,
        map=np.full((n, n), np.nan),
        clean=nothing,
        moved=nothing,
        projection=Projection(pair, pair, pair, pair, (0, 1), 0.0),
        errors=Errors(nan, nan, nan, nan, nan, row, row),
        decomposition=apart,
        pursuit=Pursuit(np.full(4, np.nan), np.full(4, np.nan), nan, nan, nan, nan, None, None),
        curves=replace(made.curves, mean=empty, low=empty, high=empty, outcome="unknown", breakdown=None,
                       crossings=()),
    )  # fmt: skip
