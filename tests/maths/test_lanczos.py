from __future__ import annotations

import pytest
import torch
from torch import Tensor

from explorer.maths import gram as grams
from explorer.maths.gram import eigenpairs, key_gram
from explorer.maths.lanczos import leading_pairs
from tests.maths.strategies import draw

COUNT = 12


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grams, "LARGE", 200)


def with_spectrum(values: list[float], n: int = 240) -> Tensor:
    basis = torch.linalg.qr(draw(3, n, len(values))).Q
    return basis * torch.tensor(values, dtype=torch.float64) @ basis.mT


KEYS = {
    "normal": draw(0, 240, 16),
    "large": draw(1, 240, 16) * 3,
    "small": draw(2, 240, 16) * 1e-2,
    "few kinds": draw(3, 8, 16).repeat(30, 1),
    "equal clusters": (torch.eye(40, dtype=torch.float64) * 4).repeat(6, 1),
}


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_leading_pairs_are_those_of_the_full_problem(keys: Tensor) -> None:
    gram = key_gram(keys, 0.25)
    found, full = eigenpairs(gram, COUNT), eigenpairs(gram)
    known = full.leading(COUNT)
    assert found.exact and found.values.shape == (COUNT,) and found.vectors.shape == (240, COUNT)
    certain = known.values > 1e3 * gram.tolerance
    torch.testing.assert_close(found.values[certain], known.values[certain], rtol=1e-9, atol=0)
    torch.testing.assert_close(found.values, known.values, rtol=0, atol=float(gram.tolerance))
    assert int(found.rank) == min(int(full.rank), COUNT)
    assert torch.equal(found.identifiable, known.identifiable)
    gaps = torch.minimum(
        -full.values.diff()[:COUNT], torch.cat([gram.matrix.new_tensor([1e9]), -full.values.diff()])[:COUNT]
    )
    clear = gaps > 1e-6 * full.values[0]
    cosines = (found.vectors * known.vectors).sum(-2)
    assert cosines[clear].numel() == 0 or cosines[clear].min() > 1 - 1e-9
    identity = torch.eye(COUNT, dtype=torch.float64)
    torch.testing.assert_close(found.vectors.mT @ found.vectors, identity)


def test_the_large_matrix_is_not_solved_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    gram = key_gram(draw(0, 240, 16), 0.25)
    monkeypatch.setattr(torch.linalg, "eigh", lambda _: pytest.fail("all eigenpairs were solved for"))
    eigenpairs(gram, COUNT)


def test_the_same_matrix_gives_the_same_numbers() -> None:
    gram = key_gram(draw(0, 240, 16), 0.25)
    first, again = eigenpairs(gram, COUNT), eigenpairs(gram, COUNT)
    assert torch.equal(first.values, again.values) and torch.equal(first.vectors, again.vectors)


def test_multiple_eigenvalues_are_counted_as_often_as_they_come() -> None:
    wanted = [5.0] * 4 + [2.0] * 3 + [1.0] * 20
    found = leading_pairs(with_spectrum(wanted), 10)
    assert found is not None
    torch.testing.assert_close(found[0], torch.tensor(wanted[:10], dtype=torch.float64))


def test_an_overlooked_eigenvalue_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = with_spectrum([5.0, 4.0, 3.0, 2.0, 1.0])
    from scipy.sparse import linalg

    whole = linalg.eigsh

    def careless(m, k, **settings):  # type: ignore[no-untyped-def]
        if k == 1:
            return whole(m, k, **settings)
        values, vectors = whole(m, k + 1, **settings)
        keep = [*range(k - 1), k]
        return values[keep], vectors[:, keep]

    assert leading_pairs(matrix, 3) is not None
    monkeypatch.setattr(linalg, "eigsh", careless)
    assert leading_pairs(matrix, 3) is None


def test_what_the_iteration_cannot_solve_is_solved_in_full() -> None:
    nothing = key_gram(draw(0, 1, 16).expand(240, 16), 0.25)
    assert leading_pairs(torch.zeros(240, 240, dtype=torch.float64), COUNT) is None
    pairs = eigenpairs(nothing, COUNT)
    assert int(pairs.rank) == 0 and not pairs.identifiable.any()


def test_single_precision_is_solved_in_double_and_given_back_in_single() -> None:
    gram = key_gram(draw(0, 240, 16).float(), 0.25)
    found = eigenpairs(gram, COUNT)
    assert found.values.dtype == found.vectors.dtype == torch.float32
    exact = torch.linalg.eigvalsh(gram.matrix.double()).flip(0)[:COUNT]
    torch.testing.assert_close(found.values.double(), exact, rtol=1e-6, atol=0)
