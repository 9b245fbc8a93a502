"""How everything looks: two schemes, the shipped type, pens and colour maps with fixed meanings."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontDatabase,
    QGuiApplication,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from explorer.settings import resource, settings
from explorer.ui.stylesheet import stylesheet

GRID = 8
BODY_PX, AXIS_PX, BIG_PX = 13, 11, 20
FAMILY = "Gramscope Sans"
SOFTMAX, RPC, PCP = "#0072B2", "#D55E00", "#009E73"
Choice = Literal["system", "light", "dark"]
Weight = QFont.Weight


@dataclass(frozen=True, slots=True)
class Scheme:
    """The colours of one appearance, as #RRGGBB.

    Attributes
    ----------
    background, raised : str
        Of plots and panels; of fields, buttons and menus under the pointer.
    text, secondary : str
        Readable on both (at least 4.5:1).
    hairline : str
        The one line that separates.
    accent, on_accent : str
        Selection, focus and links; text on it.
    error, warning : str
        Text of messages.
    missing : str
        The hatch where there is no number.
    """

    name: str
    background: str
    raised: str
    text: str
    secondary: str
    hairline: str
    accent: str
    on_accent: str
    error: str
    warning: str
    missing: str


LIGHT = Scheme(
    name="light",
    background="#FFFFFF",
    raised="#F4F5F7",
    text="#1A1C1F",
    secondary="#5F6670",
    hairline="#E3E6EA",
    accent="#3D5AFE",
    on_accent="#FFFFFF",
    error="#B3261E",
    warning="#8A5300",
    missing="#9AA0A8",
)
DARK = Scheme(
    name="dark",
    background="#1B1E23",
    raised="#24282F",
    text="#E6E8EB",
    secondary="#9AA3AD",
    hairline="#2C3138",
    accent="#8C9EFF",
    on_accent="#1B1E23",
    error="#FF8A80",
    warning="#FFB74D",
    missing="#6B727C",
)

pg.setConfigOptions(
    imageAxisOrder="row-major", antialias=True, background=LIGHT.background, foreground=LIGHT.text
)


class Theme(QObject):
    """The scheme in use, and how wide its lines are.

    Attributes
    ----------
    scheme : Scheme
    stretch : float
        Device pixels per pixel of a line's width, which Qt leaves to us for pens that no zoom changes: 2 on
        a 200 % screen, more while a picture of high resolution is drawn.

    Signals
    -------
    changed()
        Scheme or stretch are others: take pens, brushes and colours again. Plots given to `style_plot`
        have been restyled before.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.scheme = LIGHT
        self.stretch = 1.0
        self._plots: weakref.WeakSet[pg.PlotItem] = weakref.WeakSet()

    def use(self, scheme: Scheme, stretch: float) -> None:
        """Switch, restyle the known plots and tell everyone."""
        if (scheme, stretch) == (self.scheme, self.stretch):
            return
        self.scheme, self.stretch = scheme, stretch
        pg.setConfigOptions(background=scheme.background, foreground=scheme.text)
        for plot in filter(isValid, list(self._plots)):
            _style(plot, scheme)
        self.changed.emit()

    @contextmanager
    def using(self, scheme: Scheme, stretch: float = 1.0) -> Iterator[None]:
        """Draw in another scheme and stretch for a while, as an export on white paper does."""
        before = self.scheme, self.stretch
        self.use(scheme, stretch)
        try:
            yield
        finally:
            self.use(*before)

    def adopt(self, plot: pg.PlotItem) -> None:
        """Style `plot` now and with every later scheme."""
        self._plots.add(plot)
        _style(plot, self.scheme)


@cache
def theme() -> Theme:
    """Return the one theme of this process."""
    return Theme()


def scheme() -> Scheme:
    """Return the colours in use."""
    return theme().scheme


def chosen() -> Choice:
    """Return the appearance that the person chose before; as the system, by default."""
    value = settings().value("appearance", "system")
    return next((choice for choice in get_args(Choice) if choice == value), "system")


def apply(app: QApplication, choice: Choice = "system") -> None:
    """Give `app` the shipped type and the light or dark scheme; "system" follows the platform, also later."""
    app.setStyle("Fusion")
    load_fonts()
    app.setFont(font())
    hints = QGuiApplication.styleHints()
    app.setProperty("appearance", choice)
    if not app.property("followsSystem"):
        app.setProperty("followsSystem", True)
        hints.colorSchemeChanged.connect(lambda: _apply_scheme(app))
    _apply_scheme(app)


def _apply_scheme(app: QApplication) -> None:
    choice = app.property("appearance")
    dark = _system_is_dark() if choice == "system" else choice == "dark"
    chosen = DARK if dark else LIGHT
    app.setPalette(palette(chosen))
    app.setStyleSheet(stylesheet(chosen))
    theme().use(chosen, app.devicePixelRatio())


def _system_is_dark() -> bool:
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def palette(scheme: Scheme) -> QPalette:
    """Return the widgets' colours in `scheme`."""
    role = QPalette.ColorRole
    colours = {
        role.Window: scheme.background,
        role.Base: scheme.background,
        role.AlternateBase: scheme.raised,
        role.Button: scheme.raised,
        role.ToolTipBase: scheme.raised,
        role.WindowText: scheme.text,
        role.Text: scheme.text,
        role.ButtonText: scheme.text,
        role.ToolTipText: scheme.text,
        role.PlaceholderText: scheme.secondary,
        role.Highlight: scheme.accent,
        role.HighlightedText: scheme.on_accent,
        role.Accent: scheme.accent,
        role.Link: scheme.accent,
        role.LinkVisited: scheme.accent,
        role.Light: scheme.background,
        role.Midlight: scheme.hairline,
        role.Mid: scheme.hairline,
        role.Dark: scheme.secondary,
        role.Shadow: scheme.hairline,
    }
    result = QPalette()
    for key, colour in colours.items():
        result.setColor(key, QColor(colour))
    for key in (role.WindowText, role.Text, role.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, key, QColor(scheme.secondary))
    return result


@cache
def load_fonts() -> tuple[str, ...]:
    """Add the shipped fonts to the application and return their families."""
    found: set[str] = set()
    for path in sorted(resource("fonts").glob("*.otf")):
        found.update(QFontDatabase.applicationFontFamilies(QFontDatabase.addApplicationFont(str(path))))
    return tuple(sorted(found))


def font(px: int = BODY_PX, weight: Weight = Weight.Normal, italic: bool = False) -> QFont:
    """Return the shipped sans, `px` pixels high, with figures of equal width."""
    result = QFont(FAMILY)
    result.setPixelSize(px)
    result.setWeight(weight)
    result.setItalic(italic)
    return result


def pen(colour: str, width: float = 1.5, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """Return a line whose width, in pixels, no zoom changes."""
    return pg.mkPen(colour, width=width * theme().stretch, style=style)


def softmax_pen(width: float = 1.75) -> QPen:
    """Return softmax's line, blue and solid everywhere."""
    return pen(SOFTMAX, width)


def rpc_pen(width: float = 1.75) -> QPen:
    """Return RPC's line, vermilion and dashed everywhere."""
    return pen(RPC, width, Qt.PenStyle.DashLine)


def pcp_pen(width: float = 1.75) -> QPen:
    """Return exact PCP's line, green and dotted everywhere."""
    return pen(PCP, width, Qt.PenStyle.DotLine)


def accent_pen(width: float = 2) -> QPen:
    """Return the ring around what is selected."""
    return pen(scheme().accent, width)


def text_pen(width: float = 1) -> QPen:
    """Return a line in the colour of text."""
    return pen(scheme().text, width)


def secondary_pen(width: float = 1) -> QPen:
    """Return a line that stays behind: references, grids, axes."""
    return pen(scheme().secondary, width)


def hairline_pen() -> QPen:
    """Return the line that separates."""
    return pen(scheme().hairline, 1)


def clean_brush(colour: str = SOFTMAX) -> QBrush:
    """Return the filling of a clean token's symbol: full."""
    return QBrush(QColor(colour))


def contaminated_brush() -> QBrush:
    """Return the filling of a contaminated token's symbol: hollow (the plot's background)."""
    return QBrush(QColor(scheme().background))


@cache
def sequential_map(name: Literal["viridis", "cividis"] = "viridis") -> pg.ColorMap:
    """Return the map of values from 0 up."""
    return pg.colormap.get(name)


@cache
def diverging_map() -> pg.ColorMap:
    """Return the map of signed values, white at 0: blue below, orange above, equally dark on both sides.

    Blue and orange differ for every common kind of colour blindness; levels must be symmetric about 0
    (`symmetric_levels`).
    """
    blue, orange = ("#003A5D", "#0072B2", "#7DB8DC"), ("#F0A878", "#C25400", "#602400")
    colours = [QColor(name).getRgb() for name in (*blue, "#F7F7F7", *orange)]
    return pg.ColorMap([0, 1 / 6, 1 / 3, 1 / 2, 2 / 3, 5 / 6, 1], colours, name="signed")


def symmetric_levels(values: np.ndarray) -> tuple[float, float]:
    """Return (−m, m) with m the largest finite magnitude of `values`; (−1, 1) where there is none."""
    magnitude = np.abs(values[np.isfinite(values)])
    largest = float(magnitude.max(initial=0.0)) or 1.0
    return -largest, largest


def style_plot(plot: pg.PlotItem) -> None:
    """Give `plot` the scheme's background, axes and type, now and whenever the scheme changes."""
    theme().adopt(plot)


def _style(plot: pg.PlotItem, scheme: Scheme) -> None:
    view = plot.getViewWidget()
    if view is not None:
        view.setBackground(scheme.background)
    axis_font = font(AXIS_PX)
    for name in ("left", "bottom", "right", "top"):
        axis = plot.getAxis(name)
        axis.setSIPrefixEnableRanges([])  # before the next line, which would scale by a prefix once more
        axis.enableAutoSIPrefix(False)
        axis.setPen(pen(scheme.hairline, 1))
        axis.setTickPen(pen(scheme.secondary, 1))
        axis.setTextPen(scheme.secondary)
        axis.setStyle(tickFont=axis_font, tickLength=-4, tickTextOffset=4, maxTickLevel=0)
        axis.setTickDensity(0.6)
        axis.label.setFont(axis_font)
        axis.labelStyle["font-size"] = f"{AXIS_PX}px"
        axis._updateLabel()
    plot.titleLabel.setAttr("color", scheme.text)
    plot.titleLabel.setAttr("size", f"{BODY_PX}px")
    if plot.titleLabel.text:
        plot.titleLabel.setText(plot.titleLabel.text)
    if plot.legend is not None:
        _style_legend(plot.legend, scheme)


def _style_legend(legend: pg.LegendItem, scheme: Scheme) -> None:
    legend.setLabelTextColor(scheme.text)
    legend.setLabelTextSize(f"{AXIS_PX}px")
    for _, label in legend.items:
        label.setText(label.text, color=scheme.text, size=f"{AXIS_PX}px")
