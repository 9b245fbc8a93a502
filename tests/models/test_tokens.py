"""Tokens are shown as the person typed them, whichever alphabet the tokenizer thinks in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from explorer.models.text import TextReader
from explorer.models.tokens import patch_tokens, readable, tokens_from_pieces
from explorer.params import Input
from tests.models.conftest import transformers

CORPUS = ["the animal did not cross the street", "Das Mädchen läuft über die Straße", "naïve café 😀 ok"] * 3


@pytest.mark.parametrize(
    ("piece", "text", "starts"),
    [
        ("##ing", "ing", False),
        ("##", "##", False),
        ("the", "the", False),
        ("▁the", "the", True),
        ("▁", "␣", True),
        ("<0x0A>", "⏎", False),
        ("<0x41>", "A", False),
        ("Ġthe", "the", True),
        ("ĠmÃ¤d", "mäd", True),
        ("Ċ", "⏎", True),
        ("Ġ", "␣", True),
        ("日", "日", True),
    ],
)
def test_vocabulary_entries_become_text(piece: str, text: str, starts: bool) -> None:
    assert readable(piece) == (text, starts)


def test_half_a_character_is_shown_as_such() -> None:
    assert readable("Ã")[0] == "\ufffd"


def wordpiece() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(
        CORPUS, trainers.WordPieceTrainer(vocab_size=120, special_tokens=["[UNK]", "[CLS]", "[SEP]"])
    )
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return tokenizer


def byte_level() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, special_tokens=["<s>"])
    )
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer


def sentencepiece() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(
        CORPUS, trainers.UnigramTrainer(vocab_size=90, special_tokens=["<s>", "<unk>"], unk_token="<unk>")
    )
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $0", special_tokens=[("<s>", 0)])
    return tokenizer


def reader(make: Callable[[], Tokenizer], folder: Path) -> TextReader:
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=make(), cls_token="[CLS]", bos_token="<s>"
    )
    wrapped.save_pretrained(folder)
    loaded: Any = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    return TextReader(loaded, 10_000, None, ("input_ids",))


@pytest.mark.parametrize("make", [wordpiece, byte_level, sentencepiece])
@pytest.mark.parametrize("text", ["The animal läuft", "naïve  Straße.", "café über the Street"])
def test_tokens_spell_what_was_typed(make: Callable[[], Tokenizer], text: str, tmp_path: Path) -> None:
    shown = [token for token in reader(make, tmp_path).read(Input(text=text)).tokens if not token.special]
    letters = "".join(token.text for token in shown).translate({ord("␣"): None, ord("…"): None})
    assert letters == text.replace(" ", "")
    assert next(token for token in shown if token.text != "␣").word_start
    assert sum(token.word_start for token in shown if token.text != "␣") == len(text.split())


def test_a_character_of_several_tokens_starts_one_word(tmp_path: Path) -> None:
    prepared = reader(byte_level, tmp_path).read(Input(text="ok 🦆"))
    duck = next(number for number, token in enumerate(prepared.tokens) if token.text == "🦆")
    assert prepared.tokens[duck].word_start
    rest = prepared.tokens[duck + 1 :]
    assert rest and all(token.text == "…" and not token.word_start for token in rest)


def test_special_tokens_are_told_apart(tmp_path: Path) -> None:
    tokens = reader(wordpiece, tmp_path).read(Input(text="the street")).tokens
    assert [token.text for token in tokens if token.special] == ["[CLS]", "[SEP]"]
    assert tokens[0].special and not tokens[1].special


def test_pieces_without_places_are_read_from_the_vocabulary() -> None:
    tokens = tokens_from_pieces(["<s>", "▁stre", "et"], [True, False, False])
    assert [(token.text, token.special, token.word_start) for token in tokens] == [
        ("<s>", True, True),
        ("stre", False, True),
        ("et", False, False),
    ]


def test_patches_keep_their_places() -> None:
    tokens = patch_tokens((2, 3), ("[CLS]", "[DIST]"))
    assert [token.text for token in tokens[:3]] == ["[CLS]", "[DIST]", "0,0"]
    assert tokens[-1].patch == (1, 2) and len(tokens) == 8
    assert [token.special for token in tokens] == [True, True] + [False] * 6
