from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.maths.attention import attention, fused_attention
from explorer.maths.rpc import Pap, default_lambda, default_mu, pap, rpc_weights
from tests.maths.strategies import DATA, difference, draw, matrices, vectors

CASES = json.loads(str(np.load(DATA / "rpc_published.npz")["cases"]))
CAUSAL = torch.ones(14, 14, dtype=torch.bool).tril()


def shrink(x: Tensor, t: Tensor) -> Tensor:
    return x.sign() * (x.abs() - t).clamp_min(0.0)


def written_out(q: Tensor | None, k: Tensor, v: Tensor, scale: float, form: str, lam: float, n: int) -> dict:
    """Follow the definition, with Y and μ as they are written; `q` None: symmetric."""
    mu = k.shape[-2] * k.shape[-1] / (4 * k.abs().sum())
    low = y = torch.zeros_like(k)
    residuals = []
    for _ in range(n):
        s = shrink(k - low + y / mu, lam * mu if form == "published" else lam / mu)
        c = k - s - y / mu if form == "published" else k - s + y / mu
        low = attention(c if q is None else q, c, v, scale)
        y = y + mu * (k - low - s)
        residuals.append((k - low - s).norm() / k.norm())
    return {"output": low, "sparse": s, "denoised": c, "residuals": torch.stack(residuals)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["case"]))
def test_the_authors_program(case: dict[str, float]) -> None:
    i = case["case"]
    data = vectors("rpc_published")
    k, v, expected = data[f"k{i}"], data[f"v{i}"], data[f"out{i}"]
    found = pap(
        k, k, v, k.shape[-1] ** -0.5, form="published", queries="symmetric",
        width=int(case["width"]), lam=case["lam"], iterations=int(case["iterations"]),
    )  # fmt: skip
    # Ten iterations are chaotic: orders of summation already differ by 2e-9.
    assert difference(found.output, expected) < (1e-6 if i == 5 else 1e-9)


@pytest.mark.parametrize("case", [0, 1, 2])
def test_an_independent_program(case: int) -> None:
    data = vectors("reference_small")
    q, k, v = (data[f"{name}{case}"] for name in "qkv")
    d = k.shape[-1]

    def run(form: str, queries: str) -> Pap:
        return pap(q, k, v, d**-0.5, form=form, queries=queries, width=d, trace=True)  # type: ignore[arg-type]

    for queries in ("symmetric", "asymmetric"):
        assert difference(run("pcp", queries).output, data[f"pap_pcp_{queries}{case}"]) < 1e-9
    published = run("published", "asymmetric").output
    assert difference(published, data[f"pap_published_asymmetric{case}"]) < 1e-9
    traced = run("published", "symmetric")
    assert traced.residuals is not None
    assert difference(traced.residuals, data[f"pap_published_residuals{case}"]) < 1e-9
    assert difference(traced.sparse, data[f"pap_published_S{case}"]) < 1e-9


@pytest.mark.parametrize("form", ["published", "pcp"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_definition(form: str, symmetric: bool) -> None:
    q, k, v = draw(0, 14, 6), draw(1, 14, 6), draw(2, 14, 6)
    lam = default_lambda(form, 14, 6) / 3  # type: ignore[arg-type]
    expected = written_out(None if symmetric else q, k, v, 0.4, form, lam, 5)
    found = pap(
        q, k, v, 0.4, form=form, queries="symmetric" if symmetric else "asymmetric",  # type: ignore[arg-type]
        width=6, lam=lam, iterations=5, trace=True,
    )  # fmt: skip
    for name, value in expected.items():
        torch.testing.assert_close(getattr(found, name), value, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(found.mu, default_mu(k, 6))
    torch.testing.assert_close(found.threshold, lam * found.mu if form == "published" else lam / found.mu)
    asking = found.denoised if symmetric else q
    torch.testing.assert_close(found.queries, asking)
    torch.testing.assert_close(rpc_weights(found, 0.4) @ v, found.output)


@pytest.mark.parametrize("form", ["published", "pcp"])
@pytest.mark.parametrize("mask", [None, CAUSAL])
def test_one_iteration_that_cuts_nothing_is_attention(form: str, mask: Tensor | None) -> None:
    q, k, v = draw(0, 3, 14, 6), draw(1, 3, 14, 6), draw(2, 3, 14, 6)
    options = {"form": form, "width": 18, "lam": 1e9, "iterations": 1, "mask": mask}
    symmetric = pap(q, k, v, 0.4, queries="symmetric", **options)  # type: ignore[arg-type]
    assert torch.equal(symmetric.output, fused_attention(k, k, v, 0.4, mask))
    assert not symmetric.sparse.any()
    own = pap(q, k, v, 0.4, queries="asymmetric", **options)  # type: ignore[arg-type]
    assert torch.equal(own.output, fused_attention(q, k, v, 0.4, mask))


@pytest.mark.parametrize("form", ["published", "pcp"])
def test_the_trace_changes_nothing_and_ends_where_the_result_is(form: str) -> None:
    k, v = draw(0, 2, 14, 6), draw(1, 2, 14, 6)
    plain, traced = (
        pap(k, k, v, 0.4, form=form, queries="symmetric", width=12, iterations=6, trace=trace)  # type: ignore[arg-type]
        for trace in (False, True)
    )
    assert plain.residuals is None and plain.trace_low is None and plain.trace_sparse is None
    assert torch.equal(plain.output, traced.output) and torch.equal(plain.sparse, traced.sparse)
    assert traced.residuals is not None and traced.trace_low is not None and traced.trace_sparse is not None
    assert traced.residuals.shape == (6, 2)
    assert torch.equal(traced.trace_low[-1], traced.output)
    assert torch.equal(traced.trace_sparse[-1], traced.sparse)
    left = (k - traced.trace_low - traced.trace_sparse).norm(dim=(-2, -1)) / k.norm(dim=(-2, -1))
    torch.testing.assert_close(traced.residuals, left)


def test_a_causal_mask_lets_no_future_in() -> None:
    k, v = draw(0, 14, 6), draw(1, 14, 6)
    options = {"form": "pcp", "queries": "symmetric", "width": 6, "mask": CAUSAL, "mu": 0.5}
    before = pap(k, k, v, 0.4, **options).output  # type: ignore[arg-type]
    later = k.clone()
    later[9:] += 5.0
    after = pap(later, later, v, 0.4, **options).output  # type: ignore[arg-type]
    torch.testing.assert_close(before[:9], after[:9])
    assert (before[9:] - after[9:]).abs().max() > 1e-3


def test_a_penalty_each() -> None:
    k, v, lam = draw(0, 4, 14, 6), draw(1, 14, 6), torch.tensor([[0.1], [1.0], [6.0]], dtype=torch.float64)
    found = pap(k, k, v, 0.4, form="published", queries="symmetric", width=6, lam=lam)
    assert found.output.shape == (3, 4, 14, 6) and found.threshold.shape == (3, 4)
    for i in range(3):
        for j in range(4):
            one = pap(k[j], k[j], v, 0.4, form="published", queries="symmetric", width=6, lam=float(lam[i]))
            torch.testing.assert_close(found.output[i, j], one.output)


def test_bias_and_cap_reach_the_scores() -> None:
    k, v, bias = draw(0, 14, 6), draw(1, 14, 6), draw(2, 14, 14)
    one = {"form": "published", "queries": "symmetric", "width": 6, "lam": 1e9, "iterations": 1}
    found = pap(k, k, v, 0.4, bias=bias, softcap=2.0, **one)  # type: ignore[arg-type]
    torch.testing.assert_close(found.output, attention(k, k, v, 0.4, bias=bias, softcap=2.0))
    torch.testing.assert_close(rpc_weights(found, 0.4, bias=bias, softcap=2.0) @ v, found.output)


def test_values_of_another_width_and_no_iterations_are_refused() -> None:
    k = draw(0, 14, 6)
    with pytest.raises(GramscopeError, match="5-dimensional values with 6-dimensional keys"):
        pap(k, k, draw(1, 14, 5), 0.4, form="pcp", queries="symmetric", width=6)
    with pytest.raises(GramscopeError, match="at least one iteration"):
        pap(k, k, k, 0.4, form="pcp", queries="symmetric", width=6, iterations=0)


@given(matrices(largest=1e4), st.sampled_from(["published", "pcp"]), st.integers(1, 6), st.booleans())
@settings(deadline=None, max_examples=100)
def test_outputs_are_averages_of_values(k: Tensor, form: str, iterations: int, single: bool) -> None:
    v = draw(0, *k.shape)
    k, v = (k.float(), v.float()) if single else (k, v)
    found = pap(
        k, k, v, 0.4, form=form, queries="symmetric",  # type: ignore[arg-type]
        width=k.shape[-1], iterations=iterations, trace=True,
    )  # fmt: skip
    for name in ("output", "sparse", "denoised", "mu", "threshold", "residuals"):
        assert getattr(found, name).isfinite().all(), name
    slack = 1e-5 if single else 1e-12
    assert (found.output <= v.max(0).values + slack).all() and (found.output >= v.min(0).values - slack).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_lower_precision(dtype: torch.dtype) -> None:
    data = vectors("rpc_published")
    k, v = data["k3"].to(dtype), data["v3"].to(dtype)
    low, high = (
        pap(k.to(t), k.to(t), v.to(t), 0.125, form="published", queries="symmetric", width=192).output
        for t in (dtype, torch.float64)
    )
    assert low.dtype == torch.float32
    assert difference(low.double(), high) < 1e-4


def test_gradients_pass() -> None:
    k = draw(0, 14, 6).requires_grad_()
    for form in ("published", "pcp"):
        out = pap(k, k, k, 0.4, form=form, queries="symmetric", width=6, lam=0.3)  # type: ignore[arg-type]
        (gradient,) = torch.autograd.grad(out.output.square().sum(), k)
        assert gradient.isfinite().all() and gradient.abs().max() > 0


def test_defaults() -> None:
    assert default_lambda("published", 128, 32) == 4.0
    assert default_lambda("pcp", 128, 32) == 128**-0.5
    assert default_lambda("pcp", 16, 64) == 64**-0.5
    k = draw(0, 2, 14, 6)
    torch.testing.assert_close(default_mu(k, 12)[1], 14 * 12 / (4 * k[1].abs().sum()))
    assert float(default_mu(torch.zeros(3, 2), 2)) == 1.0
