"""The mathematics on a GPU gives the CPU's numbers, to the precision that the GPU has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer import devices
from explorer.maths import (
    attention,
    attention_pca,
    contamination,
    gram,
    outputs,
    pixels,
    projection,
    references,
)
from explorer.maths.attack import pgd
from explorer.maths.evidence import measure_heads, prescribed
from explorer.maths.evidence_draws import Draws, measure_draws, nulls_of
from explorer.maths.evidence_nulls import LayerInput, singular_part
from explorer.maths.pcp import exact_pcp
from explorer.maths.pcp_batch import low_rank_part
from explorer.maths.phase import phase_diagram
from explorer.maths.response import response
from explorer.maths.rpc import pap
from explorer.maths.support import support_sweep

SCALE = 0.3
RULE = outputs.Convention(form="published", queries="asymmetric", width=8)
LEVELS, LAMS = [0.05, 0.2], [1.0, 4.0]
Put = Callable[[Tensor], Tensor]


@pytest.fixture(scope="module")
def device() -> str:
    real = next((name for name in devices.available() if name != "cpu"), None)
    if real is None:
        pytest.skip("there is no GPU")
    return real


def heads(put: Put) -> tuple[Tensor, Tensor, Tensor]:
    draw = torch.Generator().manual_seed(0)
    q, k, v = (put(torch.randn(40, 8, generator=draw, dtype=torch.float64)) for _ in range(3))
    return q, k, v


def attend(put: Put) -> Iterator[Any]:
    q, k, v = heads(put)
    mask = put(torch.ones(40, 40, dtype=torch.bool)).tril()
    yield attention.attention_weights(q, k, SCALE, mask, softcap=5.0)
    yield attention.fused_attention(q, k, v, SCALE, mask)
    yield references.scaled_attention(q, k, v, SCALE, 0.5)
    yield references.clipped_attention(q, k, v, SCALE)


def kernel(put: Put) -> Iterator[Any]:
    q, k, v = heads(put)
    found = gram.key_gram(k, SCALE)
    pairs = gram.eigenpairs(found)
    star, log_size = gram.value_matrix(found, pairs.leading(4), "axes")
    yield pairs.leading(12).values.log()
    yield (attention.attention_weights(q, k, SCALE) @ star).abs()
    yield log_size
    errors = projection.projection_errors(q, found, pairs, attention.fused_attention(q, k, v, SCALE))
    yield from (errors.log_phi, errors.log_error_learned)


def pursue(put: Put) -> Iterator[Any]:
    _, k, v = heads(put)
    for form in ("published", "pcp"):
        went = pap(k, k, v, SCALE, form=form, queries="symmetric", width=8, iterations=3, trace=True)
        yield from (went.output, went.sparse, went.residuals)
    *_, last = exact_pcp(k, 0.2, tolerance=1e-4)
    yield from (last.low, low_rank_part(k[None], 0.2, 1e-4)[0])


def contaminate(put: Put) -> Iterator[Any]:
    _, k, _ = heads(put)
    for kind in ("sparse", "tokens", "gaussian", "replace"):
        moved = contamination.contaminate(k, kind, 0.2, 5.0, 1)
        yield from (moved.values, moved.hit)
    images = put(torch.rand(1, 3, 8, 8, generator=torch.Generator().manual_seed(1)))
    for kind in ("pixel noise", "salt and pepper", "blur", "occlusion"):
        yield pixels.contaminate_pixels(images, kind, 0.3, 2)
    yield pgd(lambda x: x.square().sum(), images, 0.1, 3, 0)


def errors(put: Put) -> Iterator[Any]:
    q, k, v = heads(put)
    many = {"kind": "sparse", "levels": LEVELS, "magnitude": 5.0, "seeds": [0, 1]}
    *_, curve = response(q, k, v, SCALE, RULE, **many)
    yield from curve.curves.values()
    *_, phase = phase_diagram(q, k, v, SCALE, RULE, lams=LAMS, **many)
    yield from (phase.softmax, phase.rpc, phase.rpc_to_softmax)
    moved = contamination.contaminate(k, "sparse", 0.1, 5.0, 0)
    *_, sweep = support_sweep(q, moved.values, v, SCALE, RULE, moved.hit, lams=LAMS)
    yield from (sweep.cut, sweep.recall)


def evidence(put: Put) -> Iterator[Any]:
    q, k, v = heads(put)
    output = attention.fused_attention(q, k, v, SCALE)
    found, _ = measure_heads(q[None], k[None], v[None], output[None], SCALE)
    yield from found.measures.values()
    draw = torch.Generator().manual_seed(3)
    x, w_v = (put(torch.randn(*shape, generator=draw, dtype=torch.float64)) for shape in ((40, 24), (8, 24)))
    left, part = LayerInput.of(x).left, singular_part(w_v)
    yield from (left @ left.mT, part @ part.mT)
    of_keys = gram.key_gram(attention.exact(k), SCALE)
    target = prescribed(of_keys, gram.eigenpairs(of_keys), 8)
    for null in nulls_of(attention.exact(v), None, None).values():
        yield from measure_draws(null, target, Draws(5, 2)).values()


def laboratory(put: Put) -> Iterator[Any]:
    q, k, _ = heads(put)
    covariance, w = k.mT @ k / 40, (q[:8] @ q[:8].mT / 10)[None]
    yield from attention_pca.population_loss(covariance, w)
    for kind in ("softmax", "linear"):
        yield from attention_pca.prompt_loss(kind, k[None], w)


CASES = (attend, kernel, pursue, contaminate, errors, evidence, laboratory)


def array(x: Any) -> np.ndarray:
    return np.asarray(x.detach().cpu().double() if isinstance(x, Tensor) else x, dtype=float)


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_it_is_the_cpus(case: Callable[[Put], Iterator[Any]], device: str) -> None:
    single = device == "mps"

    def put(x: Tensor) -> Tensor:
        return (x.float() if single and x.is_floating_point() else x).to(device)

    tolerance = 2e-3 if single else 1e-7
    for here, there in zip(case(lambda x: x), case(put), strict=True):
        np.testing.assert_allclose(array(there), array(here), rtol=tolerance, atol=tolerance)
