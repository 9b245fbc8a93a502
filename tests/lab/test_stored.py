"""A setting comes back from JSON as it was, and what the page could not set is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from explorer.errors import GramscopeError
from explorer.lab import stored
from explorer.lab.setting import Data, Setting


@pytest.mark.parametrize(
    "setting",
    [
        Setting(),
        Setting(kind="linear", length=None, data=Data("drawn", spectrum=(4.0, 2.0)), coupling=0.5),
        Setting(structure="free", data=Data("per-prompt", degrees=20), contamination="tokens", clean=True),
    ],
)
def test_a_setting_comes_back(setting: Setting) -> None:
    assert stored.read(json.loads(json.dumps(stored.write(setting)))) == setting


def test_what_is_left_out_takes_its_default() -> None:
    assert stored.read({}) == Setting()


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (3, "group of fields"),
        ({"data": 3}, "laboratory.data"),
        ({"data": {"d": 10**6}}, "laboratory.data.d"),
        ({"batch": 0}, "laboratory.batch"),
        ({"data": {"spectrum": [1.0] * 600}}, "600 eigenvalues"),
        ({"kind": "cubic"}, "laboratory.kind"),
        ({"colour": 1}, "does not know"),
    ],
)
def test_what_the_page_could_not_set_is_refused(value: Any, sentence: str) -> None:
    with pytest.raises(GramscopeError, match=sentence):
        stored.read(value)
