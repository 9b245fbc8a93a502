from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.params import Params
from explorer.ui import theme
from explorer.views.outputs import Outputs, curve_name, verdict
from explorer.views.response_plot import CURVES, curve_pen
from tests.views import factory
from tests.views.pixels import count, pixels
from tests.views.pointer import at, click


def told(result, **changes):
    return "; ".join(verdict(replace(result, curves=replace(result.curves, **changes))))


def test_curves_are_the_means(shown):
    view = shown(Outputs, factory.text())
    for name, line in view.plot._lines.items():
        x, y = line.getData()
        assert np.array_equal(x, view.result.curves.levels)
        assert np.array_equal(y, view.result.curves.mean[name])


def test_present_level_is_marked_with_two_points(shown):
    result = factory.text(level=0.12)
    view = shown(Outputs, result)
    assert view.plot._level.value() == 0.12
    assert [item.getData()[0][0] for item in (view.plot._softmax_now, view.plot._rpc_now)] == [0.12, 0.12]
    assert view.plot._softmax_now.getData()[1][0] == result.errors.softmax
    assert view.plot._rpc_now.getData()[1][0] == result.errors.rpc


def test_the_legend_names_convention_and_penalty():
    result = factory.text()
    lam = f"{result.pursuit.lam:.3g}"
    assert curve_name("rpc", result) == f"RPC, {result.params.form}, λ = {lam}"
    assert curve_name("softmax", result) == "softmax"
    assert curve_name("rpc", replace(result, pursuit=None)) == "RPC"


def test_breakdown_in_words():
    result = factory.text()
    assert verdict(result) == ("▼ breakdown 22 %",)
    assert told(result, outcome="at once", breakdown=0.0) == "RPC is worse at once"
    never = {"outcome": "never", "breakdown": None}
    assert told(result, **never, crossings=()) == "RPC never becomes worse up to 50 %"
    assert told(result, **never, crossings=(0.01, 0.049)) == "no breakdown: RPC is worse only below 4.9 %"
    assert verdict(replace(result, curves=None)) == ("computing the curves",)
    growing = replace(result, final=False)
    assert told(growing, outcome="unknown", breakdown=None, seeds=2) == "curves: seed 2 of 5"
    assert told(result, outcome="unknown", breakdown=None) == "no breakdown can be named"
    assert verdict(replace(result, pursuit=None)) == ("RPC is not defined for this head",)
    noise = replace(result, params=Params(contamination="gaussian"))
    assert verdict(noise) == ("▼ breakdown 0.22 deviations",)


def test_breakdown_and_crossings_are_marked_where_the_curves_cross(shown):
    view = shown(Outputs, factory.text())
    curves = view.result.curves
    x, y = view.plot._crossings.getData()
    assert x.tolist() == [0.2243]
    assert y[0] == pytest.approx(np.interp(0.2243, curves.levels, curves.mean["softmax"]))
    assert view.plot._breakdown.getData()[0].tolist() == [0.2243]
    view.set_options({"curves": ["softmax"]})
    assert not len(view.plot._crossings.data)


def test_lines_differ_without_colour(qapp):
    looks = {(curve_pen(name).style(), curve_pen(name).widthF()) for name in CURVES}
    assert len(looks) == len(CURVES)


def test_softmax_is_blue_and_rpc_vermilion(shown):
    view = shown(Outputs, factory.text(level=0.0))
    view.set_options({"curves": ["softmax"]})
    assert count(pixels(view), theme.SOFTMAX) > 100
    only = shown(Outputs, replace(factory.text(level=0.0), pursuit=None, errors=None))
    only.set_options({"curves": ["rpc"]})
    assert count(pixels(only), theme.RPC) > 100
    assert count(pixels(only), theme.SOFTMAX) == 0


def test_growing_curves_are_drawn_as_far_as_known(shown):
    made = factory.text()
    half = {name: np.where(made.curves.levels < 0.25, v, np.nan) for name, v in made.curves.mean.items()}
    growing = replace(made.curves, mean=half, low=half, high=half, outcome="unknown", breakdown=None)
    view = shown(Outputs, replace(made, curves=growing, final=False))
    assert "curves: seed 5 of 5" in view._strip.text
    view.state.show(replace(made, curves=None, final=False))
    assert not any(line.isVisible() for line in view.plot._lines.values())
    assert len(view.plot._softmax_now.data) == 1


def test_chooser_goes_both_ways(shown, qtbot):
    view = shown(Outputs, factory.text())
    high = view.plot.home[1][1]
    with qtbot.waitSignal(view.option_changed) as changed:
        view._chooser.entries[2].trigger()
    assert changed.args == [{"curves": ["softmax", "rpc", "uniform", "clipped"]}]
    assert not view.plot._lines["rpc_to_softmax"].isVisible()
    assert "against" not in view._strip.text
    assert view.plot.home[1][1] <= high
    view.set_options({"curves": list(CURVES), "unknown": 1})
    assert view.plot._lines["rpc_to_softmax"].isVisible()
    assert all(entry.isChecked() for entry in view._chooser.entries)


def test_errors_of_tokens_and_a_click_on_one(shown):
    result = factory.text()
    view = shown(Outputs, result)
    assert np.array_equal(view._tokens._softmax.getData()[1], result.errors.softmax_by_token)
    click(view, at(view._tokens, 3, 0.1))
    assert view.state.selection == {3}
    assert view._tokens._ring.getData()[0].tolist() == [3.0, 3.0]
    reading = view.reading_at(at(view._tokens, 3, 0.1))
    assert reading == f"‘brown’ (3): softmax {result.errors.softmax_by_token[3]:.3g}, " + (
        f"RPC {result.errors.rpc_by_token[3]:.3g}"
    )


def test_residuals_clean_and_contaminated(shown):
    result = factory.text()
    view = shown(Outputs, result)
    clean, moved = view._residuals._marks
    assert np.array_equal(clean.getData()[1], result.pursuit.clean_residuals)
    assert np.array_equal(moved.getData()[1], result.pursuit.residuals)
    assert "precision 81 %" in view._pursuit_strip.text and "recall 64 %" in view._pursuit_strip.text
    reading = view.reading_at(at(view._residuals, 2, 0.2))
    assert "after iteration 2: clean 0.42" in reading
    view.state.show(factory.text(level=0.0))
    assert not len(moved.data)


def test_hover_reads_the_curves(shown):
    view = shown(Outputs, factory.text())
    reading = view.reading_at(at(view.plot, 0.11, 0.1))
    assert reading.startswith("at 10 %: softmax ")
    assert "RPC against clean softmax" in reading


def test_gaussian_level_has_its_own_unit_and_range(shown):
    view = shown(Outputs, factory.text(contamination="gaussian"))
    assert "deviation" in view.plot.getAxis("bottom").labelText
    assert view.plot.home[0][1] == pytest.approx(2.04)


def test_a_head_without_outputs_says_why(shown):
    result = replace(factory.text(), errors=None, curves=None, pursuit=None, notes=("No values here.",))
    assert shown(Outputs, result)._sentence.text() == "No values here."


def test_rpc_not_defined_still_shows_softmax(shown):
    made = factory.text()
    nan = np.full(14, np.nan)
    errors = replace(made.errors, rpc=np.nan, rpc_to_softmax=np.nan, rpc_by_token=nan)
    view = shown(Outputs, replace(made, errors=errors, pursuit=None))
    assert "RPC is not defined" in view._strip.text
    assert not len(view.plot._rpc_now.data)
    assert len(view.plot._softmax_now.data) == 1


def test_table_holds_curves_tokens_and_residuals(shown):
    result = factory.text()
    names, columns = shown(Outputs, result).table()
    table = dict(zip(names, columns, strict=True))
    assert np.array_equal(table["rpc, mean"][:11], result.curves.mean["rpc"])
    assert np.array_equal(table["softmax, error of the token"], result.errors.softmax_by_token)
    assert np.array_equal(table["residual, contaminated"][:4], result.pursuit.residuals)
    assert table["token"][0] == "[CLS]"


def test_it_says_when_moving_little_only_flatters():
    result = factory.text()
    curves = result.curves
    far = {**curves.mean, "rpc_to_softmax": curves.mean["uniform"] + 0.1}
    assert "flatters" not in told(result)
    assert "breakdown" in told(result, mean=far) and "flatters" in told(result, mean=far)
    assert "flatters" in told(result, mean=far, outcome="never", breakdown=None, crossings=())
    assert "flatters" not in told(result, mean=far, outcome="at once", breakdown=None, crossings=())
    near = far["rpc_to_softmax"].copy()
    near[3] = 0.5
    assert "flatters" not in told(result, mean={**far, "rpc_to_softmax": near})


def test_nothing_that_moves_is_no_victory():
    result = factory.text()
    still = {**result.curves.mean, **dict.fromkeys(("softmax", "rpc"), np.zeros(11))}
    words = told(result, mean=still, outcome="never", breakdown=None, crossings=())
    assert "nothing moves" in words and "never" not in words and "flatters" not in words


def test_tokens_that_nothing_hit_move_with_a_contaminated_input(shown):
    result = factory.text(level=0.3, contamination="delete")
    result = replace(result, contaminated=np.zeros(len(result.tokens), dtype=bool))
    view = shown(Outputs, result)
    np.testing.assert_array_equal(view._residuals.values[1], result.pursuit.residuals)
    assert result.is_moved and not replace(result, params=Params(level=0.3)).is_moved


def test_the_caution_is_a_phrase_of_its_own_that_is_not_cut(shown):
    result = factory.synthetic()
    far = {**result.curves.mean, "rpc_to_softmax": result.curves.mean["uniform"] + 1}
    curves = replace(result.curves, mean=far, outcome="never", breakdown=None, crossings=())
    view = shown(Outputs, replace(result, curves=curves), size=(500, 330))
    fate, caution = view._strip.parts[:2]
    assert fate.text.startswith("RPC never") and caution.text.startswith("flatters: ")
    first, second = (run.place for run in view._strip.runs[:2])
    assert second.x() == 0 and second.y() > first.y()
