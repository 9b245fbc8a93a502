"""Symbols and fillings of points by what their token is, or by one number a token."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtGui import QBrush, QColor

from explorer.result import Result
from explorer.ui.theme import scheme
from explorer.views.colouring import Colouring

SYMBOLS = ("o", "s", "t", "star", "p", "+", "h", "x")
FILLS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#5F6670")
"""For each of eight kinds a symbol, so that grey paper keeps them apart, and a colour (Okabe and Ito)."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """What each token is.

    Attributes
    ----------
    names : tuple of str
    of : ndarray of int, shape (N,)
    """

    names: tuple[str, ...]
    of: NDArray[np.intp]

    @property
    def symbols(self) -> list[str]:
        """Return the symbol of each token."""
        return [SYMBOLS[kind] for kind in self.of]

    @property
    def brushes(self) -> list[QBrush]:
        """Return the filling of each token."""
        return [fill(FILLS[kind]) for kind in self.of]


def kinds(result: Result) -> Kinds:
    """Tell tokens apart: by their label where they carry one (“12·3”), else special, word, piece or patch."""
    found = [_kind(result, row) for row in range(len(result.positions))]
    names = list(dict.fromkeys(found))
    if len(names) > len(SYMBOLS):
        names = [*sorted(names, key=found.count, reverse=True)[: len(SYMBOLS) - 1], "other"]
    place = {name: i for i, name in enumerate(names)}
    return Kinds(tuple(names), np.array([place.get(name, len(names) - 1) for name in found], np.intp))


def _kind(result: Result, row: int) -> str:
    if row >= len(result.tokens):
        return "token"
    token = result.tokens[row]
    label = re.fullmatch(r"\d+·(\w+)", token.text)
    if label is not None:
        return f"label {label[1]}"
    if token.special:
        return "special"
    if token.patch is not None:
        return "patch"
    return "word" if token.word_start else "piece of a word"


def shades(colours: Colouring) -> list[QBrush]:
    """Return the filling of each token by its number; the background where it has none."""
    table = _table(colours.signed)
    nothing = fill(scheme().background)
    return [table[place // 4] if place >= 0 else nothing for place in colours.indices.tolist()]


@cache
def fill(colour: str) -> QBrush:
    """Return one brush for each colour: points that share it share a rendered symbol."""
    return QBrush(QColor(colour))


@cache
def _table(signed: bool) -> tuple[QBrush, ...]:
    """Return 64 fillings along a colour map."""
    colours: pg.ColorMap = Colouring(np.zeros(1), "", "", signed).colours
    return tuple(QBrush(QColor(*rgb)) for rgb in colours.getLookupTable(nPts=64)[:, :3].tolist())
