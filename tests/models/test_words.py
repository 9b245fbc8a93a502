"""Words exchanged, masked and deleted: whole, seeded, nested, and said of each token."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.errors import GramscopeError
from explorer.models.base import Token
from explorer.models.prepared import Prepared
from explorer.models.readers import tokenizer_of
from explorer.models.text import TextReader
from explorer.models.words import Mask, change_words, words_of
from explorer.params import Change, Input, TextKind

KINDS = get_args(TextKind)
MASK = Mask(0, "[MASK]")
LENGTHS = st.lists(st.integers(1, 3), min_size=1, max_size=12)
LEVELS, SEEDS = st.floats(0, 0.5), st.integers(0, 1000)
SETTINGS = settings(deadline=None, max_examples=60)


def sentence(lengths: list[int]) -> Prepared:
    """Words of so many tokens, all different, between two special tokens."""
    tokens, ids = [Token("[CLS]", special=True)], [100]
    for word, length in enumerate(lengths):
        for part in range(length):
            tokens.append(Token(f"w{word}p{part}", word_start=part == 0))
            ids.append(len(ids))
    tokens.append(Token("[SEP]", special=True))
    ids.append(101)
    arguments = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids))}
    return Prepared(arguments, tuple(tokens), text="the text")


def ids_of(prepared: Prepared) -> list[int]:
    return prepared.arguments["input_ids"][0].tolist()


def hit(clean: Prepared, change: Change) -> set[int]:
    """The places in the clean text that a change has touched."""
    moved = change_words(clean, change, MASK)
    origin = moved.origin or range(len(clean.tokens))
    gone = set(range(len(clean.tokens))) - set(origin)
    return gone | {place for place, touched in zip(origin, moved.changed, strict=True) if touched}


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(lengths=LENGTHS, a=LEVELS, b=LEVELS, seed=SEEDS)
def test_raising_the_level_only_adds(
    kind: TextKind, lengths: list[int], a: float, b: float, seed: int
) -> None:
    clean, (low, high) = sentence(lengths), sorted((a, b))
    less, more = (hit(clean, Change(kind, level, seed)) for level in (low, high))
    assert less <= more
    before, after = (change_words(clean, Change(kind, level, seed), MASK) for level in (low, high))
    if kind != "delete":
        assert all(ids_of(before)[place] == ids_of(after)[place] for place in less)


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(lengths=LENGTHS, level=LEVELS, seed=SEEDS)
def test_words_are_hit_whole_and_special_tokens_never(
    kind: TextKind, lengths: list[int], level: float, seed: int
) -> None:
    clean = sentence(lengths)
    touched = hit(clean, Change(kind, level, seed))
    for word in words_of(clean.tokens):
        assert len(touched & set(word)) in (0, len(word))
    assert not touched & {0, len(clean.tokens) - 1}


@pytest.mark.parametrize("kind", ["mask", "delete"])
def test_the_share_is_of_words(kind: TextKind) -> None:
    clean = sentence([1, 2, 3] * 4)
    words = words_of(clean.tokens)
    touched = hit(clean, Change(kind, 0.25, 1))
    assert sum(set(word) <= touched for word in words) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_level_nought_changes_nothing(kind: TextKind) -> None:
    clean = sentence([1, 2, 1])
    moved = change_words(clean, Change(kind, 0.0), MASK)
    assert (ids_of(moved), moved.tokens, moved.text) == (ids_of(clean), clean.tokens, "the text")
    assert not any(moved.changed) and not moved.origin


def test_swapped_words_stand_in_each_others_place() -> None:
    clean = sentence([1] * 8 + [2])
    moved = change_words(clean, Change("swap", 0.25, 3), MASK)
    assert sorted(ids_of(moved)) == sorted(ids_of(clean))
    apart = [place for place, pair in enumerate(zip(ids_of(clean), ids_of(moved), strict=True))
             if pair[0] != pair[1]]  # fmt: skip
    assert len(apart) == 2 and moved.changed == tuple(place in apart for place in range(len(clean.tokens)))
    a, b = apart
    assert (moved.tokens[a].text, moved.tokens[b].text) == (clean.tokens[b].text, clean.tokens[a].text)
    assert moved.text.split()[a - 1] == clean.tokens[b].text


def test_equal_words_are_not_swapped() -> None:
    clean = sentence([1, 1])
    clean.arguments["input_ids"][0, 2] = clean.arguments["input_ids"][0, 1]
    assert not any(change_words(clean, Change("swap", 0.5), MASK).changed)


def test_masked_words_keep_their_number_of_tokens() -> None:
    clean = sentence([3, 1])
    both = [change_words(clean, Change("mask", 0.5, seed), MASK) for seed in range(8)]
    long = next(moved for moved in both if sum(moved.changed) == 3)
    assert [token.text for token in long.tokens][1:4] == ["[MASK]"] * 3
    assert ids_of(long)[1:4] == [0, 0, 0]
    assert long.text == "[MASK][MASK][MASK] w1p0"


def test_deleted_words_are_gone_from_every_argument() -> None:
    clean = sentence([1, 2, 1, 1])
    moved = change_words(clean, Change("delete", 0.5, 2), MASK)
    assert len(moved.tokens) == len(ids_of(moved)) == moved.arguments["attention_mask"].shape[1]
    assert len(moved.tokens) < len(clean.tokens)
    assert [clean.tokens[place] for place in moved.origin] == list(moved.tokens)
    assert not any(moved.changed)


def test_embeddings_hold_no_words() -> None:
    clean = Prepared({"inputs_embeds": torch.zeros(1, 3, 4)}, tuple(map(Token, "abc")))
    with pytest.raises(GramscopeError, match="no words"):
        change_words(clean, Change("swap", 0.5), MASK)


def test_a_tokenizer_masks_by_its_own_token(minilm: Path) -> None:
    reader = TextReader(tokenizer_of(minilm), 30522, 256, ("input_ids", "attention_mask"))
    text = "The uncontaminated graphene street is wide."
    moved = reader.read(Input(text=text, change=Change("mask", 0.5, 1)))
    assert len(moved.tokens) == len(reader.read(Input(text=text)).tokens)
    masked = [token.text for token, touched in zip(moved.tokens, moved.changed, strict=True) if touched]
    assert masked and set(masked) == {"[MASK]"}
    assert not moved.notes


def test_a_stand_in_for_the_mask_is_stated() -> None:
    bare = TextReader(None, 100, None, ("input_ids",))
    moved = bare.read(Input(text="5 6 7 8", change=Change("mask", 0.5, 1)))
    assert ids_of(moved).count(0) == 2
    assert any("stands in" in note for note in moved.notes)


def test_pixels_of_text_are_refused() -> None:
    bare = TextReader(None, 100, None, ("input_ids",))
    with pytest.raises(GramscopeError, match="“blur” cannot be done to text"):
        bare.read(Input(text="5 6", change=Change("blur", 1.0)))
