"""Text made ready for a model: typed, from a file with a line each, or a built-in sample."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.base import Kind, Token
from explorer.models.batch import TENSORS, count_entries, cut_note, entry_of, read_line, read_tensor
from explorer.models.prepared import Prepared
from explorer.models.tokens import tokens_from_offsets, tokens_from_pieces
from explorer.models.words import Mask, change_words
from explorer.params import ENTERS, Input

SAMPLES = (
    "The animal did not cross the street because it was too tired. The street was wide, and the old dog had "
    "walked all day along the river with the children, who wanted to see the ships before the rain came.",
    "Principal component analysis finds the directions along which data vary most; self-attention weighs "
    "every token by how well its key answers a query.",
    "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer the slings and "
    "arrows of outrageous fortune, or to take arms against a sea of troubles.",
)
LONGEST = 2_000_000
"""Characters; what lies beyond is not even tokenised."""


class TextReader:
    """Reads text for one model.

    Parameters
    ----------
    tokenizer : object or None
        transformers' tokenizer; None: numbers are typed instead of words.
    vocabulary : int
        How many token numbers the model knows.
    positions : int or None
        The most tokens that the model can read.
    arguments : collection of str
        What the model's forward accepts.
    """

    kind: Kind = "text"
    samples: int = len(SAMPLES)

    def __init__(
        self, tokenizer: Any, vocabulary: int, positions: int | None, arguments: Collection[str]
    ) -> None:
        self.tokenizer, self.vocabulary, self.arguments = tokenizer, vocabulary, arguments
        own = getattr(tokenizer, "model_max_length", None)
        limits = [n for n in (positions, own) if n is not None and 0 < n < 10**9]
        self.positions = min(limits, default=None)
        self.missing: tuple[str, ...] = (
            () if tokenizer else ("a tokenizer: token numbers are typed instead of text",)
        )

    def count(self, input: Input) -> int:
        """How many lines the input's files have; without any, the built-in samples."""
        return count_entries(input.files) if input.files else self.samples

    def read(self, input: Input, limit: int | None = None) -> Prepared:
        """Prepare a text.

        Parameters
        ----------
        limit : int or None
            The most tokens that memory allows; the model's own limit holds besides.

        Raises
        ------
        GramscopeError
            If the text is empty, or the file or the input's change does not suit.
        """
        change = input.change
        if change is not None and ENTERS[change.kind] != "text":
            raise GramscopeError(
                f"“{change.kind}” cannot be done to text. Swap, mask or delete words instead."
            )
        prepared = self._read(input, limit)
        return prepared if change is None else change_words(prepared, change, self.mask)

    @property
    def mask(self) -> Mask:
        """What stands in the place of a masked token: the tokenizer's own, or a stated stand-in."""
        for name in ("mask", "unk"):
            number = getattr(self.tokenizer, f"{name}_token_id", None)
            if number is not None and 0 <= number < self.vocabulary:
                text = str(getattr(self.tokenizer, f"{name}_token"))
                stands = f"This model has no mask token: “{text}”, its unknown token, stands in for it."
                return Mask(number, text, "" if name == "mask" else stands)
        return Mask(0, "0", "No mask token is known for this model: token number 0 stands in for it.")

    def _read(self, input: Input, limit: int | None) -> Prepared:
        most = min((n for n in (limit, self.positions) if n is not None), default=None)
        text, note = input.text, ""
        if input.files:
            path, index = entry_of(input.files, input.index)
            if path.suffix.lower() in TENSORS:
                return self._from_tensor(read_tensor(path), most)
            text, note = read_line(path, index), cut_note(path)
        text = text or self._sample(input)
        if not text.strip():
            raise GramscopeError("The text is empty. Type at least one word.")
        if self.tokenizer is None:
            prepared = self._from_tensor(self._typed_numbers(text), most)
        else:
            prepared = self._tokenised(text, most)
        return replace(prepared, notes=(note, *prepared.notes)) if note else prepared

    def _sample(self, input: Input) -> str:
        if self.tokenizer is not None:
            return SAMPLES[input.index % self.samples]
        draw = np.random.default_rng(input.index)
        return " ".join(map(str, draw.integers(0, self.vocabulary, 32)))

    def _typed_numbers(self, text: str) -> Tensor:
        try:
            return torch.tensor([int(word) for word in text.replace(",", " ").split()])
        except (ValueError, RuntimeError, OverflowError) as error:
            raise GramscopeError(
                "This model came without a tokenizer, so text cannot be read. Put the tokenizer's files "
                "beside its weights, or type token numbers, as 12 7 99."
            ) from error

    def _cut(self, prepared: Prepared, total: int) -> Prepared:
        """Say so if an input of `total` tokens was cut."""
        shown = len(prepared.tokens)
        if shown == total:
            return prepared
        whose = "the model reads at most" if shown == self.positions else "memory allows"
        note = f"The input has {total:,} tokens and {whose} {shown:,}: the first {shown:,} are shown."
        return replace(prepared, truncated_from=total, notes=(*prepared.notes, note))

    def _tokenised(self, text: str, most: int | None) -> Prepared:
        notes = []
        if len(text) > LONGEST:
            notes.append(f"Only the first {LONGEST:,} of {len(text):,} characters were read.")
            text = text[:LONGEST]
        options = {"return_special_tokens_mask": True, "return_offsets_mapping": self.tokenizer.is_fast}
        encoded = self.tokenizer(text, **options)
        total = len(encoded["input_ids"])
        if not total or all(encoded["special_tokens_mask"]):
            raise GramscopeError("The tokenizer finds no token in this text. Type another.")
        if most is not None and total > most:
            encoded = self.tokenizer(text, truncation=True, max_length=most, **options)
        ids = encoded["input_ids"]
        self._refuse_unknown(ids)
        pieces = self.tokenizer.convert_ids_to_tokens(ids)
        special = [bool(flag) for flag in encoded["special_tokens_mask"]]
        if self.tokenizer.is_fast:
            tokens = tokens_from_offsets(text, pieces, encoded["offset_mapping"], special)
        else:
            tokens = tokens_from_pieces(pieces, special)
        wanted = [name for name in encoded if name in self.arguments]
        arguments = {name: torch.tensor([encoded[name]]) for name in wanted}
        return self._cut(Prepared(arguments, tokens, notes=tuple(notes), text=text), total)

    def _refuse_unknown(self, ids: list[int]) -> None:
        if not all(0 <= number < self.vocabulary for number in ids):
            raise GramscopeError(
                f"A token number is outside the model's vocabulary of {self.vocabulary:,}: the tokenizer "
                "beside the weights belongs to another model, or a typed number is too large."
            )

    def _from_tensor(self, values: Tensor, most: int | None) -> Prepared:
        """Take token numbers (N,) or (1, N), or embeddings (N, C) or (1, N, C)."""
        whole = values.is_floating_point()
        values = values[0] if values.ndim == 2 + whole and len(values) == 1 else values
        if values.ndim != 1 + whole or not len(values) or (whole and "inputs_embeds" not in self.arguments):
            raise GramscopeError(
                f"A tensor of shape {tuple(values.shape)} and type {values.dtype} is no text. Token numbers "
                "are integers of shape (N,), embeddings floats of shape (N, width)."
            )
        shown = values[:most]
        if whole:
            name, tokens = "inputs_embeds", tuple(Token(str(number)) for number in range(len(shown)))
        else:
            name, tokens = "input_ids", self._named(shown.long().tolist())
        return self._cut(Prepared({name: shown[None] if whole else shown[None].long()}, tokens), len(values))

    def _named(self, ids: list[int]) -> tuple[Token, ...]:
        self._refuse_unknown(ids)
        if self.tokenizer is None:
            return tuple(Token(str(number)) for number in ids)
        special = set(self.tokenizer.all_special_ids)
        pieces = self.tokenizer.convert_ids_to_tokens(ids)
        return tokens_from_pieces(pieces, [number in special for number in ids])
