"""Formulas become rich text that Qt draws, and nothing else gets through."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication

from explorer.ui.formula import formula, prose


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("x", "<i>x</i>"),
        ("softmax(x)", "softmax(<i>x</i>)"),
        ("a_j", "<i>a</i><sub><i>j</i></sub>"),
        ("a_{jd}", "<i>a</i><sub><i>jd</i></sub>"),
        ("h_{clean}", "<i>h</i><sub>clean</sub>"),
        ("a_{j d}", "<i>a</i><sub><i>j</i> <i>d</i></sub>"),
        ("V^*_j", "<i>V</i><sup>*</sup><sub><i>j</i></sub>"),
        ("K̃ a_d", "<i>K̃</i> <i>a</i><sub><i>d</i></sub>"),
        ("q′_1", "<i>q</i>′<sub>1</sub>"),
        ("Σ_j γ_j", "Σ<sub><i>j</i></sub> <i>γ</i><sub><i>j</i></sub>"),
        ("x < 2 & y", "<i>x</i> &lt; 2 &amp; <i>y</i>"),
        ("k_{i}(<b>)", "<i>k</i><sub><i>i</i></sub>(&lt;<i>b</i>&gt;)"),
        ("_", "_"),
    ],
)
def test_setting(text: str, html: str) -> None:
    assert formula(text) == html


def test_prose_sets_only_what_is_marked() -> None:
    assert prose("a token <i> of $k_j$") == "a token &lt;i&gt; of <i>k</i><sub><i>j</i></sub>"


def test_qt_reads_it(qapp: QApplication) -> None:
    document = QTextDocument()
    document.setHtml(formula("V^*_{jd} = (a_{jd} − mean_j a_{jd})/g(k_j)"))
    assert document.toPlainText() == "V*jd = (ajd − meanj ajd)/g(kj)"
