"""The evidence page, used as a person does: controls that respond, heads, series, inputs, the report."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from html import escape
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from explorer.app import build
from explorer.models.recipes import Recipe
from explorer.report.expected import Expected
from explorer.ui import export
from explorer.ui.controls import Controls
from explorer.ui.evidence import EvidencePage
from explorer.ui.evidence_verdict import SENTENCE_END
from explorer.ui.window import MainWindow
from tests.ui.desk import sentences, settle, sit_down
from tests.views.pointer import at, click

SUPPORT = "closer to the column space of V*"


def show_evidence(window: MainWindow) -> EvidencePage:
    titles = [window.pages.row.tabText(place) for place in range(window.pages.count)]
    place = titles.index("Evidence")
    page = window.pages.page(place)
    assert isinstance(page, EvidencePage)
    page.fields.cheap.setValue(60)
    page.fields.costly.setValue(2)
    window.pages.show_page(place)
    settle()
    if page.findings is not None and page.findings.waits:
        measure(page)
    return page


def measure(page: EvidencePage) -> None:
    """Ask for what is missing, however long it takes."""
    page.fields.again.click()
    settle()


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot, Recipe(values="controls", tokens=32, dim=6)) as window:
        yield window


def open_control(window: MainWindow, text: str) -> EvidencePage:
    window.menus.actions[text].trigger()
    settle()
    small = {"tokens": 64, "dim": 8}
    window.open_recipe(Recipe(values=window.state.source.recipe.values, **small))
    page = show_evidence(window)
    measure(page)
    return page


def test_values_that_are_v_star_are_found_and_gaussian_ones_are_not(window: MainWindow) -> None:
    page = open_control(window, "V = V* exactly")
    assert page.findings is not None and page.findings.complete
    assert np.allclose(page.findings.measure("overlap"), 1.0)
    assert SUPPORT in page.findings.sentences[-1]
    assert "Column-space overlap 1.000" in page.verdict.text()
    page = open_control(window, "V Gaussian")
    assert page.findings is not None and page.findings.complete
    assert np.nanmax(page.findings.measure("overlap")) < 0.5
    assert SUPPORT not in page.verdict.text()
    assert "No evidence" in page.findings.sentences[-1]


def test_v_star_plus_noise_falls_with_the_noise_that_is_chosen(window: MainWindow) -> None:
    page = open_control(window, "V = V* plus noise")
    noise = window.findChildren(Controls)[0].recipe.fields["value_noise"]
    overlaps, cosines = [], []
    for size in (0.1, 0.5, 2.0):
        noise.setValue(size)
        settle()
        assert window.state.source.recipe.value_noise == size
        measure(page)
        overlaps.append(float(page.findings.measure("overlap").mean()))
        cosines.append(float(page.findings.measure("cosine_axes").mean()))
    assert 1 > overlaps[0] > overlaps[1] > overlaps[2] > 0
    assert 1 > cosines[0] > cosines[1] > cosines[2] > 0


def test_the_verdict_begins_with_what_the_numbers_allow_and_lists_them(window: MainWindow) -> None:
    page = show_evidence(window)
    text = page.verdict.text()
    *parts, conclusion = page.findings.sentences
    heads = len(page.findings.whole.heads())
    assert text.index(f"All {heads} heads.") < text.index(escape(conclusion)) < text.index(escape(parts[0]))
    own = page.findings.verdict_of(0, 0)
    right = text[text.index("Layer 0, head 0.") :]
    for sentence in SENTENCE_END.split(own):
        assert escape(sentence) in right
    assert right.index("These values") < right.index("Column-space overlap")
    assert not window.truth.isVisible()


def test_too_few_draws_are_said_in_the_window(window: MainWindow) -> None:
    page = show_evidence(window)
    page.fields.cheap.setValue(8)
    measure(page)
    assert "8 draws do not suffice" in page.verdict.text()


def test_a_click_in_the_map_chooses_a_head_and_a_double_click_opens_it(
    window: MainWindow, qtbot: QtBot
) -> None:
    page = show_evidence(window)
    page.map.resize(500, 300)
    settle()
    point = at(page.map.plot, 3.5, 1.5)
    assert page.map.cell_at(point) == (1, 3)
    click(page.map, point)
    settle()
    assert (window.state.params.layer, window.state.params.head) == (1, 3)
    assert page.map.place == page.gamma.place == (1, 3)
    assert page.pair.result is not None and (page.pair.result.layer, page.pair.result.head) == (1, 3)
    assert "Layer 1, head 3." in page.verdict.text()
    page.map.head_opened.emit(2, 0)
    assert window.pages.place == 0
    assert window.state.params.layer == 2


def test_v_star_exactly_lies_on_v_star(window: MainWindow) -> None:
    page = show_evidence(window)
    window.state.update(layer=0, head=0)
    settle()
    learned, star = page.pair.result.beside("scale", "axes")
    assert np.allclose(learned, star, atol=1e-9)
    window.state.update(head=1)
    settle()
    learned, star = page.pair.result.beside("procrustes", "axes")
    assert np.allclose(learned, star, atol=1e-9)
    learned, star = page.pair.result.beside("signs", "axes")
    assert not np.allclose(learned, star, atol=0.1)


def test_a_z_map_is_drawn_against_the_chosen_null_and_read(window: MainWindow) -> None:
    page = show_evidence(window)
    page.map.set_options({"measure": "overlap", "shown": "projection"})
    z = page.map.values(page.findings)
    assert z[0, 0] > 5 and np.isfinite(z).all()
    reading = page.map.reading_at(at(page.map.plot, 0.5, 0.5))
    assert "z = " in reading and "random projection" in reading


def test_nulls_that_are_not_asked_for_are_not_drawn(window: MainWindow) -> None:
    page = show_evidence(window)
    for key in ("gaussian", "rotation"):
        page.fields.nulls[key].setChecked(False)
    measure(page)
    assert page.findings.whole.nulls() == ["permutation", "projection"]
    page.fields.families["gamma"].setChecked(False)
    measure(page)
    assert not page.findings.draws["permutation"]["gamma_relative"]
    assert page.findings.draws["permutation"]["kernel_cka_unit"] == 2


@pytest.mark.parametrize("kind", ["png", "svg", "pdf", "csv", "json"])
def test_every_panel_is_exported(window: MainWindow, kind: export.Format) -> None:
    page = show_evidence(window)
    page.fields.inputs.setValue(2)
    measure(page)
    for view in [*page.pictures, page.pair]:
        if view is not page.series:
            assert len(export.export_bytes([view], kind)) > 200


def test_going_back_computes_nothing_again(window: MainWindow) -> None:
    page = show_evidence(window)
    before = dict(page._kept)
    assert len(before) == 5
    window.pages.show_page(0)
    show_evidence(window)
    settle()
    assert page.findings.complete
    assert all(page._kept[key] is record for key, record in before.items())


def test_one_null_more_or_less_draws_no_other_again(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    from explorer.report import collect

    page = show_evidence(window)
    before = page.findings.score("permutation", "overlap", "z")
    drawn: list[str] = []
    draw = collect._draw

    def counted(null: str, *rest: object) -> object:
        drawn.append(null)
        return draw(null, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(collect, "_draw", counted)
    monkeypatch.setattr("explorer.evidence.estimate", lambda *_: Expected(1.0, 1.0))
    page.fields.nulls["gaussian"].click()
    measure(page)
    assert page.findings.complete and "gaussian" not in page.findings.whole.nulls() and not drawn
    page.fields.nulls["gaussian"].click()
    page.fields.seed.setValue(5)
    measure(page)
    assert len(drawn) == 5 * 4
    page.fields.seed.setValue(0)
    measure(page)
    assert len(drawn) == 5 * 4 and "gaussian" in page.findings.whole.nulls()
    np.testing.assert_array_equal(page.findings.score("permutation", "overlap", "z"), before)


def test_the_report_holds_what_the_page_measured(window: MainWindow, tmp_path: Path) -> None:
    page = show_evidence(window)
    page.write_report(tmp_path / "out")
    settle()
    document = json.loads((tmp_path / "out" / "report.json").read_text())
    assert document["verdict"] == " ".join(page.findings.sentences)
    assert any("report is in" in sentence for sentence in sentences(window))
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000


def test_cancel_keeps_what_is_measured_and_measure_goes_on_from_there(qtbot: QtBot) -> None:
    window = build()
    window.show()
    window.open_recipe(Recipe(values="controls", tokens=48, dim=8))
    qtbot.waitUntil(lambda: window.state.result is not None, timeout=60_000)
    page = show_evidence(window)
    qtbot.waitUntil(lambda: page.findings is not None and page.findings.done > 0, timeout=60_000)
    page._progress.cancel.click()
    kept = dict(page._kept)
    done = page.findings.done
    assert kept and page.fields.again.isEnabled() and page._progress.isHidden()
    if done < 5:
        assert "So far" in page.verdict.text()
    page.fields.again.click()
    qtbot.waitUntil(lambda: page.findings.complete, timeout=60_000)
    assert all(page._kept[key] is record for key, record in kept.items())
    window.close()
    window.deleteLater()


@pytest.mark.parametrize("measures", [2.0, 20.0])
def test_a_long_measurement_says_how_long_and_waits_for_a_yes(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, measures: float
) -> None:
    monkeypatch.setattr("explorer.evidence.estimate", lambda *_: Expected(40.0, measures))
    titles = [window.pages.row.tabText(place) for place in range(window.pages.count)]
    place = titles.index("Evidence")
    page = window.pages.page(place)
    assert isinstance(page, EvidencePage)
    page.fields.cheap.setValue(20)
    page.fields.costly.setValue(0)
    window.pages.show_page(place)
    settle()
    assert page.findings is not None and page.findings.done == 0 and not page._kept
    assert len(page.findings.whole.records) == (5 if measures < 10 else 0)
    assert not page.findings.whole.records or not page.findings.whole.nulls()
    assert ("not compared with all nulls yet" in page.verdict.text()) == (measures < 10)
    assert "Measuring 5 layers takes about 40 s." in page.verdict.text()
    assert "Press Measure to begin" in page.verdict.text()
    assert page.fields.again.isEnabled()
    page.fields.again.click()
    settle()
    assert page.findings.complete and "Press Measure" not in page.verdict.text()


def test_a_short_measurement_begins_by_itself(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.evidence.estimate", lambda *_: Expected(9.0, 1.0))
    assert show_evidence(window).findings.complete


def test_an_estimate_follows_what_is_asked_for(window: MainWindow) -> None:
    from explorer import evidence
    from explorer.asked import Asked

    def seconds(asked: Asked) -> float:
        work = evidence.plan(window.state.source, window.opener.origin, window.state.params, asked)
        expected = evidence.estimate(work.desk, work.units)
        assert 0 < expected.measures < expected.all
        return expected.all

    assert 0 < seconds(Asked(cheap=20, costly=0)) < seconds(Asked(cheap=100_000, costly=1000))


def test_an_untrained_model_is_one_click_away(qtbot: QtBot) -> None:
    with sit_down(qtbot, recipe=None) as window:
        window.opener.open_sample()
        settle()
        page = show_evidence(window)
        page.fields.nulls["untrained"].click()
        page.fields.nulls["gaussian"].click()
        measure(page)
        assert "untrained" in page.findings.whole.nulls()
        assert "the same architecture untrained" in page.verdict.text()


def test_gamma_and_norms_show_what_was_measured(window: MainWindow) -> None:
    page = show_evidence(window)
    exact, noise = (page.findings.gamma_of(0, head, "learned") for head in (0, 4))
    assert np.nanmax(exact) < 1e-6 and np.nanmin(noise) > 0.3
    assert np.nanmax(page.findings.gamma("eigenvectors")) < 1e-6
    projected, phi = (page.findings.projection(f"log10_{name}") for name in ("projection", "phi"))
    assert (projected <= phi + 1e-9).all()
    names, columns = page.norms.table()
    assert names[2:4] == ["log10 phi", "log10 output"]
    np.testing.assert_allclose(columns[2][: phi.size], phi.ravel())


def test_closing_while_it_measures_leaves_no_thread(qtbot: QtBot) -> None:
    window = build()
    window.show()
    window.open_recipe(Recipe(values="controls"))
    qtbot.waitUntil(lambda: window.state.result is not None, timeout=30_000)
    titles = [window.pages.row.tabText(place) for place in range(window.pages.count)]
    window.pages.show_page(titles.index("Evidence"))
    qtbot.wait(500)
    window.close()
    window.deleteLater()
    for thread in threading.enumerate():
        if thread.name.startswith("gramscope-"):
            thread.join(30.0)
            assert not thread.is_alive(), "it stops at the end of what it is computing"
