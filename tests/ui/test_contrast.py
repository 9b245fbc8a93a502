"""Text of at least 4.5:1 in both schemes: the style sheet's, every page's, and what stands on colour maps."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel
from pytestqt.qtbot import QtBot

from explorer.ui import theme
from explorer.ui.stylesheet import stylesheet
from explorer.ui.theme import DARK, LIGHT, Scheme
from explorer.ui.window import MainWindow
from explorer.views import lab_sphere, overview_cells
from explorer.views.picture import Picture
from tests.ui.desk import settle, sit_down
from tests.ui.test_theme import contrast

ENOUGH = 4.5
BOTH = pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=lambda scheme: scheme.name)
MAPS = pytest.mark.parametrize("colours", [theme.sequential_map(), theme.diverging_map()])


def blended(over: QColor, under: QColor, alpha: float) -> str:
    mixed = alpha * np.array(over.getRgb()[:3]) + (1 - alpha) * np.array(under.getRgb()[:3])
    return QColor(*mixed.round().astype(int).tolist()).name()


@BOTH
def test_the_style_sheets_text(scheme: Scheme) -> None:
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", stylesheet(scheme))
    grounds = (scheme.background, scheme.raised)
    checked = 0
    for selector, body in rules:
        said = dict(re.findall(r"(?:^|[;\s])(color|background)\s*:\s*(#\w{6})", body))
        if "color" in said:
            checked += 1
            for ground in (said["background"],) if "background" in said else grounds:
                assert contrast(said["color"], ground) >= ENOUGH, (selector.strip(), said)
    assert checked > 10


@BOTH
def test_the_text_of_every_page(scheme: Scheme, qtbot: QtBot, qapp: QApplication) -> None:
    theme.apply(qapp, scheme.name)
    try:
        with sit_down(qtbot) as window:
            for place in range(window.pages.count):
                window.pages.show_page(place)
                settle()
            for where, colour in shown(window):
                assert contrast(colour.name(), scheme.background) >= ENOUGH, where
                assert contrast(colour.name(), scheme.raised) >= ENOUGH, where
    finally:
        theme.apply(qapp, "light")


def shown(window: MainWindow) -> Iterator[tuple[str, QColor]]:
    """Give the colour of every label, box, axis and name."""
    for label in (*window.findChildren(QLabel), *window.findChildren(QCheckBox)):
        yield f"{label.parentWidget()}: {label.text()}", label.palette().color(label.foregroundRole())
    for picture in window.findChildren(Picture):
        for item in picture.canvas.scene().items():
            if isinstance(item, pg.AxisItem):
                yield f"{picture.name}, axis", item.textPen().color()
            elif isinstance(item, pg.TextItem) and item.toPlainText():
                yield f"{picture.name}: {item.toPlainText()}", item.color


@MAPS
def test_names_on_small_maps(colours: pg.ColorMap) -> None:
    veil = overview_cells.VEIL
    for rgb in colours.getLookupTable(nPts=256)[:, :3].tolist():
        ground = blended(veil, QColor(*rgb), veil.alphaF())
        assert contrast(overview_cells.LIGHT_INK, ground) >= ENOUGH, rgb


@BOTH
def test_names_on_the_sphere(scheme: Scheme) -> None:
    for rgb in theme.sequential_map().getLookupTable(nPts=256)[:, :3].tolist():
        ground = blended(QColor(scheme.background), QColor(*rgb), lab_sphere.VEILED / 255)
        for text in (scheme.text, scheme.secondary):
            assert contrast(text, ground) >= ENOUGH, (rgb, text)
