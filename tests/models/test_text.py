"""Text is read from where the person put it, and never cut silently."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.errors import GramscopeError
from explorer.models.text import SAMPLES, TextReader
from explorer.params import Input
from tests.models.test_attention_calls import CPU, opened

WHOLE = ("input_ids", "attention_mask", "token_type_ids", "inputs_embeds")


@pytest.fixture
def bare() -> TextReader:
    """A reader without a tokenizer."""
    return TextReader(None, 99, 10, WHOLE)


@pytest.fixture(scope="session")
def words(minilm: Path) -> TextReader:
    """The reader of the real MiniLM."""
    reader = opened(minilm).reader
    assert isinstance(reader, TextReader)
    return reader


def test_tokens_are_what_was_typed_with_capitals(words: TextReader) -> None:
    prepared = words.read(Input(text="The Tokenization of GRAPHENE."))
    assert [token.text for token in prepared.tokens] == [
        "[CLS]", "The", "Token", "ization", "of", "GRAPH", "ENE", ".", "[SEP]",
    ]  # fmt: skip
    assert set(prepared.arguments) == {"input_ids", "attention_mask", "token_type_ids"}
    assert prepared.truncated_from is None and prepared.notes == ()


def test_long_text_is_cut_and_says_so(words: TextReader) -> None:
    prepared = words.read(Input(text="word " * 3000))
    assert prepared.truncated_from == 3002
    assert len(prepared.tokens) == prepared.arguments["input_ids"].shape[1] == 512
    assert prepared.tokens[-1].text == "[SEP]"
    assert prepared.notes == (
        "The input has 3,002 tokens and the model reads at most 512: the first 512 are shown.",
    )


def test_text_beyond_memory_is_cut_and_says_so(words: TextReader) -> None:
    prepared = words.read(Input(text="word " * 100), limit=20)
    assert len(prepared.tokens) == 20 and prepared.truncated_from == 102
    assert "memory allows 20" in prepared.notes[0]


def test_absurdly_long_text_is_not_tokenised_whole(
    words: TextReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.models.text.LONGEST", 50)
    prepared = words.read(Input(text="word " * 100))
    assert len(prepared.tokens) == 12
    assert prepared.notes == ("Only the first 50 of 500 characters were read.",)


@pytest.mark.parametrize("text", [" ", "\n\t", "\u200b"])
def test_empty_text_is_refused(words: TextReader, text: str) -> None:
    with pytest.raises(GramscopeError, match=r"The text is empty|no token"):
        words.read(Input(text=text))


def test_samples_are_there_and_counted_round(words: TextReader) -> None:
    assert words.count(Input()) == len(SAMPLES)
    first = [token.text for token in words.read(Input(index=0)).tokens]
    assert first == [token.text for token in words.read(Input(index=len(SAMPLES))).tokens]
    assert first != [token.text for token in words.read(Input(index=1)).tokens]


def test_a_file_gives_a_line_each(words: TextReader, tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("the cat\n\nthe dog\n", encoding="utf-8")
    assert words.count(Input(path=str(path))) == 2
    assert words.read(Input(path=str(path), index=1)).tokens[2].text == "dog"


def test_without_a_tokenizer_numbers_are_typed(bare: TextReader) -> None:
    assert "type" in bare.missing[0]
    prepared = bare.read(Input(text="12, 7 9"))
    assert prepared.arguments["input_ids"].tolist() == [[12, 7, 9]]
    assert [token.text for token in prepared.tokens] == ["12", "7", "9"]
    assert len(bare.read(Input()).tokens) == 10
    with pytest.raises(GramscopeError, match="without a tokenizer"):
        bare.read(Input(text="the cat"))


@pytest.mark.parametrize("number", ["99", "-1", "9" * 30])
def test_numbers_outside_the_vocabulary_are_refused(bare: TextReader, number: str) -> None:
    with pytest.raises(GramscopeError, match=r"outside the model's vocabulary|without a tokenizer"):
        bare.read(Input(text=number))


@pytest.mark.parametrize("suffix", [".npy", ".pt"])
def test_tensor_files_are_numbers_or_embeddings(bare: TextReader, tmp_path: Path, suffix: str) -> None:
    def saved(values: np.ndarray) -> Input:
        path = tmp_path / f"a{suffix}"
        np.save(path, values) if suffix == ".npy" else torch.save(torch.from_numpy(values), path)
        return Input(path=str(path))

    assert bare.read(saved(np.array([3, 4]))).arguments["input_ids"].tolist() == [[3, 4]]
    assert bare.read(saved(np.array([[3, 4]]))).arguments["input_ids"].tolist() == [[3, 4]]
    assert bare.read(saved(np.zeros((4, 32), np.float32))).arguments["inputs_embeds"].shape == (1, 4, 32)
    assert bare.read(saved(np.zeros((1, 4, 32), np.float32))).arguments["inputs_embeds"].shape == (1, 4, 32)
    assert bare.read(saved(np.zeros((30, 32), np.float32))).truncated_from == 30
    for wrong in (np.zeros((2, 3, 4, 5), np.float32), np.zeros(0, np.int64), np.zeros((2, 2), np.int64)):
        with pytest.raises(GramscopeError, match="is no text"):
            bare.read(saved(wrong))


def test_embeddings_run_through_a_model(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(5, 32)).astype(np.float32))
    capture = opened(tiny("bert")).capture([2], Input(path=str(tmp_path / "a.npy")), CPU)
    assert capture.head(2, 0).q.shape == (5, 8)


@pytest.mark.parametrize("name", ["roberta", "mpnet", "opt", "gpt2", "bert", "llama"])
def test_the_longest_input_that_is_allowed_runs(name: str, tiny: Callable[[str], Path]) -> None:
    source = opened(tiny(name))
    capture = source.capture([0], Input(text=" ".join(["9"] * 500)), CPU)
    assert capture.truncated_from == 500
    expected = {"roberta": 38, "mpnet": 38, "bert": 40}
    assert len(capture.tokens) == expected.get(name, 64)
