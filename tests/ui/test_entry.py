"""Where contamination enters, chosen in the window: pictures move, come back, and say what was done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from explorer.models.digits import sample_source
from explorer.params import LEVEL_MAX, Params
from explorer.state import State
from explorer.ui.controls import STEPS, Controls
from explorer.ui.entry import NAMES, UNITS, EntryForm
from explorer.ui.opener import params_for
from explorer.ui.sentence import sentence
from explorer.ui.window import MainWindow
from tests.models.conftest import FAMILIES
from tests.test_analysis import same
from tests.ui.desk import SMALL, sentences, settle, sit_down


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot, None) as window:
        yield window


def choose(window: MainWindow, place: str, kind: str) -> EntryForm:
    entry = window.findChild(Controls).entry
    entry.place.setCurrentIndex(entry.place.findText(place))
    entry.kind.setCurrentIndex(entry.kind.findData(kind))
    settle()
    return entry


def drag(window: MainWindow, step: int) -> None:
    window.findChild(Controls).level.slider.setValue(step)
    settle()


def offered(window: MainWindow) -> list[str]:
    place = window.findChild(Controls).entry.place
    return [place.itemText(i) for i in range(place.count())]


def test_every_kind_has_a_name_and_a_unit() -> None:
    assert set(NAMES) == set(UNITS) == set(LEVEL_MAX)


@pytest.mark.parametrize("kind", ["salt and pepper", "blur"])
def test_the_level_up_and_back_gives_the_same_picture(window: MainWindow, kind: str) -> None:
    window.opener.open_sample()
    settle()
    choose(window, "Input", kind)
    before = window.state.result
    assert np.array_equal(before.image, before.clean_image)
    drag(window, STEPS // 2)
    moved = window.state.result
    assert moved.params.contamination == kind and moved.errors.softmax > 0
    assert not np.array_equal(moved.image, before.image) and moved.changed.any()
    assert moved.final and moved.curves.seeds == moved.curves.seeds_wanted
    drag(window, 0)
    after = window.state.result
    assert np.array_equal(after.image, before.image)
    assert same(after, before)
    assert not sentences(window)


@pytest.mark.parametrize("target", ["loss", "output"])
def test_an_attack_runs(window: MainWindow, target: str) -> None:
    window.opener.open_sample()
    settle()
    choose(window, "Gradient attack", "pgd")
    controls = window.findChild(Controls)
    controls.target.setCurrentIndex(controls.target.findData(target))
    controls.steps.setValue(2)
    drag(window, 20)
    result = window.state.result
    assert (result.params.target, result.params.steps) == (target, 2)
    away = np.abs(result.image.astype(int) - result.clean_image.astype(int)).max()
    assert 0 < away <= np.ceil(255 * result.params.level)
    assert not sentences(window)


def test_words_are_swapped_and_said(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    FAMILIES["bert"].make().save_pretrained(tmp_path / "bert")
    window.opener.open_paths([tmp_path / "bert"])
    settle()
    assert offered(window) == ["Keys of this head", "Input"]
    choose(window, "Input", "swap")
    drag(window, STEPS // 2)
    result = window.state.result
    assert 0 < result.changed.sum() <= len(result.tokens) / 4 + 1
    assert result.text != result.clean_text or not result.clean_text
    moved = [token.text for token in result.tokens]
    assert sorted(moved) == sorted(token.text for token in result.clean_tokens)
    choose(window, "Input", "delete")
    assert len(window.state.result.tokens) < len(window.state.result.clean_tokens)
    assert f"Over the {len(window.state.result.tokens)} tokens that are left" in sentence(window.state.result)
    assert not sentences(window)


def test_only_what_counts_is_shown(window: MainWindow) -> None:
    window.opener.open_sample()
    settle()
    controls = window.findChild(Controls)
    rows = {"target": controls.target, "steps": controls.steps, "magnitude": controls.magnitude,
            "seed": controls.seed, "values": controls.values}  # fmt: skip
    for place, kind, shown in (
        ("Keys of this head", "sparse", {"magnitude", "seed", "values"}),
        ("Keys of this head", "gaussian", {"seed", "values"}),
        ("Input", "blur", set()),
        ("Input", "occlusion", {"seed"}),
        ("Gradient attack", "fgsm", {"target"}),
        ("Gradient attack", "pgd", {"target", "steps", "seed"}),
    ):
        choose(window, place, kind)
        assert {name for name, widget in rows.items() if not widget.isHidden()} == shown


def test_a_source_without_a_model_offers_the_keys_alone(window: MainWindow) -> None:
    window.opener.open_sample()
    settle()
    assert offered(window) == ["Keys of this head", "Input", "Gradient attack"]
    choose(window, "Input", "blur")
    drag(window, STEPS)
    window.open_recipe(SMALL)
    settle()
    assert offered(window) == ["Keys of this head"]
    assert (window.state.params.contamination, window.state.params.level) == ("sparse", 0.5)
    assert not sentences(window)


def test_a_place_remembers_its_kind(qtbot: QtBot) -> None:
    state = State()
    entry = EntryForm(state)
    qtbot.addWidget(entry)
    source = sample_source()
    entry.offer(source)
    state.update(contamination="occlusion")
    entry.place.setCurrentIndex(entry.place.findText("Keys of this head"))
    assert state.params.contamination == "sparse"
    entry.place.setCurrentIndex(entry.place.findText("Input"))
    assert state.params.contamination == "occlusion"
    assert params_for(source, Params(contamination="swap")).contamination == "sparse"


def test_s_has_no_score_where_nobody_knows_what_is_wrong(window: MainWindow) -> None:
    window.opener.open_sample()
    settle()
    choose(window, "Input", "salt and pepper")
    drag(window, STEPS // 4)
    titles = [window.pages.row.tabText(i) for i in range(window.pages.count)]
    window.pages.show_page(titles.index("Robustness"))
    settle()
    view = window.pages.page(window.pages.place).decomposition
    said = [tile.strip.text for tile in view._tiles[0]]
    assert "how far the input moved" in said[0] and "added" not in said[0]
    assert not any("precision" in text or "recall" in text for text in said)
    choose(window, "Keys of this head", "sparse")
    assert "precision" in view._tiles[0][1].strip.text and "added" in view._tiles[0][0].strip.text


def test_s_has_no_score_where_every_entry_is_contaminated(window: MainWindow) -> None:
    window.open_recipe(SMALL)
    choose(window, "Keys of this head", "gaussian")
    drag(window, STEPS // 2)
    titles = [window.pages.row.tabText(i) for i in range(window.pages.count)]
    window.pages.show_page(titles.index("Robustness"))
    page = window.pages.page(window.pages.place)
    page._take_apart()
    settle()
    result = window.state.result
    assert result.decomposition.hit.all() and result.pursuit.precision is None
    assert "precision" not in page.decomposition._tiles[0][1].strip.text
    assert "whatever S is" in page.support._strip.text
    assert not page.support._lines["precision"].isVisible() and page.support._lines["cut"].isVisible()
    choose(window, "Keys of this head", "sparse")
    page._take_apart()
    assert page.support._lines["precision"].isVisible() and "recall" in page.support._strip.text
