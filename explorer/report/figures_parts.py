"""Figures of what the measures are made of: γ, eigenvalues, norms and projection errors; and of series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from explorer.report.compute import Record
from explorer.report.svg import Axes, span, text
from explorer.report.whole import Array, Whole, column, number_of

Pick = Callable[[Record], float | None]


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


SERIES: dict[str, tuple[str, Pick]] = {
    "overlap": ("column-space overlap", lambda head: head["measures"]["overlap"]),
    "permutation": ("z, shuffled tokens", lambda head: head["nulls"]["permutation"]["overlap"]["z"]),
    "projection": (
        "z, random projection",
        lambda head: head["nulls"].get("projection", {}).get("overlap", {}).get("z"),
    ),
    "error": ("error on the true axes (log₁₀)", lambda head: head["projections"]["log10_error_axes"]),
    "learned": (
        "|error|, learned output (log₁₀)",
        lambda head: head["projections"]["log10_error_learned"],
    ),
    "norm": ("mean ‖h‖² learned (log₁₀)", lambda head: head["projections"]["log10_output"]),
    "phi": ("mean ‖φ(q)‖² (log₁₀)", lambda head: head["projections"]["log10_phi"]),
}


def _line(xs: Sequence[float], means: Array, spreads: Array, x_label: str, label: str) -> str:
    axes = Axes(span(xs), span(means - spreads, means + spreads), x_label, label, 292, 190).grid()
    for x, mean, spread in zip(xs, means, spreads, strict=True):
        axes.upright(x, mean - spread, mean + spread, "observed")
        axes.dot(x, mean, "observed", f"{x:g}: {mean:.3g} ± {spread:.2g}")
    axes.line(xs, means, "observed")
    return axes.render()


def series_figures(whole: Whole) -> list[str]:
    """Metrics against the step of the checkpoint, mean and deviation over heads."""
    done = {record["checkpoint"] for record in whole.records}
    members = [checkpoint for checkpoint in whole.checkpoints if checkpoint.label in done]
    figures = []
    for label, pick in SERIES.values():
        by_step = [column(whole.heads(member), pick) for member in members]
        means = np.array([np.mean(each) for each in by_step])
        spreads = np.array([np.std(each, ddof=1) if len(each) > 1 else 0.0 for each in by_step])
        if np.isfinite(means).any():
            figures.append(_line([member.step for member in members], means, spreads, "step", label))
    return figures


def sample_figures(whole: Whole) -> list[str]:
    """Metrics by layer, mean over heads, with the deviation over inputs as error bars."""
    heads = whole.heads()
    layers = sorted({layer for layer, _ in heads})
    figures = []
    for label, pick in SERIES.values():
        by_layer = [_over_inputs([heads[key] for key in heads if key[0] == layer], pick) for layer in layers]
        means, spreads = (np.array(part) for part in zip(*by_layer, strict=True))
        if np.isfinite(means).any():
            figures.append(_line(layers, means, spreads, "layer", label))
    return figures


def _over_inputs(heads: Sequence[Sequence[Record]], pick: Pick) -> tuple[float, float]:
    """Return mean and deviation over inputs of the mean over heads, over the inputs that all heads have."""
    count = min(map(len, heads))
    means = np.array([np.mean([number_of(pick(records[i])) for records in heads]) for i in range(count)])
    return float(means.mean()), float(means.std(ddof=1)) if count > 1 else 0.0
