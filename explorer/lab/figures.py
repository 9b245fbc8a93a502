"""Sweeps and the phase diagram as SVG figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.lab.experiments import Cell, Over, Phase, Point, Sweep
from explorer.lab.setting import Setting
from explorer.lab.svg import INK, Figure
from explorer.lab.tables import grid, head_bands, limit_curve, pca_band

COLOURS = {"softmax": ("#0072B2", ""), "linear": ("#CC79A7", "9 4 2 4")}
REFERENCE = "#5F6670"
SYMBOLS: dict[Over, str] = {
    "L": "L, tokens in a prompt",
    "theta": "θ, strength of the spike",
    "d": "d, features of a token",
    "nu": "ν, degrees of freedom",
    "lambda": "λσ₁, coupling",
    "level": "f, level of contamination",
}
LOGARITHMIC: tuple[Over, ...] = ("L", "d", "nu")
VIRIDIS = (
    "#440154",
    "#482878",
    "#3E4989",
    "#31688E",
    "#26828E",
    "#1F9E89",
    "#35B779",
    "#6DCD59",
    "#B4DE2C",
    "#FDE725",
)


def sweep_figure(sweep: Sweep, points: Sequence[Point]) -> str:
    """Return mean alignment with the range over seeds, beside sample PCA of one prompt and its limit."""
    values = sorted(sweep.values)
    log = sweep.over in LOGARITHMIC and values[0] > 0
    margin = 0.0 if len(values) > 1 else 0.5 * abs(values[0]) or 0.5
    figure = Figure(
        described(sweep.setting, sweep.over), SYMBOLS[sweep.over], "|cos| with the direction",
        (values[0] - margin, values[-1] + margin), (0, 1.02), log,
    )  # fmt: skip
    reference, limit = pca_band(points), limit_curve(points)
    figure.line(reference.values, reference.mean, REFERENCE, "sample PCA of one prompt", "5 4", 1.5)
    if len(limit.values):
        figure.line(limit.values, limit.mean, REFERENCE, "its limit (Baik–Ben Arous–Péché)", "1.5 3", 1.5)
    for kind, found in head_bands(points).items():
        colour, dash = COLOURS[kind]
        figure.band(found.values, found.low, found.high, colour)
        figure.line(found.values, found.mean, colour, f"{kind} (band: range over seeds)", dash)
    figure.ticks(_few(values), np.linspace(0, 1, 6).tolist())
    return figure.text()


def phase_figure(phase: Phase, cells: Sequence[Cell]) -> str:
    """Return cos² between v and the trained head over (c, θ), with the boundary θ = √c."""
    cs, thetas = sorted(phase.cs), sorted(phase.thetas)
    x, y = edges(cs, True), edges(thetas, False)
    figure = Figure(
        f"{phase.kind} head trained on n = d/c tokens of Σ = I + θvvᵀ, d = {phase.d}", "c = d/n",
        "θ, strength of the spike", (x[0], x[-1]), (y[0], y[-1]), log_x=True, right=68, legend_on_top=True,
    )  # fmt: skip
    values = grid(cells, cs, thetas)
    for i, j in np.argwhere(np.isfinite(values)).tolist():
        colour = VIRIDIS[min(int(values[i, j] * len(VIRIDIS)), len(VIRIDIS) - 1)]
        figure.cell((x[j], x[j + 1]), (y[i], y[i + 1]), colour)
    boundary = np.geomspace(x[0], x[-1], 100)
    figure.line(boundary, np.sqrt(boundary), "#FFFFFF", "", width=4)
    figure.line(boundary, np.sqrt(boundary), INK, "θ = √c, below: sample PCA sees nothing", "6 3")
    figure.ticks(_few(cs), _few(thetas))
    figure.scale(VIRIDIS, "cos²(m, v)")
    return figure.text()


def _few(values: Sequence[float]) -> Sequence[float]:
    """Leave out figures that would not fit on an axis."""
    return values[:: 1 + (len(values) - 1) // 8]


def edges(centres: Sequence[float], logarithmic: bool) -> list[float]:
    """Return the borders half way between ascending `centres`, one more than there are."""
    places = np.log(centres) if logarithmic else np.asarray(centres, float)
    if len(places) == 1:
        borders = np.array([places[0] - 0.5, places[0] + 0.5])
    else:
        middle = (places[1:] + places[:-1]) / 2
        borders = np.concatenate([[2 * places[0] - middle[0]], middle, [2 * places[-1] - middle[-1]]])
    return (np.exp(borders) if logarithmic else borders).tolist()


def described(setting: Setting, over: Over) -> str:
    """Return the fixed part of a sweep's setting in symbols."""
    data = setting.data
    parts = {
        "d": f"d = {data.d}", "theta": f"θ = {data.theta:g}", "nu": f"ν = {data.degrees or '∞'}",
        "L": f"L = {setting.length or '∞'}", "lambda": f"λσ₁ = {setting.coupling:g}",
    }  # fmt: skip
    told = {"spiked": ("d", "theta"), "wishart": ("d", "theta", "nu"), "per-prompt": ("d", "theta", "nu")}
    names = (*told.get(data.family, ()), "L", "lambda")
    return f"{data.family}: " + ", ".join(parts[name] for name in names if name != over)
