"""Agreement of V and V* for keys whose kernel no exponent holds, against hundreds of digits."""

from __future__ import annotations

from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.maths.evidence import prescribed
from explorer.maths.evidence_alignment import SCALINGS, linear_measures
from explorer.maths.gram import eigenpairs, key_gram

SCALE, WIDTH, TOKENS = 0.5, 4, 9


@dataclass(frozen=True)
class Exactly:
    """Column-space overlap, and V* over its largest entry by scaling."""

    overlap: float
    stars: dict[str, np.ndarray]


@mpmath.workdps(300)
def exactly(k: Tensor, v: Tensor, count: int) -> Exactly:
    """V* of `count` columns from raw exponentials in 300 digits, and how far its columns' span is V's."""
    keys = [[mpmath.mpf(x) for x in row] for row in k.tolist()]
    raw = [[mpmath.exp(mpmath.mpf(SCALE) * mpmath.fdot(a, b)) for b in keys] for a in keys]
    g = [mpmath.fsum(row) for row in raw]
    kernel = mpmath.matrix([[raw[i][j] / (g[i] * g[j]) for j in range(TOKENS)] for i in range(TOKENS)])
    centre = mpmath.eye(TOKENS) - mpmath.ones(TOKENS) / TOKENS
    values, vectors = mpmath.eigsy(centre * (kernel / max(kernel)) * centre)
    leading = sorted(range(TOKENS), key=lambda d: -values[d])[:count]
    stars = {}
    for scaling in SCALINGS:
        star = mpmath.matrix(TOKENS, count)
        for column, d in enumerate(leading):
            mean = mpmath.fsum(vectors[:, d]) / TOKENS
            size = mpmath.sqrt(values[d]) if scaling == "axes" else 1
            for j in range(TOKENS):
                star[j, column] = (vectors[j, d] - mean) / (g[j] * size)
        largest = max(abs(x) for x in star)
        stars[scaling] = np.array([[float(x / largest) for x in row] for row in star.tolist()])
    basis, _ = mpmath.qr(centre * star, mode="skinny")
    learned, _ = mpmath.qr(centre * mpmath.matrix(v.tolist()), mode="skinny")
    return Exactly(float(mpmath.fsum(x**2 for x in learned.T * basis) / count), stars)


def linear_cka(a: np.ndarray, b: np.ndarray) -> float:
    a, b = ((x - x.mean(0)) @ (x - x.mean(0)).T for x in (a, b))
    return float((a * b).sum() / (np.linalg.norm(a) * np.linalg.norm(b)))


@pytest.mark.parametrize("factor", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_keys_far_beyond_any_exponent_are_right(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    k, v = (torch.from_numpy(rng.standard_normal((TOKENS, WIDTH))) for _ in range(2))
    gram = key_gram(factor * k, SCALE)
    target = prescribed(gram, eigenpairs(gram), WIDTH)
    rank = int(target.rank)
    assert (factor == 1.0) == (rank == WIDTH)  # large keys leave few columns above rounding
    expected = exactly(factor * k, v, rank)
    found = {name: float(value) for name, value in linear_measures(v, target).items()}
    assert found["overlap"] == pytest.approx(expected.overlap, rel=1e-9)
    for place, scaling in enumerate(SCALINGS):
        star = expected.stars[scaling]
        assert found[f"linear_cka_{scaling}"] == pytest.approx(linear_cka(v.numpy(), star), rel=1e-9)
        mine = target.star[place, :, :rank].numpy()
        signs = np.sign((mine * star).sum(0))
        np.testing.assert_allclose(mine / np.abs(mine).max() * signs, star, atol=1e-9)
        assert not target.star[place, :, rank:].any()


def test_raw_exponentials_of_these_keys_are_no_numbers() -> None:
    k = 100 * torch.from_numpy(np.random.default_rng(1).standard_normal((TOKENS, WIDTH)))
    raw = torch.exp(SCALE * k @ k.mT)
    assert torch.isnan(raw / (raw.sum(0) * raw.sum(1)[:, None])).any()
