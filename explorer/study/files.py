"""A study as files: every run, accuracies and comparisons as CSV, everything as JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from explorer import __version__
from explorer.study.table import Answers, cells, comparisons
from explorer.study.words import sentences

PROGRAM = f"Gramscope {__version__}"


def contents(answers: Answers) -> dict[str, str]:
    """Return the contents of each file by its name; a CSV begins with the version and the setting."""
    accuracies = [_row(asdict(cell)) for cell in cells(answers)]
    compared = comparisons(answers)
    differences = [_row(asdict(comparison)) for comparison in compared]
    setting = asdict(answers.setting)
    about = f"# {PROGRAM}\n# parameters {json.dumps(setting, ensure_ascii=False)}\n"
    document = {
        "program": PROGRAM,
        "setting": setting,
        "levels": {kind: answers.setting.levels_of(kind) for kind in answers.setting.kinds},
        "images": answers.images,
        "chance": answers.chance,
        "done": len(answers.right),
        "wanted": answers.wanted,
        "notes": answers.notes,
        "says": sentences(compared),
        "accuracies": accuracies,
        "comparisons": differences,
    }
    return {
        "runs.csv": about + _csv(_runs(answers)),
        "accuracies.csv": about + _csv(accuracies),
        "comparisons.csv": about + _csv(differences),
        "study.json": json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False),
    }


def _runs(answers: Answers) -> Iterable[dict[str, Any]]:
    """One row a model, kind, level and seed."""
    for (model, kind, level, seed), right in answers.right.items():
        yield {
            "row": model.row, "training": model.training, "kind": kind, "level": level, "seed": seed,
            "right": int(right.sum()), "images": len(right), "accuracy": float(right.mean()),
        }  # fmt: skip


def _row(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as files hold them: the mean over levels by name, nothing where there is no number."""
    plain = {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in values.items()
    }
    return plain | ({"level": "mean"} if plain["level"] is None else {})


def _csv(rows: Iterable[Mapping[str, Any]]) -> str:
    listed = list(rows)
    text = io.StringIO()
    if listed:
        writer = csv.DictWriter(text, listed[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(listed)
    return text.getvalue()
