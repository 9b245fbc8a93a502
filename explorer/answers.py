"""What a model says by one attention and by another, on clean and on contaminated input; numpy alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.errors import GramscopeError

Array = NDArray[np.float64]
Attention = Literal["rpc", "symmetric", "scaled", "pcp"]
Kind = Literal["classes", "next", "masked", "embedding"]
"""Of what is said: a class, the next token, a masked token, or a vector where the model has no such head."""

ATTENTIONS: dict[Attention, str] = {
    "rpc": "RPC",
    "symmetric": "symmetric softmax",
    "scaled": "scaled attention",
    "pcp": "exact PCP",
}
WHERE = ("first layer", "this layer", "all layers")


@dataclass(frozen=True, slots=True)
class Exchange:
    """Which attention takes the place of the model's own, and where.

    Attributes
    ----------
    attention : str
    layers : tuple of int
        True numbers.
    s : float
        Of scaled attention, for all heads alike.
    """

    attention: Attention
    layers: tuple[int, ...]
    s: float = 0.5


@dataclass(frozen=True, eq=False)
class Answer:
    """What the model says once.

    Attributes
    ----------
    names : tuple of str
        The likeliest answers, the likeliest first; of few classes all, in their own order.
    probabilities : ndarray, shape (len(names),)
    truth : float or None
        Probability of the true answer, where it is known.
    cosine : float or None
        Of the embedding with that of clean softmax, where the model has no head.
    """

    names: tuple[str, ...]
    probabilities: Array
    truth: float | None = None
    cosine: float | None = None

    @property
    def best(self) -> str:
        """The likeliest answer; empty for an embedding."""
        return self.names[int(self.probabilities.argmax())] if self.names else ""


@dataclass(frozen=True, eq=False)
class Answers:
    """The same question four times.

    Attributes
    ----------
    kind : str
    question : str
        What the model was asked, in words.
    exchange : str
        Which attention is in which layers, in words.
    contamination : str
        What was contaminated, in words; empty: nothing.
    label : str
        What the checkpoint was trained with, and what that means for the comparison.
    notes : tuple of str
        Sentences that the person must know.
    true : str or None
        The true answer's name.
    answers : dict of (bool, bool) to Answer
        By (contaminated, exchanged), as far as they are known.
    """

    kind: Kind
    question: str
    exchange: str
    contamination: str
    label: str
    notes: tuple[str, ...]
    true: str | None
    answers: dict[tuple[bool, bool], Answer]

    @property
    def wanted(self) -> int:
        """How many answers there will be."""
        return 4 if self.contamination else 2


@dataclass(frozen=True, eq=False)
class AnswerCurve:
    """How sure the model stays as the level rises.

    Attributes
    ----------
    levels : ndarray, shape (m,)
    softmax, exchanged : ndarray, shape (seeds, m)
        NaN where not computed yet.
    measure : str
        What they are: "probability of “7”, the true class", "cosine with …".
    seconds : float or None
        How long what is missing will take, where that can be told.
    """

    levels: Array
    softmax: Array
    exchanged: Array
    measure: str
    seconds: float | None = None

    @property
    def done(self) -> int:
        """How many points of both curves are known."""
        return int(np.isfinite(self.softmax).sum() + np.isfinite(self.exchanged).sum())

    @property
    def wanted(self) -> int:
        """How many there will be."""
        return 2 * self.softmax.size


def parse_layers(text: str, count: int, this: int, first: int = 0) -> tuple[int, ...]:
    """Read which layers are meant: one of `WHERE`, or numbers and ranges as "0, 3-5".

    Parameters
    ----------
    count : int
        Layers are `first` to count − 1.
    this : int
        The layer that the window shows.

    Raises
    ------
    GramscopeError
        If it says none, one that is not there, or nothing that can be read.
    """
    named = {WHERE[0]: (first,), WHERE[1]: (this,), WHERE[2]: tuple(range(first, count))}
    if text in named:
        return named[text]
    found: set[int] = set()
    for part in filter(None, re.split(r"[,;\s]+", re.sub(r"\s*[-–]\s*", "-", text.strip()))):
        match = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part)
        if match is None:
            raise GramscopeError(f"“{part}” names no layer. Type numbers and ranges, as 0, 3-5.")
        low, high = int(match[1]), int(match[2] or match[1])
        if not first <= low <= high < count:
            raise GramscopeError(f"“{part}” is not there: the layers are {first} to {count - 1}.")
        found.update(range(low, high + 1))
    if not found:
        raise GramscopeError("Type which layers are exchanged, as 0, 3-5.")
    return tuple(sorted(found))


def layers_in_words(layers: tuple[int, ...], count: int) -> str:
    """Return layers as a person writes them: "all layers", "layer 2", "layers 0, 3–5"."""
    if len(layers) == count:
        return "all layers" if count > 1 else f"layer {layers[0]}"
    runs: list[list[int]] = []
    for layer in layers:
        if runs and layer == runs[-1][-1] + 1:
            runs[-1].append(layer)
        else:
            runs.append([layer])
    written = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
    return f"layer{'s' if len(layers) > 1 else ''} {written}"
