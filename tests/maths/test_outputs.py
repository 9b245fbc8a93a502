from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from explorer.maths.attention import attention
from explorer.maths.outputs import (
    Convention,
    error_by_token,
    errors,
    head_outputs,
    relative_error,
    support_scores,
)
from explorer.maths.references import clipped_attention, uniform_attention
from explorer.maths.rpc import pap
from tests.maths.strategies import draw

CAUSAL = torch.ones(12, 12, dtype=torch.bool).tril()
PUBLISHED = Convention("published", "symmetric", width=6)


@pytest.mark.parametrize("queries", ["symmetric", "asymmetric"])
@pytest.mark.parametrize("mask", [None, CAUSAL])
def test_every_attention_shares_queries_and_mask(queries: str, mask: torch.Tensor | None) -> None:
    q, k, v = draw(0, 12, 6), draw(1, 12, 6), draw(2, 12, 6)
    convention = Convention("pcp", queries, width=6, lam=0.3, iterations=3, mask=mask)  # type: ignore[arg-type]
    found = head_outputs(q, k, v, 0.4, convention, trace=True)
    own = None if queries == "symmetric" else q
    expected = pap(
        q,
        k,
        v,
        0.4,
        form="pcp",
        queries=queries,
        width=6,
        lam=0.3,
        iterations=3,
        mask=mask,  # type: ignore[arg-type]
    )
    assert found.rpc is not None and found.rpc.residuals is not None
    torch.testing.assert_close(found.rpc.output, expected.output)
    torch.testing.assert_close(found.softmax, attention(k if own is None else q, k, v, 0.4, mask))
    torch.testing.assert_close(found.clipped, clipped_attention(own, k, v, 0.4, mask))
    torch.testing.assert_close(found.uniform, uniform_attention(v, mask))


def test_errors_against_their_own_references() -> None:
    q, k, v = draw(0, 12, 6), draw(1, 12, 6), draw(2, 12, 6)
    clean = head_outputs(q, k, v, 0.4, PUBLISHED)
    moved = head_outputs(q, k + draw(3, 12, 6), v, 0.4, PUBLISHED)
    found = errors(clean, moved)
    assert clean.rpc is not None and moved.rpc is not None
    pairs = {
        "softmax": (moved.softmax, clean.softmax),
        "rpc": (moved.rpc.output, clean.rpc.output),
        "rpc_to_softmax": (moved.rpc.output, clean.softmax),
        "uniform": (clean.uniform, clean.softmax),
        "clipped": (moved.clipped, clean.softmax),
    }
    assert found.keys() == pairs.keys()
    for name, (a, b) in pairs.items():
        torch.testing.assert_close(found[name], (a - b).norm() / b.norm())
    nothing = errors(clean, clean)
    assert float(nothing["softmax"]) == float(nothing["rpc"]) == 0
    assert float(nothing["rpc_to_softmax"]) > 0 and float(nothing["clipped"]) >= 0


def test_without_rpc_the_others_remain() -> None:
    q, k, v = draw(0, 12, 6), draw(1, 12, 6), draw(2, 12, 4)
    clean = head_outputs(q, k, v, 0.4, PUBLISHED)
    assert clean.rpc is None
    assert set(errors(clean, clean)) == {"softmax", "uniform", "clipped"}


def test_token_errors_make_up_the_whole() -> None:
    moved, reference = draw(0, 3, 12, 6), draw(1, 3, 12, 6)
    by_token = error_by_token(moved, reference)
    torch.testing.assert_close(by_token.square().mean(-1).sqrt(), relative_error(moved, reference))
    still = torch.zeros(12, 6)
    assert float(relative_error(still, still)) == 0 and float(relative_error(still + 1, still)) == 1
    assert not error_by_token(still, still).any() and (error_by_token(still + 1, still) == 1).all()


def test_precision_and_recall_of_the_support() -> None:
    hit = torch.zeros(4, 5, dtype=torch.bool)
    hit[0, :4] = True
    sparse = torch.zeros(4, 5)
    assert support_scores(sparse, hit & False) == (None, None)
    assert support_scores(sparse, hit) == (None, 0.0)
    sparse[0, 0], sparse[0, 1], sparse[3, 3] = 2.0, -1.0, 0.5
    assert support_scores(sparse, hit) == (2 / 3, 2 / 4)


def test_a_convention_can_be_changed() -> None:
    k, v = draw(1, 12, 6), draw(2, 12, 6)
    weak, strong = (head_outputs(k, k, v, 0.4, replace(PUBLISHED, lam=lam)).rpc for lam in (0.01, 1e9))
    assert weak is not None and strong is not None
    assert (weak.sparse != 0).sum() > (strong.sparse != 0).sum() == 0
