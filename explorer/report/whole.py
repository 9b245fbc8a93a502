"""All units together: what the page, the tables and the JSON are made from."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer import __version__
from explorer.maths.evidence_names import BY_KEY, MEASURES, NULLS
from explorer.maths.evidence_scores import Spread, spread_over_heads
from explorer.maths.evidence_verdict import DECISIVE, sentences_on_heads
from explorer.report.compute import Record, plain, shown_input
from explorer.report.plan import Checkpoint, Unit
from explorer.report.work import Done

Array = NDArray[np.float64]
PACKAGES = ("torch", "numpy", "scipy", "transformers")


@dataclass(frozen=True, eq=False)
class Whole:
    """Everything that a report says.

    Attributes
    ----------
    units : sequence of Unit
        All that were asked for.
    records : sequence of dict
        Those that are done, in order.
    failures : sequence of Done
    created : str
        When, in UTC.
    """

    units: Sequence[Unit]
    records: Sequence[Record]
    failures: Sequence[Done]
    created: str

    @property
    def name(self) -> str:
        """What was measured, for a heading."""
        labels = [checkpoint.label for checkpoint in self.checkpoints]
        return labels[0] if len(labels) == 1 else f"{labels[0]} … {labels[-1]} ({len(labels)} checkpoints)"

    @cached_property
    def checkpoints(self) -> list[Checkpoint]:
        """The series, in order."""
        return list(dict.fromkeys(unit.checkpoint for unit in self.units))

    @cached_property
    def last(self) -> Checkpoint:
        """The last checkpoint that has records: the one that maps and tables show."""
        done = {record["checkpoint"] for record in self.records}
        return [checkpoint for checkpoint in self.checkpoints if checkpoint.label in done][-1]

    @cached_property
    def samples(self) -> int:
        """How many inputs there are numbers of."""
        return len({record["sample"] for record in self.records})

    def heads(
        self, checkpoint: Checkpoint | None = None, distinct: bool = False
    ) -> dict[tuple[int, int], list[Record]]:
        """Group head records by layer and head, one for each sample that is done.

        Parameters
        ----------
        checkpoint : Checkpoint or None
            None: the last.
        distinct : bool
            One query head for each key head only, for what depends on keys and values alone.
        """
        label = (checkpoint or self.last).label
        found: dict[tuple[int, int], list[Record]] = {}
        for record in self.records:
            if record["checkpoint"] != label:
                continue
            seen = set()
            for head in record["heads"]:
                if not distinct or head["key_head"] not in seen:
                    seen.add(head["key_head"])
                    found.setdefault((record["layer"], head["head"]), []).append(head)
        return found

    def nulls(self) -> list[str]:
        """Keys of the nulls that were drawn, in order."""
        drawn = {null for record in self.records for head in record["heads"] for null in head["nulls"]}
        return [null.key for null in NULLS if null.key in drawn]

    def missing(self) -> dict[str, str]:
        """Return why nulls were not drawn."""
        reasons = {null: reason for record in self.records for null, reason in record["missing"].items()}
        return {null: reason for null, reason in reasons.items() if null not in self.nulls()}

    def notes(self) -> list[str]:
        """Return what a person must know, each once."""
        notes = dict.fromkeys(note for record in self.records for note in record["notes"])
        return [*notes, *self._too_short()]

    def _too_short(self) -> Iterator[str]:
        """Say how many of several inputs can tell nothing of overlap, and pull its means towards 0."""
        short = {record["sample"] for record in self.records if record["tokens"] - 1 <= record["width"]}
        if short and self.samples > 1:
            width = self.records[0]["width"]
            yield (
                f"{len(short)} of {self.samples} inputs have {width + 1} tokens or fewer: there the column "
                f"spaces of any values agree, overlap is 1 and its z is 0, which means over inputs count in."
            )

    def spread(self, null: str, measure: str, checkpoint: Checkpoint | None = None) -> Spread:
        """Return how heads are distributed against a null.

        Over several inputs a head's z is its mean, and its p twice the mean of its p, which is valid however
        the inputs depend on each other.
        """
        label = (checkpoint or self.last).label
        if (label, null, measure) not in self._spreads:
            self._spreads[label, null, measure] = self._spread(null, measure, checkpoint)
        return self._spreads[label, null, measure]

    @cached_property
    def _spreads(self) -> dict[tuple[str, str, str], Spread]:
        return {}

    def _spread(self, null: str, measure: str, checkpoint: Checkpoint | None) -> Spread:
        z, p, below, draws, most = [], [], [], 0, 0
        for heads in self.heads(checkpoint, distinct=True).values():
            scores = [
                head["nulls"][null][measure] for head in heads if measure in head["nulls"].get(null, {})
            ]
            if scores:
                z.append(mean_of(score["z"] for score in scores))
                p.append(_combined([score["p"] for score in scores]))
                below.append(_combined([score["p_below"] for score in scores]))
                draws, most = scores[0]["draws"], max(most, len(scores))
        return spread_over_heads(z, p, below, draws, combined=most > 1)

    @cached_property
    def verdict(self) -> str:
        """What the numbers of the last checkpoint say, in words; of a head that is alone, its own too."""
        if not self.records:
            return ""
        heads = [record for each in self.heads(distinct=True).values() for record in each]
        return " ".join([*self.sentences, *(head["verdict"] for head in heads if len(heads) == 1)])

    @cached_property
    def sentences(self) -> list[str]:
        """The verdict's sentences, the conclusion last."""
        overlap = {null: self.spread(null, "overlap") for null in self.nulls()}
        others = {
            null: {key: self.spread(null, key) for key in BY_KEY if key != "overlap"}
            for null in overlap if null in DECISIVE
        }  # fmt: skip
        return sentences_on_heads(overlap, self.missing(), others)

    def parameters(self) -> dict[str, Any]:
        """Return what was asked for."""
        first = self.units[0]
        inputs = {unit.sample: shown_input(unit) for unit in self.units}
        return {
            "checkpoints": [checkpoint.path for checkpoint in self.checkpoints],
            "inputs": [inputs[sample] for sample in sorted(inputs)],
            "layers": sorted({unit.layer for unit in self.units}),
            "heads": "all" if first.heads is None else list(first.heads),
            "device": first.device,
            "draws": asdict(first.draws),
            "untrained": first.untrained,
        }

    def document(self) -> dict[str, Any]:
        """Return every number, for JSON."""
        spreads = {
            checkpoint.label: {
                null: {
                    measure.key: plain(asdict(self.spread(null, measure.key, checkpoint)))
                    for measure in MEASURES
                }
                for null in self.nulls()
            }
            for checkpoint in self.checkpoints
        }
        return {
            "format": 1,
            "created": self.created,
            "versions": versions(),
            "parameters": self.parameters(),
            "measures": {measure.key: asdict(measure) for measure in MEASURES},
            "nulls": {null.key: asdict(null) for null in NULLS},
            "verdict": self.verdict,
            "notes": self.notes(),
            "missing": self.missing(),
            "over_heads": spreads,
            "failures": [{"unit": done.unit.name, "failure": done.failure} for done in self.failures],
            "units": list(self.records),
        }


def assemble(units: Sequence[Unit], records: Sequence[Record], failures: Sequence[Done]) -> Whole:
    """Put records together, stamped with the time."""
    return Whole(units, records, failures, datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))


def placed(unit: Unit, record: Record) -> Record:
    """Give a record its place in this report, which may not be the one it was computed for."""
    return {
        **record,
        "sample": unit.sample,
        "checkpoint": unit.checkpoint.label,
        "step": unit.checkpoint.step,
    }


def versions() -> dict[str, str]:
    """Return what computed the numbers."""
    found = {"gramscope": __version__, "python": platform.python_version()}
    return found | {package: metadata.version(package) for package in PACKAGES}


def number_of(value: float | None) -> float:
    """Return a record's number, NaN for what was none."""
    return float("nan") if value is None else value


def mean_of(values: Iterator[float | None]) -> float:
    """Mean of a record's numbers, NaN if any is none."""
    return float(np.mean([number_of(value) for value in values]))


def _combined(p: Sequence[float | None]) -> float:
    return min(1.0, (2 if len(p) > 1 else 1) * mean_of(iter(p)))


def column(heads: dict[tuple[int, int], list[Record]], pick: Callable[[Record], float | None]) -> Array:
    """Return one figure a head, its mean over samples."""
    return np.array([mean_of(pick(head) for head in each) for each in heads.values()])
