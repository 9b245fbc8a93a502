"""Words of a text exchanged, masked or deleted before a model reads it: seeded, nested, whole words.

It is done to the tokens that the clean text has, so that those of the other words stay the same and each
token of the changed text knows its own place in the clean one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.base import Token
from explorer.models.prepared import Prepared
from explorer.params import Change


@dataclass(frozen=True, slots=True)
class Mask:
    """What stands in the place of a masked token.

    Attributes
    ----------
    number : int
        In the model's vocabulary.
    text : str
    note : str
        What it is, where the model has no mask token; else empty.
    """

    number: int
    text: str
    note: str = ""


def words_of(tokens: Sequence[Token]) -> list[list[int]]:
    """Return the places of each word's tokens; special tokens belong to none."""
    words: list[list[int]] = []
    inside = False
    for place, token in enumerate(tokens):
        if not token.special and inside and not token.word_start:
            words[-1].append(place)
        elif not token.special:
            words.append([place])
        inside = not token.special
    return words


def change_words(prepared: Prepared, change: Change, mask: Mask) -> Prepared:
    """Change words of a text that was made ready.

    Parameters
    ----------
    change : Change
        "swap": a share of the words changes places, in random pairs of as many tokens each, so that all
        others stay where they are (Wei and Zou 2019, random swap). "mask": every token of a share of the
        words becomes the mask token. "delete": a share of the words is gone, and the rest moves up.
    mask : Mask

    Returns
    -------
    Prepared
        `changed` and `origin` say what has happened to each token.

    Raises
    ------
    GramscopeError
        If the input is no token numbers.
    """
    if "input_ids" not in prepared.arguments:
        raise GramscopeError("An input of embeddings holds no words to change. Type a text instead.")
    words = words_of(prepared.tokens)
    order = np.random.default_rng(change.seed).permutation(len(words)).tolist()
    if change.kind == "swap":
        pairs = _pairs(prepared, words, order)[: round(change.level * len(words) / 2)]
        return _swapped(prepared, pairs)
    hit = [place for word in order[: round(change.level * len(words))] for place in words[word]]
    return _masked(prepared, hit, mask) if change.kind == "mask" else _without(prepared, hit)


def _pairs(prepared: Prepared, words: list[list[int]], order: list[int]) -> list[tuple[list[int], list[int]]]:
    """Pair words of as many tokens, and different ones, in a random order that no level changes."""
    ids = prepared.arguments["input_ids"][0].tolist()
    waiting = [words[word] for word in order]
    pairs = []
    while waiting:
        one = waiting.pop(0)
        for other in waiting:
            if len(other) == len(one) and [ids[i] for i in other] != [ids[i] for i in one]:
                waiting.remove(other)
                pairs.append((one, other))
                break
    return pairs


def _swapped(prepared: Prepared, pairs: list[tuple[list[int], list[int]]]) -> Prepared:
    ids, tokens = prepared.arguments["input_ids"].clone(), list(prepared.tokens)
    for pair in pairs:
        for a, b in zip(*pair, strict=True):
            ids[0, [a, b]] = ids[0, [b, a]]
            first, second = tokens[a], tokens[b]
            tokens[a] = replace(second, word_start=first.word_start)
            tokens[b] = replace(first, word_start=second.word_start)
    return _with(prepared, ids, tokens, [place for pair in pairs for word in pair for place in word])


def _masked(prepared: Prepared, hit: list[int], mask: Mask) -> Prepared:
    ids, tokens = prepared.arguments["input_ids"].clone(), list(prepared.tokens)
    for place in hit:
        ids[0, place] = mask.number
        tokens[place] = Token(mask.text, word_start=tokens[place].word_start)
    changed = _with(prepared, ids, tokens, hit)
    return replace(changed, notes=(*changed.notes, mask.note)) if mask.note and hit else changed


def _with(prepared: Prepared, ids: Tensor, tokens: list[Token], hit: list[int]) -> Prepared:
    """Return the input with other token numbers in some places."""
    return replace(
        prepared,
        arguments={**prepared.arguments, "input_ids": ids},
        tokens=tuple(tokens),
        changed=tuple(place in set(hit) for place in range(len(tokens))),
        text=_spelled(tokens) if hit else prepared.text,
    )


def _without(prepared: Prepared, hit: list[int]) -> Prepared:
    left = [place for place in range(len(prepared.tokens)) if place not in set(hit)]
    if not hit:
        return replace(prepared, changed=(False,) * len(left))
    if not left:
        raise GramscopeError("No word of the text is left. Type a longer one, or lower the level.")
    tokens = [prepared.tokens[place] for place in left]
    at = torch.tensor(left)
    return replace(
        prepared,
        arguments={name: values[:, at] for name, values in prepared.arguments.items()},
        tokens=tuple(tokens),
        changed=(False,) * len(left),
        origin=tuple(left),
        text=_spelled(tokens),
    )


def _spelled(tokens: Sequence[Token]) -> str:
    """Return the text as its tokens spell it, one space between words."""
    words = ("".join(tokens[place].text for place in word) for word in words_of(tokens))
    return " ".join(words)
