"""Figures of what the measures are made of: γ, eigenvalues, norms and projection errors; and of series."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.report.series import Line, along_training, over_inputs
from explorer.report.svg import Axes, span, text
from explorer.report.whole import Array, Whole, column, number_of


def _rows(whole: Whole, *path: str) -> Array:
    """Return one row of a distinct head's list for each, of the first sample, padded with NaN."""
    rows = []
    for records in whole.heads(distinct=True).values():
        found: Any = records[0]
        for name in path:
            found = found[name]
        rows.append([number_of(x) for x in found])
    widest = max(map(len, rows))
    return np.array([row + [np.nan] * (widest - len(row)) for row in rows])


def _quantiles(rows: Array) -> Array:
    """Return 10, 50 and 90 % over heads of each column; NaN where no head has one."""
    found = np.full((3, rows.shape[1]), np.nan)
    known = np.isfinite(rows).any(0)
    found[:, known] = np.nanquantile(rows[:, known], [0.1, 0.5, 0.9], axis=0)
    return found


def _by_component(parts: dict[str, Array], y: tuple[float, float], y_label: str, title: str) -> str:
    """Draw medians over heads by component, with a band from 10 to 90 %."""
    count = max(part.shape[1] for part in parts.values())
    axes = Axes((0, max(count - 1, 1)), y, "component d", y_label, 450, 260, title).grid()
    for kind, (low, middle, high) in parts.items():
        places = np.arange(float(len(middle)))
        axes.band(places, low, high, kind)
        axes.line(places, middle, kind)
    return axes.render()


def gamma_figure(whole: Whole) -> str:
    """Draw γ's relative spread over tokens: learned columns, and the eigenvectors themselves."""
    parts = {
        kind: _quantiles(_rows(whole, "gamma", name, "relative_mean"))
        for kind, name in (("observed", "learned"), ("solver", "eigenvectors"))
    }
    highest = max(1.0, float(np.nanmax(parts["observed"][2], initial=1.0)))
    return _by_component(parts, (-0.03, highest * 1.05), "mean |γ_i − γ_j| / larger", "γ test")


def spectrum_figure(whole: Whole) -> str:
    """Draw eigenvalues γ_d of the key Gram matrix, keys as they are and standardised."""
    parts = {
        name: _quantiles(_rows(whole, "spectra", name, "log10_values")) for name in ("keys", "standardised")
    }
    return _by_component(
        parts, span(*(part.ravel() for part in parts.values())), "γ_d (log₁₀)", "eigenvalues"
    )


def _projections(whole: Whole, name: str) -> Array:
    return column(whole.heads(), lambda head: head["projections"][name])


def norms_figure(whole: Whole) -> str:
    """Draw the queries' norm in feature space against the learned output's and the projection's."""
    phi, output, projection = (
        _projections(whole, f"log10_{name}") for name in ("phi", "output", "projection")
    )
    x, y = span(phi), span(phi, output, projection)
    axes = Axes(x, y, "mean ‖φ(q)‖² (log₁₀)", "mean ‖h‖² (log₁₀)", 450, 260, "norms").grid()
    low, high = max(x[0], y[0]), min(x[1], y[1])
    axes.line((low, high), (low, high), "reference")
    for (layer, head), a, b, c in zip(whole.heads(), phi, output, projection, strict=True):
        axes.dot(a, c, "true", f"layer {layer}, head {head}: projection on the true axes")
        axes.dot(a, b, "observed", f"layer {layer}, head {head}: learned output")
    return axes.render()


def errors_figure(whole: Whole) -> str:
    """Draw both forms of the projection error, layer by layer."""
    heads = whole.heads()
    true, learned = (_projections(whole, f"log10_error_{name}") for name in ("axes", "learned"))
    negative = _projections(whole, "sign_error_learned") < 0
    layers = sorted({layer for layer, _ in heads})
    per_layer = max(sum(key[0] == layer for key in heads) for layer in layers)
    y = span(true, learned)
    axes = Axes((-0.6, len(layers) - 0.4), y, "layer", "|error| (log₁₀)", 450, 260, "projection errors").grid(
        x=()
    )
    for place, layer in enumerate(layers):
        axes.parts.append(text("tick", axes.px(place), axes.bottom + 15, str(layer), "middle"))
    for i, (layer, head) in enumerate(heads):
        x = layers.index(layer) + (i % per_layer / per_layer - 0.5) * 0.7
        axes.dot(x, true[i], "true", f"layer {layer}, head {head}: true axes")
        kind = "observed hollow" if negative[i] else "observed"
        axes.dot(x, learned[i], kind, f"layer {layer}, head {head}: learned output")
    return axes.render()


def _draw(line: Line, x_label: str) -> str:
    error = np.nan_to_num(line.error)
    heights = span(line.mean - error, line.mean + error)
    axes = Axes(span(line.x), heights, x_label, line.label, 292, 190).grid()
    for x, mean, bar, count in zip(line.x, line.mean, error, line.count, strict=True):
        axes.upright(x, mean - bar, mean + bar, "observed")
        axes.dot(x, mean, "observed", f"{x:g}: {mean:.3g} ± {bar:.2g} (n = {count})")
    axes.line(line.x, line.mean, "observed")
    return axes.render()


def series_figures(whole: Whole) -> list[str]:
    """Metrics against the step of the checkpoint, mean and deviation over heads."""
    return [_draw(line, "step") for line in along_training(whole)]


def sample_figures(whole: Whole) -> list[str]:
    """Metrics by layer, mean over heads, with the standard error over inputs as error bars."""
    return [_draw(line, "layer") for line in over_inputs(whole)]
