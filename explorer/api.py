"""One call each for notebooks: open a checkpoint, capture a head, make a report. No Qt."""

from __future__ import annotations

from explorer.devices import choose
from explorer.models.base import Head, Source
from explorer.params import Input
from explorer.report.compute import open_checkpoint
from explorer.report.run import run_report as make_report

__all__ = ["capture_head", "make_report", "open_checkpoint"]


def capture_head(
    source: Source, layer: int, head: int, input: Input | str = "", *, device: str = "auto"
) -> Head:
    """Run an input and return one query head, with the key head that serves it.

    Parameters
    ----------
    source : Source
        From `open_checkpoint`.
    layer, head : int
        True numbers, from 0.
    input : Input or str
        A text, or an `Input` for files and built-in samples; empty: the built-in sample.
    device : str
        "auto", "cpu", "cuda" or "mps".

    Raises
    ------
    GramscopeError
        If the input does not suit the model.
    """
    given = Input(text=input) if isinstance(input, str) else input
    return source.capture([layer], given, choose(device)).head(layer, head)
