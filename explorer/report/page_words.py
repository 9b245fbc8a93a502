"""What was asked for, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import shorten

from explorer.maths.evidence_draws import Draws
from explorer.maths.evidence_names import FAMILIES, NULL_BY_KEY
from explorer.report.plan import Checkpoint
from explorer.report.whole import Whole

LONGEST = 300
"""Letters of an input; the files beside the page have all of them."""


def parameters_in_words(whole: Whole) -> list[str]:
    """Return a sentence for each thing that was asked for; `report.json` has the same as numbers."""
    asked, first = whole.parameters(), whole.units[0]
    heads = "all of each layer" if first.heads is None else runs_of(first.heads)
    return [
        *_checkpoints(whole.checkpoints),
        *_inputs(asked["inputs"]),
        f"Layers: {runs_of(asked['layers'])}",
        f"Heads: {heads}",
        f"Device: {_devices(whole)}",
        *_draws(first.draws),
        f"Untrained: {_untrained(first.untrained)}",
    ]


DEVICES = {"cpu": "the processor", "cuda": "CUDA", "mps": "Apple's GPU"}


def _devices(whole: Whole) -> str:
    """Name what computed, which the device that was asked for need not be."""
    used = sorted({record["device"] for record in whole.records})
    return ", ".join(DEVICES.get(name, name) for name in used)


def _checkpoints(checkpoints: Sequence[Checkpoint]) -> Iterator[str]:
    if len(checkpoints) == 1:
        only = checkpoints[0]
        yield f"Checkpoint: {only.label}{_place(only)}"
        return
    for member in checkpoints:
        yield f"Checkpoint at step {member.step}: {member.label}{_place(member)}"


def _place(checkpoint: Checkpoint) -> str:
    return f", {checkpoint.path}" if "/" in checkpoint.path or "\\" in checkpoint.path else ""


def _inputs(inputs: Sequence[str]) -> Iterator[str]:
    for place, text in enumerate(inputs):
        number = "" if len(inputs) == 1 else f" {place}"
        yield f"Input{number}: {shorten(text, LONGEST, placeholder=' …')}"


def _draws(draws: Draws) -> Iterator[str]:
    if not draws.nulls:
        yield "Drawn nulls: none"
        return
    yield f"Drawn nulls: {', '.join(NULL_BY_KEY[null].label for null in draws.nulls)}"
    costly = ", ".join(FAMILIES[family] for family in draws.families)
    rest = f"; {draws.costly} of the costly measures ({costly})" if costly and draws.costly else ""
    yield f"Draws of each: {draws.cheap} of overlap and linear CKA{rest}; seed {draws.seed}"


def _untrained(times: int) -> str:
    if not times:
        return "no re-initialised model"
    return (
        f"the architecture re-initialised {times} {'time' if times == 1 else 'times'}, each head of it a draw"
    )


def runs_of(numbers: Sequence[int]) -> str:
    """Write numbers with what follows each other joined: "0 to 5, 8"."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
