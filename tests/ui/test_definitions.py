"""Every panel has a page of help, whole."""

from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtWidgets import QTextBrowser
from pytestqt.qtbot import QtBot

from explorer.ui.pages import ALL, definition_page
from explorer.views.picture import Picture
from tests.ui.desk import sit_down


def named(kind: type[Picture]) -> set[type[Picture]]:
    """Return the panels under a class: those that have a name of their own."""
    below = {found for child in kind.__subclasses__() for found in named(child)}
    own = kind.__module__.startswith("explorer.") and "name" in vars(kind)
    return below | ({kind} if own else set())


def test_every_panel_of_every_page_has_a_definition_under_its_title(qtbot: QtBot) -> None:
    with sit_down(qtbot) as window:
        for place in range(window.pages.count):
            window.pages.page(place)
        shown = {type(view) for view in window.views}
        topics = window.workbench.help.topics
        listed = [topics.item(i).text() for i in range(topics.count())]
    assert {kind for kind in named(Picture) if kind.name != "figure"} >= shown
    assert {kind.name: kind.title for kind in shown} == {kind.name: ALL[kind.name].title for kind in shown}
    assert {kind.name for kind in named(Picture)} <= set(ALL)
    assert not [title for title, count in Counter(listed).items() if count > 1]
    assert {definition.title for definition in ALL.values()} <= set(listed)


@pytest.mark.parametrize("name", ALL)
def test_a_definition_is_whole(name: str) -> None:
    definition = ALL[name]
    for part in (
        definition.what,
        definition.formulas,
        definition.read,
        definition.misread,
        definition.sources,
    ):
        assert part
    assert not [text for text in definition.formulas if "'s" in text], "the s would be a variable"
    for text in (definition.what, *definition.read, *definition.misread):
        assert text.count("$") % 2 == 0 and text.endswith((".", "?"))


@pytest.mark.parametrize("name", ALL)
def test_a_page_is_set_without_marks_left(name: str, qtbot: QtBot) -> None:
    page = QTextBrowser()
    qtbot.addWidget(page)
    page.setHtml(definition_page(ALL[name]))
    text = page.toPlainText()
    for part in ("How to read it", "How not to read it", "Sources:"):
        assert part in text
    assert not set("${}_^") & set(text.replace("e_softmax", "").replace("e_RPC", "")), text
