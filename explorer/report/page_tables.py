"""The page's tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from textwrap import wrap

import numpy as np

from explorer.maths.evidence_names import MEASURES, NULL_BY_KEY
from explorer.maths.evidence_verdict import number, plus_minus
from explorer.report.whole import Whole, column, mean_of

HALF, SINGLE = math.log(65504.0), math.log(3.4e38)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], words: int = 0) -> str:
    """Return a table; the last `words` columns hold sentences, and a line break within a cell is kept."""
    first = len(header) - words
    kinds = ["" if i < first else " class='words'" for i in range(len(header))]

    def line(tag: str, cells: Sequence[str]) -> str:
        parts = (escape(cell).replace("\n", "<br>") for cell in cells)
        return "".join(f"<{tag}{kind}>{part}</{tag}>" for part, kind in zip(parts, kinds, strict=True))

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    head = f"<thead><tr>{line('th', header)}</tr></thead>" if any(header) else ""
    return f"<div class='wide'><table>{head}<tbody>{body}</tbody></table></div>"


def _figure(value: float) -> str:
    return number(value) if math.isfinite(value) else "–"


def _with_spread(mean: float, deviation: float) -> str:
    """Write a mean and its deviation to the same decimals; a figure alone has no deviation."""
    if math.isfinite(mean) and math.isfinite(deviation):
        return plus_minus(mean, deviation)
    return _figure(mean)


def measures_table(whole: Whole) -> str:
    """Return every measure, over heads, against every null."""
    nulls = whole.nulls()
    distinct = whole.heads(distinct=True)
    rows = []
    for measure in MEASURES:
        key = measure.key
        values = column(distinct, lambda head, key=key: head["measures"][key])  # type: ignore[misc]
        deviation = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
        found = [whole.spread(null, key) for null in nulls]
        cells = [
            f"{_with_spread(each.mean_z, each.std_z)}\n{each.above}/{each.below} · "
            f"{each.discoveries}/{each.discoveries_below}"
            for each in found
        ]
        draws = max(
            (each.draws for null, each in zip(nulls, found, strict=True) if null != "untrained"), default=0
        )
        label = measure.label.replace(", ", "\n")
        rows.append([label, _with_spread(float(values.mean()), deviation), *cells, str(draws)])
    labels = ("\n".join(wrap(NULL_BY_KEY[null].label, 16)) for null in nulls)
    return _table(["measure", "V and V*", *labels, "draws"], rows)


def health_table(whole: Whole) -> str:
    """Return what the numbers had to survive, over heads."""
    heads = whole.heads(distinct=True)

    def health(key: str) -> np.ndarray:
        return column(heads, lambda head: head["health"][key])

    def count(key: str) -> str:
        return f"{int((health(key) > 0).sum())} of {len(heads)}"

    score = health("largest_score")
    solver = column(heads, lambda head: head["gamma"]["eigenvectors"]["relative_mean"][0])
    rows = [
        ("largest score τ k·k", number(float(score.max()))),
        ("heads whose exp(score) overflows half precision", f"{int((score > HALF).sum())} of {len(heads)}"),
        (
            "heads whose exp(score) overflows single precision",
            f"{int((score > SINGLE).sum())} of {len(heads)}",
        ),
        ("heads with eigenvalues under the tolerance", count("under_tolerance")),
        ("heads with columns of V* that are not told apart", count("indistinct")),
        ("heads with entries of V exactly 0, where γ is not defined", count("undefined_gamma")),
        (
            "largest γ spread of a leading eigenvector (0: exact solver)",
            f"{np.nanmax(solver, initial=0):.1g}",
        ),
    ]
    return _table(("", ""), rows)


def heads_table(whole: Whole) -> str:
    """Return one row a head: the measures that papers cite, and the verdict."""
    keys = ("overlap", "linear_cka_unit", "linear_cka_axes", "kernel_cka_unit", "gamma_relative")
    labels = ("overlap", "CKA unit", "CKA axes", "kernel CKA", "γ spread")
    nulls = [null for null in ("permutation", "projection") if null in whole.nulls()]
    rows = []
    for (layer, head), records in whole.heads().items():
        values = [mean_of(record["measures"][key] for record in records) for key in keys]
        z = [
            mean_of(record["nulls"].get(null, {}).get("overlap", {}).get("z") for record in records)
            for null in nulls
        ]
        share = mean_of(record["projections"]["error_share"] for record in records)
        norms = [
            mean_of(record["projections"][key] for record in records) for key in ("log10_phi", "log10_output")
        ]
        rows.append(
            [f"{layer}.{head}", *(_figure(x) for x in (*values, *z, share, *norms)), records[0]["verdict"]]
        )
    header = [
        "head", *labels, *(f"z, {NULL_BY_KEY[null].label}" for null in nulls),
        "error share", "log₁₀ ‖φ‖²", "log₁₀ ‖h‖²",
        "verdict" if whole.samples == 1 else "verdict on the first input",
    ]  # fmt: skip
    return _table(header, rows, words=1)
