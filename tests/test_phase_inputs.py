"""The phase diagram of a contaminated input: each cell is the picture at it, one run of the model a level."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from explorer.analysis import Evaluator
from explorer.errors import GramscopeError, Stopped
from explorer.models.base import Source
from explorer.models.digits import sample_source
from explorer.models.huggingface import open_huggingface
from explorer.models.synthetic import SyntheticSource
from explorer.params import Input, Params
from explorer.phase_inputs import LEVELS, input_phase_maps
from explorer.result import Errors
from explorer.robustness import LAMS
from tests.models.conftest import FAMILIES


def errors(source: Source, p: Params) -> Errors:
    return next(Evaluator()(p, source)).errors


def the_cells_are_pictures(source: Source, p: Params, cells: list[tuple[int, int]]) -> None:
    *_, phase = input_phase_maps(source, p)
    assert phase.done == phase.wanted and phase.own.shape == (LAMS, LEVELS)
    for i, j in cells:
        own, other = [], []
        for seed in range(p.seed, p.seed + phase.seeds):
            at = p.but(lam=float(phase.lams[i]), level=float(phase.levels[j]), seed=seed)
            found = errors(source, at)
            if found.softmax > 0:
                own.append(np.log10(found.softmax / found.rpc))
                other.append(np.log10(found.softmax / found.rpc_to_softmax))
        assert phase.own[i, j] == pytest.approx(np.mean(own), abs=1e-6)
        assert phase.to_softmax[i, j] == pytest.approx(np.mean(other), abs=1e-6)


@pytest.mark.parametrize("queries", ["symmetric", "asymmetric"])
def test_a_cell_is_the_picture_at_it(queries: str) -> None:
    p = Params(contamination="salt and pepper", layer=1, seed=3, queries=queries, iterations=2)
    the_cells_are_pictures(sample_source(), p, [(0, 0), (9, 5), (19, 9)])


def test_an_attack_is_a_run_a_level() -> None:
    p = Params(contamination="fgsm", layer=0, head=1, iterations=2)
    the_cells_are_pictures(sample_source(), p, [(10, 3)])


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_deleted_words_are_left_out_of_the_comparison(family: str, tmp_path: Path) -> None:
    FAMILIES[family].make().save_pretrained(tmp_path)
    text = Input(text="11 12 13 14 15 16 17 18 19 20")
    p = Params(contamination="delete", layer=1, iterations=2, input=text, lam=None)
    the_cells_are_pictures(open_huggingface(tmp_path), p, [(10, 9), (4, 4)])


def test_it_comes_level_by_level_and_stops() -> None:
    p = Params(contamination="blur", layer=0)
    first, second = islice(input_phase_maps(sample_source(), p), 2)
    assert first.done == LAMS and second.done == 2 * LAMS
    assert first.wanted == LAMS * LEVELS, "nothing is drawn for a blur: one seed"
    asked = []

    def should_stop() -> bool:
        asked.append(True)
        return len(asked) > 3

    with pytest.raises(Stopped):
        list(input_phase_maps(sample_source(), p, should_stop))


def test_what_cannot_be_done_to_the_input_is_said() -> None:
    with pytest.raises(GramscopeError, match="Choose another kind"):
        next(input_phase_maps(SyntheticSource(), Params(contamination="blur")))
