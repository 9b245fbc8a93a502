"""The numbers as tables of comma-separated values, one row a head, a comparison or a column of V*."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from explorer import __version__
from explorer.report.compute import Record
from explorer.report.whole import Whole

PLACE = ("checkpoint", "step", "sample", "layer", "head", "key_head")


def tables(whole: Whole) -> dict[str, str]:
    """Return the contents of each table by file name; what made them stands first, behind “# ”."""
    rows = {
        "heads.csv": _heads(whole),
        "nulls.csv": _nulls(whole),
        "columns.csv": _columns(whole),
        "tokens.csv": _tokens(whole),
        "eigenvalues.csv": _eigenvalues(whole),
    }
    about = f"# Gramscope {__version__}\n# parameters {json.dumps(whole.parameters())}\n"
    return {name: about + _text(each) for name, each in rows.items()}


def _text(rows: Iterator[dict[str, Any]]) -> str:
    listed = list(rows)
    buffer = io.StringIO()
    if listed:
        writer = csv.DictWriter(buffer, listed[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(listed)
    return buffer.getvalue()


def _each(whole: Whole) -> Iterator[tuple[dict[str, Any], Record]]:
    for record in whole.records:
        place = {name: record[name] for name in PLACE[:4]}
        for head in record["heads"]:
            yield {**place, "head": head["head"], "key_head": head["key_head"]}, head


def _heads(whole: Whole) -> Iterator[dict[str, Any]]:
    """One row a head: measures, errors, norms, spectra, health and the verdict."""
    for place, head in _each(whole):
        spectra = {
            f"{name}_{key}": figure
            for name, part in head["spectra"].items()
            for key, figure in part.items()
            if not isinstance(figure, list)
        }
        parts = {**head["measures"], **head["projections"], **spectra, **head["health"]}
        yield {**place, **parts, "verdict": head["verdict"]}


def _nulls(whole: Whole) -> Iterator[dict[str, Any]]:
    """One row a head, null and measure."""
    for place, head in _each(whole):
        for null, by_measure in head["nulls"].items():
            for measure, score in by_measure.items():
                low, lower, median, upper, high = score["quantiles"]
                figures = {key: score[key] for key in ("mean", "std", "z", "p", "p_below", "draws")}
                quantiles = {"q2.5": low, "q25": lower, "q50": median, "q75": upper, "q97.5": high}
                value = {"value": head["measures"][measure]}
                yield {**place, "null": null, "measure": measure, **value, **figures, **quantiles}


def _columns(whole: Whole) -> Iterator[dict[str, Any]]:
    """One row a head and column d: both readings of the γ test."""
    for place, head in _each(whole):
        learned, solver = head["gamma"]["learned"], head["gamma"]["eigenvectors"]
        for d in range(len(learned["relative_mean"])):
            row = {f"learned_{key}": figures[d] for key, figures in learned.items()}
            row |= {
                f"eigenvectors_{key}": figures[d] if d < len(figures) else None
                for key, figures in solver.items()
            }
            yield {**place, "column": d, **row}


def _tokens(whole: Whole) -> Iterator[dict[str, Any]]:
    """One row a head and token: log₁₀ of the squared norms."""
    for place, head in _each(whole):
        norms = head["norms"]
        for token, (phi, output) in enumerate(zip(norms["phi"], norms["output"], strict=True)):
            yield {**place, "token": token, "log10_phi2": phi, "log10_output2": output}


def _eigenvalues(whole: Whole) -> Iterator[dict[str, Any]]:
    """One row a head and component: log₁₀ of the eigenvalues of both Gram matrices."""
    for place, head in _each(whole):
        both = {f"log10_{name}": part["log10_values"] for name, part in head["spectra"].items()}
        for component, figures in enumerate(zip(*both.values(), strict=True)):
            yield {**place, "component": component, **dict(zip(both, figures, strict=True))}
