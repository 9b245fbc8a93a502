from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.views.eigenvectors import Patches, Stems
from explorer.views.spectrum import SpectrumView
from tests.views import factory
from tests.views.pointer import at, click


def test_points_are_the_eigenvalues(shown):
    result = factory.text()
    view = shown(SpectrumView, result)
    d, values = view.plot.clean.getData()
    assert d.tolist() == list(range(1, 14))
    assert np.array_equal(values, result.clean.log10_values)
    assert np.array_equal(view.plot.moved.getData()[1], result.moved.log10_values)


def test_says_rank_and_share_in_words(shown):
    result = factory.text()
    view = shown(SpectrumView, result)
    share = 100 * result.clean.share[:3].sum()
    assert f"rank 13; 3 components: {share:.0f} % of the variance" in view._strip.text
    view.state.show(replace(result, clean=replace(result.clean, rank=None)))
    assert "rank" not in view._strip.text


def test_vectors_that_are_not_identifiable_are_crossed_and_said(shown):
    result = factory.text()
    view = shown(SpectrumView, result)
    assert view.plot.unsure.getData()[0].tolist() == [3.0]
    assert "not identifiable" in view._strip.text
    sure = replace(result.clean, identifiable=np.ones(8, bool))
    view.state.show(replace(result, clean=sure))
    assert not len(view.plot.unsure.data)
    assert "identifiable" not in view._strip.text


def test_tolerance_is_a_line_where_it_is_near_and_words_where_it_is_far(shown):
    near = replace(factory.text().clean, log10_tolerance=-2.2)
    view = shown(SpectrumView, replace(factory.text(), clean=near))
    assert view.plot.tolerance.isVisible()
    assert view.plot.tolerance.value() == -2.2
    assert view.plot.home[1][0] < -2.2
    view.state.show(factory.text())
    assert not view.plot.tolerance.isVisible()
    assert "tolerance 10⁻¹³" in view._strip.text


def test_contaminated_keys_have_a_tolerance_of_their_own(shown):
    made = factory.text()
    clean, moved = replace(made.clean, log10_tolerance=-2.2), replace(made.moved, log10_tolerance=-2.4)
    view = shown(SpectrumView, replace(made, clean=clean, moved=moved))
    assert view.plot.moved_tolerance.value() == -2.4
    assert "tolerance, contaminated" in view._strip.text
    view.state.show(replace(factory.text(level=0.0), clean=clean, moved=clean))
    assert not view.plot.moved_tolerance.isVisible()


def test_stems_are_the_eigenvector(shown):
    result = factory.text()
    view = shown(SpectrumView, result)
    (stems,) = view._shown
    assert isinstance(stems, Stems)
    x, y = stems._clean.getData()
    assert np.allclose(y[1::2], result.clean.vectors[:, 0])
    assert not y[::2].any()
    assert np.array_equal(x[::2], x[1::2])


def test_image_shows_the_eigenvector_on_its_grid(shown):
    result = factory.digits()
    view = shown(SpectrumView, result)
    (patches,) = view._shown
    assert isinstance(patches, Patches)
    image = patches._pictures[0].image
    assert image.shape == (8, 8)
    assert np.allclose(image.ravel(), result.clean.vectors[1:, 0], atol=1e-6)


def test_an_image_of_which_patches_are_missing_is_drawn_as_stems(shown):
    result = factory.digits()
    part = replace(factory.text(14), tokens=result.tokens[:14], positions=np.arange(14), grid=(8, 8))
    view = shown(SpectrumView, part)
    assert all(isinstance(plot, Stems) for plot in view._shown)


def test_hover_reads_eigenvalue_and_entry(shown):
    result = factory.text()
    view = shown(SpectrumView, result)
    reading = view.reading_at(at(view.plot, 2, result.clean.log10_values[1]))
    assert reading.startswith(f"log₁₀ γ₂ = {result.clean.log10_values[1]:.2f}, contaminated")
    assert "of the variance" in reading
    entry = view.reading_at(at(view._shown[0], 3, 0))
    assert entry.startswith("a₁ of ‘brown’ (3): ")


@pytest.mark.parametrize("make", [factory.text, factory.digits])
def test_click_in_an_eigenvector_selects_the_token(make, shown):
    view = shown(SpectrumView, make())
    plot = view._shown[0]
    click(view, at(plot, 3, 0) if isinstance(plot, Stems) else at(plot, 2.5, 0.5))
    assert view.state.selection == {3}


def test_chooser_shows_three_at_most_and_tells(shown, qtbot, settle_paint):
    view = shown(SpectrumView, factory.text())
    entries = view._chooser.entries
    assert [entry.text() for entry in entries[:2]] == ["a₁", "a₂"]
    with qtbot.waitSignal(view.option_changed) as told:
        entries[1].trigger()
    assert told.args == [{"eigenvectors": [0, 1]}]
    entries[2].trigger()
    entries[4].trigger()
    assert view.options() == {"eigenvectors": [1, 2, 4]}
    assert [entry.isChecked() for entry in entries[:5]] == [False, True, True, False, True]
    settle_paint()
    assert len(view._shown) == 3
    assert len(view.plot_items) == 4
    view.set_options({"eigenvectors": [0]})
    assert len(view._shown) == 1
    assert view.canvas.ci.layout.count() == 3


def test_no_eigenvector_chosen_leaves_the_spectrum(shown, settle_paint):
    view = shown(SpectrumView, factory.text())
    view._chooser.entries[0].trigger()
    settle_paint()
    assert view._shown == []
    assert view.plot.vb.height() > 200


def test_table_holds_values_and_vectors(shown):
    result = factory.text()
    names, columns = shown(SpectrumView, result).table()
    table = dict(zip(names, columns, strict=True))
    assert np.array_equal(table["log10 gamma, clean"][:13], result.clean.log10_values)
    assert np.isnan(table["log10 gamma, clean"][13])
    assert table["d"] == [*map(str, range(1, 14)), ""]
    assert np.array_equal(table["a2, contaminated"], result.moved.vectors[:, 1])
    assert table["identifiable, clean"][2] == "False"
