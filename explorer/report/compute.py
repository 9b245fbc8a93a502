"""One unit: open, capture, measure, and the numbers as a record that JSON can hold."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer.devices import choose
from explorer.models.base import Capture, ShouldStop, Source, never
from explorer.report.collect import Drawn, layer_evidence
from explorer.report.layer import LayerEvidence
from explorer.report.plan import CONTROLS, SAMPLE, Checkpoint, Unit

Record = dict[str, Any]


def open_checkpoint(path: str, heads: int | None = None) -> Source:
    """Open a checkpoint by its path, or the built-in "controls" or "sample".

    Parameters
    ----------
    heads : int or None
        How many there are, where the file does not say.

    Raises
    ------
    GramscopeError
        If nothing can be made of it.
    """
    if path == CONTROLS:
        from explorer.models.controls import ControlSource

        return ControlSource()
    if path == SAMPLE:
        from explorer.models.digits import sample_source

        return sample_source()
    from explorer.models.open import open_path

    return open_path(path, heads=heads)


def untrained_of(source: Source, count: int) -> tuple[Source, ...]:
    """Return the architecture re-initialised `count` times; none where the source cannot do it."""
    again = getattr(source, "untrained", None)
    return tuple(again(seed) for seed in range(count)) if again else ()


@dataclass
class Desk(threading.local):
    """What a thread keeps open between units: one checkpoint and the captures of one forward pass.

    Attributes
    ----------
    lent : dict of Checkpoint to Source
        Sources that are open already; they are used, and never closed.
    drawn : dict of str to Drawn, or None
        What was drawn of units, by their keys without nulls, so that asking for one null more draws that one
        alone; None: nothing is kept.
    """

    lent: Mapping[Checkpoint, Source] = field(default_factory=dict)
    drawn: dict[str, Drawn] | None = None
    checkpoint: Checkpoint | None = None
    source: Source | None = None
    untrained: tuple[Source, ...] = ()
    captured: tuple[object, ...] = ()
    captures: tuple[Capture, ...] = ()

    def open(self, checkpoint: Checkpoint) -> Source:
        """Return the checkpoint's source, opened unless it is already."""
        if self.source is None or self.checkpoint != checkpoint:
            self.close()
            self.source = self.lent.get(checkpoint) or open_checkpoint(checkpoint.path, checkpoint.head_count)
            self.checkpoint = checkpoint
        return self.source

    def capture(self, unit: Unit, should_stop: ShouldStop) -> tuple[Capture, ...]:
        """Return the captures of the unit's group of layers: the checkpoint's, then the untrained ones."""
        source = self.open(unit.checkpoint)
        if len(self.untrained) != unit.untrained:
            self.untrained = untrained_of(source, unit.untrained)
        device = choose(unit.device)
        wanted = (unit.input, unit.group, device, unit.untrained)
        if self.captured != wanted:
            sources = (source, *self.untrained)
            self.captures = tuple(s.capture(unit.group, unit.input, device, should_stop) for s in sources)
            self.captured = wanted
        return self.captures

    def drawn_of(self, unit: Unit) -> Drawn:
        """Return what is drawn of a unit already, to be used again and added to."""
        return {} if self.drawn is None else self.drawn.setdefault(unit.without_nulls.key, {})

    def close(self) -> None:
        """Let go of everything."""
        own = () if self.checkpoint in self.lent else (self.source,)
        for source in (*own, *self.untrained):
            if source is not None:
                source.close()
        self.checkpoint = self.source = None
        self.untrained, self.captured, self.captures = (), (), ()


DESK = Desk()


def compute(unit: Unit, should_stop: ShouldStop = never, desk: Desk = DESK) -> Record:
    """Compute one unit.

    Raises
    ------
    GramscopeError
        If the checkpoint or the input does not suit.
    Stopped
        If `should_stop` said so.
    """
    *_, record = stages(unit, should_stop, desk)
    return record


def stages(unit: Unit, should_stop: ShouldStop = never, desk: Desk = DESK) -> Generator[Record, None, None]:
    """Compute one unit, first without nulls, then again with each null added; raises as `compute`."""
    start = time.perf_counter()
    capture, *untrained = desk.capture(unit, should_stop)
    drawn = desk.drawn_of(unit)
    for layer in layer_evidence(capture, unit.layer, unit.heads, unit.draws, untrained, should_stop, drawn):
        yield {
            "checkpoint": unit.checkpoint.label,
            "step": unit.checkpoint.step,
            "sample": unit.sample,
            "input": shown_input(unit),
            "layer": unit.layer,
            "tokens": layer.tokens,
            "width": layer.width,
            "device": choose(unit.device).type,
            "notes": list(layer.notes),
            "missing": dict(layer.missing),
            "seconds": time.perf_counter() - start,
            "heads": [head_record(layer, head) for head in layer.heads],
        }


def shown_input(unit: Unit) -> str:
    """Return the input as a table shows it."""
    given = unit.input
    if given.text:
        return given.text
    return f"{given.path} [{given.index}]" if given.path else f"built-in sample {given.index}"


def head_record(layer: LayerEvidence, head: int) -> Record:
    """Return every number of one query head; what is not a number is None."""
    place = layer.heads.index(head)
    row = layer.rows[place]
    found = layer.evidence
    return plain(
        {
            "head": head,
            "key_head": layer.key_heads[row],
            "measures": {key: figures[row] for key, figures in found.measures.items()},
            "nulls": {
                null: {key: _score(layer, null, key, row) for key in drawn}
                for null, drawn in layer.draws.items()
            },
            "projections": {key: figures[place] for key, figures in found.projections.items()},
            "norms": {key: figures[place] for key, figures in found.norms.items()},
            "spectra": {name: _rows(part, row) for name, part in found.spectra.items()},
            "gamma": {name: _rows(part, row) for name, part in found.gamma.items()},
            "health": _rows(found.health, row),
            "verdict": layer.verdict(head),
        }
    )


def _rows(part: Mapping[str, np.ndarray], row: int) -> dict[str, Any]:
    return {key: figures[row] for key, figures in part.items()}


def _score(layer: LayerEvidence, null: str, key: str, row: int) -> dict[str, Any]:
    scores = layer.scores(null, key)
    names = ("mean", "std", "z", "p", "p_below", "quantiles")
    return {name: getattr(scores, name)[row] for name in names} | {"draws": scores.draws}


def plain(value: Any) -> Any:
    """Turn arrays and numpy's numbers to lists and Python's, ten digits each; what is not finite to None."""
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float | np.floating):
        return float(f"{value:.10g}") if np.isfinite(value) else None
    return value
