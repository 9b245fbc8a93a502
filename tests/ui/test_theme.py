from __future__ import annotations

import gc
import itertools

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontInfo, QFontMetricsF, QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.ui import theme
from explorer.ui.theme import DARK, LIGHT, Scheme

BOTH = pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=lambda scheme: scheme.name)


def linear(colour: str) -> np.ndarray:
    channels = np.array(QColor(colour).getRgbF()[:3])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(a: str, b: str) -> float:
    """WCAG 2's ratio."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_the_ratio_is_wcags() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@BOTH
def test_text_is_readable(scheme: Scheme) -> None:
    for text, ground in itertools.product(
        (scheme.text, scheme.secondary, scheme.error, scheme.warning, scheme.accent),
        (scheme.background, scheme.raised),
    ):
        assert contrast(text, ground) >= 4.5, (text, ground)
    assert contrast(scheme.on_accent, scheme.accent) >= 4.5


@BOTH
def test_lines_are_seen(scheme: Scheme) -> None:
    for colour in (theme.SOFTMAX, theme.RPC, theme.PCP):
        assert contrast(colour, scheme.background) >= 3


def test_the_three_attentions_differ_in_colour_and_in_stroke() -> None:
    pens = [theme.softmax_pen(), theme.rpc_pen(), theme.pcp_pen()]
    assert [pen.color().name().upper() for pen in pens] == ["#0072B2", "#D55E00", "#009E73"]
    assert len({pen.style() for pen in pens}) == 3
    assert all(pen.isCosmetic() for pen in pens)


def test_the_shipped_type_with_figures_of_equal_width(qapp: QApplication) -> None:
    assert theme.FAMILY in theme.load_fonts()
    font = theme.font(40)
    assert QFontInfo(font).family() == theme.FAMILY
    metrics = QFontMetricsF(font)
    assert {metrics.horizontalAdvance(figure * 8) for figure in "0123456789"} == {
        metrics.horizontalAdvance("0" * 8)
    }


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_a_choice_is_applied(choice: theme.Choice, qapp: QApplication) -> None:
    theme.apply(qapp, choice)
    try:
        assert theme.scheme().name == choice
        assert qapp.palette().window().color() == QColor(theme.scheme().background)
    finally:
        theme.apply(qapp, "light")


def test_the_system_is_followed_while_it_runs(
    qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = QGuiApplication.styleHints().colorSchemeChanged
    try:
        theme.apply(qapp, "system")
        for dark, name in ((True, "dark"), (False, "light")):
            monkeypatch.setattr(theme, "_system_is_dark", lambda dark=dark: dark)
            changed.emit(Qt.ColorScheme.Unknown)
            assert theme.scheme().name == name
        theme.apply(qapp, "light")
        monkeypatch.setattr(theme, "_system_is_dark", lambda: True)
        changed.emit(Qt.ColorScheme.Dark)
        assert theme.scheme().name == "light"
    finally:
        theme.apply(qapp, "light")


def test_plots_and_listeners_follow_the_scheme(qtbot: QtBot) -> None:
    widget = pg.PlotWidget()
    qtbot.addWidget(widget)
    theme.style_plot(widget.plotItem)
    axis = widget.plotItem.getAxis("left")
    with qtbot.waitSignals([theme.theme().changed, theme.theme().changed]), theme.theme().using(DARK):
        assert axis.textPen().color() == QColor(DARK.secondary)
        assert widget.backgroundBrush().color() == QColor(DARK.background)
        assert theme.contaminated_brush().color() == QColor(DARK.background)
    assert axis.textPen().color() == QColor(LIGHT.secondary)
    assert widget.backgroundBrush().color() == QColor(LIGHT.background)


def test_small_numbers_are_never_shown_in_hidden_units(qtbot: QtBot) -> None:
    """pyqtgraph's own switch for unit prefixes multiplies tick labels by one once more."""
    widget = pg.PlotWidget()
    qtbot.addWidget(widget)
    plot = widget.plotItem
    theme.style_plot(plot)
    plot.setLabel("left", "error")
    plot.setYRange(0, 5e-4)
    with theme.theme().using(DARK):
        pass
    axis = plot.getAxis("left")
    assert axis.tickStrings([2e-4], axis.autoSIPrefixScale * axis.scale, 1e-4) == ["0.0002"]


@pytest.mark.parametrize("stretch", [1.0, 3.0])
def test_lines_are_as_wide_as_the_screen_is_fine(stretch: float) -> None:
    with theme.theme().using(LIGHT, stretch):
        assert theme.softmax_pen().widthF() == pytest.approx(1.75 * stretch)
    assert theme.softmax_pen().widthF() == pytest.approx(1.75)


def test_using_a_scheme_ends_even_when_drawing_fails() -> None:
    with pytest.raises(ZeroDivisionError), theme.theme().using(DARK):
        _ = 1 / 0
    assert theme.scheme() is LIGHT


def test_a_plot_that_is_gone_is_forgotten(qtbot: QtBot) -> None:
    plot = pg.PlotItem()
    theme.style_plot(plot)
    gc.collect()
    known = len(theme.theme()._plots)
    del plot
    gc.collect()
    assert len(theme.theme()._plots) == known - 1


@pytest.mark.parametrize("name", ["viridis", "cividis"])
def test_sequential_maps_rise_in_lightness(name: str) -> None:
    table = theme.sequential_map(name).getLookupTable(nPts=64, alpha=False)
    lightness = [luminance(QColor(*row.tolist()).name()) for row in table]
    assert np.all(np.diff(lightness) > -0.01)
    assert lightness[-1] > lightness[0] + 0.5


# Viénot, Brettel and Mollon 1999, on linear RGB.
PROTAN = np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]])
DEUTAN = np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]])


def test_signed_values_are_equally_dark_on_both_sides_of_zero() -> None:
    table = theme.diverging_map().getLookupTable(nPts=257, alpha=False)
    lightness = np.array([luminance(QColor(*row.tolist()).name()) for row in table]) ** (1 / 3)
    assert np.argmax(lightness) in (127, 128, 129)
    assert np.all(np.diff(lightness[:128]) > 0)
    assert np.all(np.diff(lightness[130:]) < 0)
    assert np.abs(lightness - lightness[::-1]).max() < 0.08


@pytest.mark.parametrize("sees", [np.eye(3), PROTAN, DEUTAN], ids=["full", "protan", "deutan"])
def test_the_signs_differ_for_the_colour_blind(sees: np.ndarray) -> None:
    table = theme.diverging_map().getLookupTable(nPts=257, alpha=False)
    seen = np.array([sees @ linear(QColor(*row.tolist()).name()) for row in table])
    seen = np.clip(seen, 0, 1) ** (1 / 2.2)
    for offset in (20, 43, 86, 128):
        assert np.linalg.norm(seen[128 - offset] - seen[128 + offset]) > 0.12, offset


def test_levels_are_symmetric_about_zero() -> None:
    assert theme.symmetric_levels(np.array([-3.0, 1.0, np.nan, np.inf])) == (-3.0, 3.0)
    assert theme.symmetric_levels(np.full(3, np.nan)) == (-1.0, 1.0)
    assert theme.symmetric_levels(np.zeros(3)) == (-1.0, 1.0)
