"""What holds on every page: text stays text in print, controls have names and keys, tokens are marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QScrollBar,
)
from pytestqt.qtbot import QtBot

from explorer.commands.scenes import titles
from explorer.params import Params
from explorer.ui import export
from explorer.ui.exporting.figure import Figure
from explorer.ui.window import MainWindow
from explorer.views.picture import Picture
from explorer.views.strip import Strip
from tests.ui.desk import settle, sit_down
from tests.ui.printed import rasterised, run
from tests.views.pointer import at, click

PAGES = ("Explore", "Overview", "Compare", "Robustness", "Model", "Evidence", "Laboratory")
"""Those that show a picture at once; the study's own figure is tested with it."""
LARGE = Figure(400, 360, 100)


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with sit_down(qtbot, None) as window:
        window.opener.open_sample()
        window.state.set_params(Params(layer=1, head=1, level=0.1))
        settle()
        window.menus.actions["Pin as reference"].trigger()
        window.state.update(head=0)
        settle()
        yield window


def turn_to(window: MainWindow, title: str, qtbot: QtBot) -> Any:
    window.pages.show_page(titles(window).index(title))
    settle()
    page = window.pages.page(window.pages.place)
    qtbot.waitUntil(
        lambda: any(view.result is not None for view in page.findChildren(Picture)), timeout=60_000
    )
    settle()
    return page


def in_sight(page: Any) -> list[Picture]:
    return [
        view
        for view in page.findChildren(Picture)
        if view.isVisible() and not view.visibleRegion().isEmpty() and view.result is not None
    ]


def words_of(views: list[Picture]) -> set[str]:
    """Return the phrases above the plots, as far as letters and figures go."""
    strips = [item for view in views for item in view.canvas.scene().items() if isinstance(item, Strip)]
    return {
        word for strip in strips if strip.isVisible() for part in strip.parts for word in plain(part.text)
    }


def plain(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]{3,}", text)


@pytest.mark.parametrize("title", PAGES)
def test_text_stays_text_and_other_programs_draw_it(title: str, window: MainWindow, qtbot: QtBot) -> None:
    views = in_sight(turn_to(window, title, qtbot))
    assert views
    made: dict[str, bytes] = {kind: export.export_bytes(views, kind, LARGE) for kind in ("svg", "pdf")}
    root = ElementTree.fromstring(made["svg"])
    written = {
        "svg": " ".join(element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")),
        "pdf": run("pdftotext", "-", "-", data=made["pdf"]).decode(),
    }
    for kind, text in written.items():
        wanted = words_of(views) | {word for view in views for word in plain(view.title)}
        assert wanted <= set(plain(text)), kind
    drawn = {kind: rasterised(kind, data, 40) for kind, data in made.items()}
    for picture in drawn.values():
        assert (picture != 255).any(-1).mean() > 0.01


@pytest.mark.parametrize("title", (*PAGES, "Study"))
def test_every_control_has_a_name_and_is_reached_by_keys(title: str, window: MainWindow) -> None:
    window.pages.show_page(titles(window).index(title))
    settle()
    page = window.pages.page(window.pages.place)
    kinds = (QAbstractButton, QComboBox, QAbstractSlider, QAbstractSpinBox, QLineEdit)
    found = [
        control
        for kind in kinds
        for control in page.findChildren(kind)
        if control.isVisible()
        and not isinstance(control, QScrollBar)
        and not isinstance(control.parent(), QAbstractSpinBox | QComboBox)
    ]
    assert len(found) > 5
    for control in found:
        assert control.accessibleName() or getattr(control, "text", str)(), control
        assert control.focusPolicy() & Qt.FocusPolicy.TabFocus, control


def pictures(views: list[Picture]) -> dict[str, np.ndarray]:
    settle()
    shown = {}
    for view in views:
        image = view.canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        shown[view.name] = np.frombuffer(image.constBits(), np.uint8).copy()
    return shown


@pytest.mark.parametrize(
    ("title", "marked"), [("Robustness", {"decomposition"}), ("Compare", {"compare-maps"})]
)
def test_a_token_that_is_clicked_in_explore_is_marked(
    title: str, marked: set[str], window: MainWindow, qtbot: QtBot
) -> None:
    views = in_sight(turn_to(window, title, qtbot))
    before = pictures(views)
    window.pages.show_page(0)
    settle()
    scatter = window.explore.panels["projection"].view
    click(scatter, at(scatter.plot, *window.state.result.projection.moved_queries[5]))
    assert len(window.state.selection) == 1
    after = pictures(in_sight(turn_to(window, title, qtbot)))
    assert marked <= {name for name in before if (before[name] != after[name]).any()}
