"""Phrases above a plot are never cut, however narrow it is."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetricsF, QPen

from explorer.ui.theme import AXIS_PX, font
from explorer.views.strip import LINE, Part, Strip

SAID = (Part("pinned: digits, softmax · layer 2 head 0 · sparse 8 %", line=QPen()), Part("tokens differ"))


@pytest.mark.parametrize("width", [110.0, 160.0, 240.0, 900.0])
def test_a_long_phrase_breaks_between_words_and_keeps_them_all(qapp, width):
    strip = Strip()
    strip.say(*SAID)
    strip.resize(width, LINE)
    metrics = QFontMetricsF(font(AXIS_PX))
    for part in SAID:
        assert " ".join(run.text for run in strip.runs if run.part == part) == part.text
    for run in strip.runs:
        right = run.place.x() + run.part.sample_width + metrics.horizontalAdvance(run.text)
        assert right <= width + 0.5 or " " not in run.text
    assert [run.first for run in strip.runs].count(True) == len(SAID)
    lines = {run.place.y() for run in strip.runs}
    assert strip.minimumHeight() == LINE * len(lines) == max(lines) + LINE
