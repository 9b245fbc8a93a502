from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.params import Params
from explorer.views.response_plot import level_in_words
from explorer.views.words import figure, full_name, percent, powers, short_names, subscript, superscript
from tests.views import factory


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.123"),
        (-0.5, "−0.5"),
        (0.0, "0"),
        (1234.6, "1235"),
        (99_999.6, "1.00 × 10⁵"),
        (0.9999, "1"),
        (0.0005, "5.00 × 10⁻⁴"),
        (0.000012345, "1.23 × 10⁻⁵"),
        (-2.5e300, "−2.50 × 10³⁰⁰"),
        (5e-324, "4.94 × 10⁻³²⁴"),
        (math.nan, "—"),
        (math.inf, "—"),
    ],
)
def test_figure(value, text):
    assert figure(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.62, "62 %"), (0.0934, "9.3 %"), (0.001, "0.1 %"), (0.0, "0 %"), (1.0, "100 %"), (math.nan, "—")],
)
def test_percent(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.03, "3.0 %"),
        (0.011, "1.1 %"),
        (0.0999, "10 %"),
        (0.0005, "0.050 %"),
        (0.1, "10 %"),
        (0.0, "0 %"),
        (1e-7, "1.0 × 10⁻⁵ %"),
    ],
)
def test_percent_beside_others(share, text):
    assert percent(share, zeros=True) == text


def test_indices():
    assert subscript(12) == "₁₂"
    assert superscript(-3) == "⁻³"


def test_powers_are_raised():
    assert powers("in units of 10^-4, K^2") == "in units of 10⁻⁴, K²"
    assert powers("10^-3.4 and xᵀ") == "10^-3.4 and xᵀ"


def test_names_of_tokens():
    result = replace(factory.text(), contaminated=np.arange(14) == 3)
    assert short_names(result)[:5] == ["[CLS]", "the", "quick", "brown", "·ing"]
    assert full_name(result, 3) == "‘brown’ (3), contaminated"
    assert full_name(factory.digits(level=0.0), 10) == "patch 1,1 (10)"
    assert full_name(replace(result, tokens=()), 2) == "token 2"
    assert short_names(replace(result, tokens=()))[2] == "2"


def test_a_level_that_was_set_keeps_three_digits():
    sparse, noise = Params(contamination="sparse"), Params(contamination="gaussian")
    assert level_in_words(0.125, sparse) == "12 %" and level_in_words(0.125, sparse, 3) == "12.5 %"
    assert level_in_words(0.1, sparse, 3) == "10 %" and level_in_words(1.25, noise, 3) == "1.25 deviations"
