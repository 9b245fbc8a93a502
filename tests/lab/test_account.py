from __future__ import annotations

import pytest

from explorer.lab.account import account, number
from explorer.lab.setting import Data, Setting
from explorer.lab.trainer import train


def told(**changes):
    return account(train(Setting(batch=8).but(**changes), 1).snapshot())


def test_the_formula_has_its_numbers():
    found = told()
    assert found.formulas[0] == "T(X)_l = Σ_{k=1}^{64} softmax_k(0.25 X_l·m m·X_k) X_k"
    assert "13 − 4 = 9" in found.formulas[1]
    assert "1.111, ρ = σ_{min}/σ_1 = 0.25" in found.formulas[2]
    assert told(kind="linear", length=32).formulas[0].startswith("T(X)_l = 1/32 Σ_{k=1}^{32} (0.25 X_l")
    assert told(length=None).formulas[0].startswith("T(x) = 0.25 Σ m m^T x")
    for rank, terms in (
        (1, "(m_1 m_1^T)"),
        (2, "(m_1 m_1^T + m_2 m_2^T)"),
        (4, "(m_1 m_1^T + … + m_4 m_4^T)"),
    ):
        assert terms in told(length=None, structure="heads", rank=rank).formulas[0]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"coupling": 1.2}, "past the transition"),
        ({"data": Data("per-prompt")}, "choose a free W"),
        ({"data": Data("flat")}, "are equal"),
        ({"data": Data(d=3), "structure": "frame", "rank": 3}, "spans the whole space"),
        ({"data": Data("drawn", spectrum=(2, 1, 0))}, "singular (rank 2 of 3)"),
        ({"data": Data("drawn", spectrum=(3, 3, 1))}, "no direction leads"),
        ({"data": Data("drawn", spectrum=(3, 2, 2, 1)), "structure": "frame", "rank": 2}, "no 2 directions"),
        ({"length": None, "contamination": "sparse"}, "Choose a finite"),
        ({"data": Data("wishart", degrees=20)}, "tilts away"),
    ],
)
def test_what_trips_people_up_is_told(changes, says):
    assert any(says in warning for warning in told(**changes).warnings)


def test_nothing_is_warned_of_where_nothing_is_wrong():
    assert told().warnings == ()
    assert told(coupling=1.2, learn_coupling=True).warnings == ()
    assert told(coupling=1.2, structure="free").warnings == ()


def test_nothing_is_called_proved_of_contaminated_prompts():
    assert told(contamination="sparse").proved.startswith("nothing")
    assert "clean: tr Σ" in told(contamination="sparse").formulas[1]


@pytest.mark.parametrize(
    "data", [Data("flat"), Data("drawn", spectrum=(3, 3, 1)), Data("wishart", theta=0.0)]
)
def test_no_transition_is_told_where_no_direction_leads(data):
    found = told(data=data)
    assert not [line for line in found.formulas if "u_1 is the minimum" in line]
    assert not [warning for warning in found.warnings if "transition" in warning]


def test_what_is_proved_of_singular_covariances_and_of_tables():
    assert "pseudo-inverse" in told(structure="free", data=Data("drawn", spectrum=(2, 1, 0))).proved
    assert "W = Σ^{-1}" in told(structure="free").proved
    assert "linear head" in told(data=Data("rows")).proved


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.25, "0.25"), (-3, "−3"), (5.96e-8, "5.96 × 10^{−8}"), (1.248e6, "1.248 × 10^{6}"), (0.0, "0")],
)
def test_numbers_are_written_as_formulas_are(value, text):
    assert number(value) == text
