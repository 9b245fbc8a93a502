"""Figures of how heads stand against nulls: maps, distributions, and each head beside its draws."""

from __future__ import annotations

import math
from html import escape

import numpy as np

from explorer.maths.evidence_names import BY_KEY, NULL_BY_KEY
from explorer.maths.evidence_scores import CLEAR, LEVEL, benjamini_hochberg
from explorer.report.compute import Record
from explorer.report.svg import Axes, diverging, number, picture, span, text
from explorer.report.whole import Array, Whole, column, mean_of

LARGEST_Z = 8.0
"""Where the colours of maps end."""
LETTER = 7.0
"""More than a title's letters take on average."""
WIDEST, NARROWEST, TALL = 34.0, 14.0, 22.0
"""Of a map's cells; from 28 pixels on they have room for a number."""
LEFT, TOP = 40.0, 24.0


def figures_of(whole: Whole, null: str, measure: str, name: str, distinct: bool = False) -> Array:
    """Return one figure a head ("z", "p", …) against a null, its mean over samples."""
    heads = whole.heads(distinct=distinct)
    return column(heads, lambda head: head["nulls"].get(null, {}).get(measure, {}).get(name))


def z_map(whole: Whole, null: str, measure: str = "overlap") -> str:
    """Draw layers × heads coloured by z; a ring where the head survives the false discovery rate."""
    heads = whole.heads()
    layers, columns = (sorted({key[i] for key in heads}) for i in range(2))
    cell = max(min(WIDEST, 420 / len(columns)), NARROWEST)
    found = survivors(whole, null, measure)
    z = figures_of(whole, null, measure, "z")
    values = column(heads, lambda head: head["measures"][measure])
    title = NULL_BY_KEY[null].label
    parts = [text("title", LEFT, 14, title)]
    for place, ((layer, head), records) in enumerate(heads.items()):
        x, y = LEFT + columns.index(head) * cell, TOP + layers.index(layer) * TALL
        ringed = (layer, records[0]["key_head"]) in found
        tip = f"layer {layer}, head {head}: {BY_KEY[measure].label} {values[place]:.3f}, z {_short(z[place])}"
        parts += _cell(x, y, cell, z[place], ringed, tip)
    right, bottom = LEFT + len(columns) * cell, TOP + len(layers) * TALL
    every = max(1, round(WIDEST / cell))
    rows = ((TOP + i * TALL + 15, layer) for i, layer in enumerate(layers))
    parts += [text("tick", LEFT - 8, y, str(layer), "end") for y, layer in rows]
    places = ((LEFT + (i + 0.5) * cell, columns[i]) for i in range(0, len(columns), every))
    parts += [text("tick", x, bottom + 14, str(head), "middle") for x, head in places]
    parts.append(text("label", (LEFT + right) / 2, bottom + 30, "head", "middle"))
    parts.append(text("label", 10, (TOP + bottom) / 2, "layer", "middle", turned=True))
    return picture(max(right, LEFT + LETTER * len(title)) + 8, bottom + 36, parts)


def _short(z: float) -> str:
    """Write z with one decimal, and no minus before a zero."""
    return f"{round(z, 1) + 0.0:.1f}".replace("-", "−") if math.isfinite(z) else "not defined"


def _cell(x: float, y: float, width: float, z: float, ringed: bool, tip: str) -> list[str]:
    fill = diverging(z, LARGEST_Z) if math.isfinite(z) else "url(#hatch)"
    parts = [
        f'<rect class="cell" x="{x + 1:.1f}" y="{y + 1:.1f}" width="{width - 2:.1f}" height="{TALL - 2:g}" '
        f'fill="{fill}"><title>{escape(tip)}</title></rect>'
    ]
    light = " light" if abs(z) > LARGEST_Z * 0.45 else ""
    if ringed:
        parts.append(_ring(x + 2, y + 2, width - 4, TALL - 4, light))
    if width > 28 and math.isfinite(z):
        parts.append(text(f"inside{light}", x + width / 2, y + 15, _short(z), "middle"))
    return parts


def _ring(x: float, y: float, width: float, height: float, light: str = "") -> str:
    """Return a frame within a cell, in the colour of the cell's number."""
    return f'<rect class="ring{light}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def survivors(whole: Whole, null: str, measure: str) -> set[tuple[int, int]]:
    """Return layer and key head of those that differ from the null at a false discovery rate of 5 %."""
    heads = whole.heads(distinct=True)
    places = [(layer, records[0]["key_head"]) for (layer, _), records in heads.items()]
    found: set[tuple[int, int]] = set()
    for tail in ("p", "p_below"):
        p = figures_of(whole, null, measure, tail, distinct=True) * (2 if whole.samples > 1 else 1)
        adjusted = benjamini_hochberg(np.minimum(p, 1))
        found |= {place for place, q in zip(places, adjusted, strict=True) if q <= LEVEL}
    return found


def scale_key() -> str:
    """Draw the colours of the maps, with their ends."""
    steps, wide = 60, 3
    parts = [
        f'<rect x="{20 + i * wide}" y="4" width="{wide + 0.2}" height="10" '
        f'fill="{diverging((2 * i / (steps - 1) - 1) * LARGEST_Z, LARGEST_Z)}"/>'
        for i in range(steps)
    ]
    for value, anchor in ((-LARGEST_Z, "start"), (0, "middle"), (LARGEST_Z, "end")):
        x = 20 + (value / LARGEST_Z + 1) / 2 * steps * wide
        parts.append(text("tick", x, 28, number(value), anchor))
    parts.append(text("label", 210, 14, "z against the null"))
    parts.append(f'<rect x="329" y="3" width="16" height="13" fill="{diverging(0, LARGEST_Z)}"/>')
    parts.append(_ring(330, 4, 14, 11))
    parts.append(text("label", 350, 14, "survives a false discovery rate of 5 %"))
    return picture(620, 34, parts)


def z_histogram(whole: Whole, null: str, measure: str = "overlap") -> str:
    """Draw the distribution of z over heads, beside the one that the null itself would give."""
    z = figures_of(whole, null, measure, "z", distinct=True)
    z = z[np.isfinite(z)]
    low, high = min(-4.0, math.floor(z.min(initial=0))), max(4.0, math.ceil(z.max(initial=0)))
    wide = max(0.5, (high - low) / 40)
    edges = np.arange(low, high + wide, wide)
    counts, _ = np.histogram(z, edges)
    bell = np.linspace(-4, 4, 81)
    expected = np.exp(-(bell**2) / 2) / math.sqrt(2 * math.pi) * len(z) * wide
    top = max(float(counts.max(initial=1)), float(expected.max(initial=0))) * 1.08
    title = NULL_BY_KEY[null].label
    axes = Axes((edges[0], edges[-1]), (0, top), "z", "heads", 292, 190, title, 40).grid()
    for edge in (-CLEAR, CLEAR):
        axes.line((edge, edge), (0, top), "limit")
    for count, start in zip(counts, edges[:-1], strict=True):
        if count:
            axes.column(start, start + wide, float(count), null)
    axes.line(bell, expected, "reference")
    return axes.render()


def beside_draws(whole: Whole, measure: str = "overlap") -> str:
    """Draw each head's measure as a point, and the middle 95 % of its draws under two nulls as bars."""
    heads = whole.heads()
    shown = [null for null in ("permutation", "projection") if null in whole.nulls()]
    bars = {null: [_interval(records, null, measure) for records in heads.values()] for null in shown}
    values = column(heads, lambda head: head["measures"][measure])
    chance = mean_of(records[0]["health"]["chance_overlap"] for records in heads.values())
    edges = [edge for each in bars.values() for pair in each for edge in pair]
    label = BY_KEY[measure].label
    axes = Axes((-1, len(heads)), span(values, edges, [chance]), "head, layer by layer", label, 920, 280)
    axes.grid(x=())
    last = None
    for place, (layer, head) in enumerate(heads):
        if layer != last:
            axes.line((place - 0.5, place - 0.5), axes.y, "limit")
            axes.parts.append(text("tick", axes.px(place), axes.bottom + 15, f"layer {layer}"))
            last = layer
        for i, null in enumerate(shown):
            axes.upright(place, *bars[null][place], null, 2.0 * i - 1.0)
        axes.dot(place, values[place], "observed", f"layer {layer}, head {head}: {values[place]:.3f}")
    axes.line((-1, len(heads)), (chance, chance), "reference")
    return axes.render()


def _interval(records: list[Record], null: str, measure: str) -> tuple[float, float]:
    drawn = [record["nulls"].get(null, {}).get(measure) for record in records]
    low, high = (mean_of(score["quantiles"][i] if score else None for score in drawn) for i in (0, 4))
    return low, high
