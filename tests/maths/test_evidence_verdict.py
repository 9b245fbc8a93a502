from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.maths.evidence_scores import Score, Spread, score, spread_over_heads
from explorer.maths.evidence_verdict import (
    number,
    plus_minus,
    sentences_on_heads,
    verdict_on_head,
    verdict_on_heads,
)

ABOVE = Score(value=0.49, mean=0.36, std=0.02, z=6.5, p=1 / 201, p_below=1.0, draws=200)
LEVEL = Score(value=0.49, mean=0.485, std=0.01, z=0.5, p=0.3, p_below=0.7, draws=200)
BELOW = Score(value=0.49, mean=0.56, std=0.01, z=-7.0, p=1.0, p_below=1 / 201, draws=200)
MEASURES = {
    "overlap": 0.49,
    "linear_cka_unit": 0.2,
    "linear_cka_axes": 0.08,
    "cosine_unit": -0.02,
    "cosine_axes": 0.01,
    "gamma_relative": 0.9,
}
SPREAD = Spread(72, 4.1, 3.6, 44, 0, 46, 0, 1 / 201, 200)
NO_SPREAD = Spread(72, 0.05, 2.4, 8, 6, 6, 5, 1 / 201, 200)
UNDER = Spread(72, -5.0, 2.4, 0, 50, 0, 52, 1 / 201, 200)
SUPPORT = "closer to the column space of V*"
ANY_MAP = "no evidence that the learned value matrix makes them V*"
NO_RELATION = "no evidence in this overlap of a relation between the tokens' values and the keys' spectrum"
NOTHING = "No evidence in this overlap that"
AVOIDS = "less than a random linear map of the same tokens: no evidence in this overlap that they"
FARTHER = "farther from the column space of V* than those of shuffled tokens"


def on_head(permutation: Score, projection: Score | None) -> str:
    scores = {"permutation": {"overlap": permutation}}
    if projection:
        scores["projection"] = {"overlap": projection}
    missing = {} if projection else {"projection": "the source gives no layer input"}
    return verdict_on_head(MEASURES, scores, missing)


@pytest.mark.parametrize(
    ("permutation", "projection", "says"),
    [
        (ABOVE, ABOVE, SUPPORT),
        (ABOVE, LEVEL, ANY_MAP),
        (ABOVE, BELOW, ANY_MAP),
        (LEVEL, ABOVE, NO_RELATION),
        (LEVEL, LEVEL, NOTHING),
        (LEVEL, BELOW, AVOIDS),
        (BELOW, BELOW, FARTHER),
        (BELOW, ABOVE, FARTHER),
    ],
)
def test_each_quadrant_says_its_own_and_no_other(permutation: Score, projection: Score, says: str) -> None:
    text = on_head(permutation, projection)
    phrases = (SUPPORT, ANY_MAP, NO_RELATION, NOTHING, AVOIDS, FARTHER)
    assert [phrase for phrase in phrases if phrase in text] == [says]


def test_the_numbers_and_the_draws_are_cited() -> None:
    text = on_head(ABOVE, BELOW)
    assert "overlap 0.490" in text
    assert "more than shuffled tokens (0.36 ± 0.02, z = 6.50, p = 0.005)" in text
    assert "less than a random projection of the same tokens (0.56 ± 0.01, z = −7.00, p = 0.005)" in text
    assert "200 draws each, so that p is at least 0.005" in text
    assert "0.20 with unit-norm eigenvectors" in text
    assert "0.080 with unit axes" in text


def test_what_was_not_tested_is_not_claimed() -> None:
    text = on_head(ABOVE, None)
    assert "not tested: the source gives no layer input" in text
    assert SUPPORT not in text
    assert ANY_MAP not in text


def test_few_draws_tell_nothing() -> None:
    few = replace(ABOVE, p=1 / 13, draws=12)
    assert few.standing == "unknown"
    text = on_head(few, few)
    assert "not told from shuffled tokens (0.36 ± 0.02)" in text
    assert "12 draws do not suffice; at least 19 are needed" in text


@pytest.mark.parametrize(
    ("draws", "at_floor", "discoveries", "standing", "needed"),
    [
        (20, 44, 0, "unknown", 39),  # 44 of 72 at p = 1/21, while a discovery takes 69 of them
        (20, 72, 72, "above", 0),
        (60, 5, 0, "unknown", 287),  # 5 at p = 1/61, while a discovery takes 24
        (60, 0, 0, "level", 0),
        (200, 44, 46, "above", 0),
    ],
)
def test_too_few_draws_over_heads_say_how_many_are_needed(
    draws: int, at_floor: int, discoveries: int, standing: str, needed: int
) -> None:
    few = Spread(72, 4.1, 3.6, 44, 0, discoveries, 0, 1 / (1 + draws), draws, at_floor)
    assert (few.standing, few.needed) == (standing, needed)
    text = verdict_on_heads({"permutation": few, "projection": few}, {})
    assert (f"{draws} draws do not suffice; at least {needed} are needed" in text) == bool(needed)
    if needed:
        assert "no evidence" not in text.lower()


def test_the_number_of_draws_named_is_the_least_that_lets_those_heads_be_found() -> None:
    heads, beyond = 72, 5
    for draws, found in ((287, beyond), (286, 0)):
        p = [1 / (1 + draws)] * beyond + [0.5] * (heads - beyond)
        z = [6.0] * beyond + [2.0] * (heads - beyond)
        assert spread_over_heads(z, p, [1 - x for x in p], draws).discoveries == found


def test_over_several_inputs_twice_the_draws_are_needed() -> None:
    heads, beyond = 30, 19
    for draws, found in ((60, 0), (63, beyond)):
        p = [2 / (1 + draws)] * beyond + [0.9] * (heads - beyond)
        z = [20.0] * beyond + [0.0] * (heads - beyond)
        spread = spread_over_heads(z, p, [1.0] * heads, draws, combined=True)
        assert (spread.discoveries, spread.standing) == (found, "above" if found else "unknown")
        assert spread.needed == (0 if found else 79)


def test_what_few_draws_could_not_find_is_said() -> None:
    few = Spread(72, 0.1, 2.4, 3, 3, 0, 0, 1 / 61, 60)
    assert "60 draws find only 24 heads or more together" in verdict_on_heads({"permutation": few}, {})
    none = Spread(72, 0.1, 2.4, 3, 3, 0, 0, 1 / 11, 10)
    assert "10 draws can find none" in verdict_on_heads({"permutation": none}, {})


def test_a_side_on_which_draws_found_nobody_says_how_many_they_could_have_found() -> None:
    one_sided = replace(SPREAD, at_floor=44, at_floor_below=2)
    text = verdict_on_heads({"permutation": one_sided}, {})
    assert "46 above and 0 below (200 draws find only 8 heads or more together, above or below)" in text
    nobody = replace(one_sided, at_floor_below=0)
    assert "46 above and 0 below." in verdict_on_heads({"permutation": nobody}, {})


def test_what_other_measures_see_is_not_kept_back() -> None:
    seen = {"overlap": LEVEL, "kernel_cka_unit": ABOVE, "kernel_cka_axes": replace(ABOVE, z=7.5)}
    scores = {"permutation": seen, "projection": {"overlap": LEVEL, "cosine_unit": LEVEL}}
    text = verdict_on_head(MEASURES, scores, {})
    assert "No evidence in this overlap" in text
    assert (
        "By other measures these values are closer to V* than shuffled tokens (1 of 1: kernel CKA, unit ax"
        in text
    )
    assert "kernel CKA, unit axes, z = 7.50)." in text
    agreed = {"permutation": seen | {"overlap": ABOVE}}
    assert "other measures" not in verdict_on_head(MEASURES, agreed, {})
    others = {"projection": {"linear_cka_unit": SPREAD, "gamma_angle": NO_SPREAD}}
    overlap = {"permutation": SPREAD, "projection": NO_SPREAD}
    assert verdict_on_heads(overlap, {}).count("other measures") == 0
    assert sentences_on_heads(overlap, {}, others)[-1].endswith(
        "By other measures they are on average closer to V* than a random projection of the same tokens "
        "(1 of 2: linear CKA, unit-norm eigenvectors, mean z = 4.10)."
    )


def test_a_map_with_the_learned_singular_values_is_not_passed_over() -> None:
    scores = {"permutation": ABOVE, "projection": ABOVE, "rotation": LEVEL}
    text = verdict_on_head(MEASURES, {null: {"overlap": score} for null, score in scores.items()}, {})
    assert f"{SUPPORT} than those of shuffled tokens and than a random linear map of the same tokens" in text
    assert "though not clearly than one with the learned singular values" in text
    assert "though not clearly" not in on_head(ABOVE, ABOVE)


def test_one_draw_in_twenty_is_no_finding() -> None:
    lucky = replace(ABOVE, z=1.9, p=0.02)
    assert lucky.standing == "level"
    assert "no more than shuffled tokens" in on_head(lucky, LEVEL)
    assert "not clearly more than shuffled tokens" in on_head(replace(lucky, z=2.5), LEVEL)


def test_what_is_nearly_a_finding_is_not_called_none() -> None:
    leaning = replace(ABOVE, z=2.8, p=0.01)
    assert "No clear evidence in this overlap that these values" in on_head(leaning, LEVEL)
    assert "No clear evidence in this overlap of a relation" in on_head(leaning, None)
    text = on_head(leaning, ABOVE)
    assert "yet not clearly more than shuffled tokens: no clear evidence in this" in text
    text = on_head(ABOVE, leaning)
    assert "but not clearly more than a random linear map" in text and "no clear evidence that" in text
    heads = replace(SPREAD, discoveries=0)
    assert "No clear evidence in this overlap that on average" in verdict_on_heads(
        {"permutation": heads, "projection": heads}, {}
    )


def test_values_without_an_overlap_are_said_to_have_none() -> None:
    text = verdict_on_head(MEASURES | {"overlap": math.nan}, {"permutation": {"overlap": ABOVE}}, {})
    assert "the same for every token" in text and "nan" not in text


def test_values_that_fill_the_space_as_all_do_are_no_evidence_either_way() -> None:
    observed, draws = np.ones(3), np.ones((3, 200)) + 1e-15
    scores = score(observed, draws, +1)
    assert scores.of(0).constant and scores.of(0).standing == "unknown"
    heads = spread_over_heads(scores.z, scores.p, scores.p_below, 200)
    assert heads.constant and heads.standing == "unknown"
    for text in (
        verdict_on_heads({"permutation": heads, "projection": heads}, {}),
        verdict_on_head(MEASURES, {"permutation": {"overlap": scores.of(0)}}, {}),
    ):
        assert "every draw gives the same figure" in text and "longer input" in text
        assert "No evidence" not in text


def test_an_undefined_score_is_unknown() -> None:
    assert replace(ABOVE, z=math.nan).standing == "unknown"
    assert replace(ABOVE, p=math.nan).standing == "unknown"


def test_nothing_is_said_without_nulls() -> None:
    assert "no null was drawn" in verdict_on_head(MEASURES, {}, {})
    assert "nothing can be said" in verdict_on_heads({}, {})


@pytest.mark.parametrize(
    ("permutation", "projection", "says"),
    [
        (SPREAD, SPREAD, SUPPORT),
        (SPREAD, NO_SPREAD, ANY_MAP),
        (SPREAD, UNDER, ANY_MAP),
        (NO_SPREAD, SPREAD, NO_RELATION),
        (NO_SPREAD, NO_SPREAD, NOTHING),
        (NO_SPREAD, UNDER, AVOIDS),
    ],
)
def test_each_quadrant_over_heads(permutation: Spread, projection: Spread, says: str) -> None:
    text = verdict_on_heads({"permutation": permutation, "projection": projection}, {})
    assert [phrase for phrase in (SUPPORT, ANY_MAP, NO_RELATION, NOTHING, AVOIDS) if phrase in text] == [says]


def test_the_distribution_over_heads_is_cited_and_not_only_its_mean() -> None:
    text = verdict_on_heads({"permutation": SPREAD, "projection": NO_SPREAD}, {})
    assert "mean z 4.10 over 72 heads, spread 3.60; 44 (61 %) above 3 and 0 (0 %) below −3" in text
    assert "46 above and 0 below" in text
    assert "Heads differ both ways" in text


def test_one_head_has_no_spread_and_none_has_no_z() -> None:
    alone = Spread(1, 5.0, math.nan, 1, 0, 1, 0, 1 / 201, 200)
    text = verdict_on_heads({"permutation": alone}, {})
    assert "against shuffled tokens: z 5.00 of one head." in text and "nan" not in text
    assert "one head is no distribution" in text
    none = Spread(0, math.nan, math.nan, 0, 0, 0, 0, 1 / 201, 200)
    text = verdict_on_heads({"permutation": none}, {})
    assert "z is not defined for any head" in text and "nan" not in text
    assert "one head" not in text and "1 draw each" in verdict_on_heads(
        {"permutation": replace(none, draws=1)}, {}
    )


def test_a_mean_without_a_single_discovery_is_no_finding() -> None:
    assert replace(SPREAD, discoveries=0).standing == "level"
    assert replace(SPREAD, heads=1, std_z=math.nan).standing == "unknown"
    assert UNDER.standing == "below"


def test_figures_have_the_digits_they_deserve() -> None:
    assert [number(x) for x in (0.0, 0.05, -0.5, 1.234, 12.34, 123.4, 0.0044, 1e-5)] == [
        "0.00", "0.050", "−0.50", "1.23", "12.3", "123", "0.0044", "1.0e−05",
    ]  # fmt: skip
    assert plus_minus(0.5371, 0.0081) == "0.537 ± 0.008"
    assert plus_minus(-0.5371, 0.0) == "−0.54 ± 0.00"
    assert plus_minus(-0.004, 2.3) == "0.0 ± 2.3"
    assert plus_minus(1.0, 3e-16) == "1.00 ± 0.00"
