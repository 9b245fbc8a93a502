"""Tokens as a person should read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from explorer.models.base import Token

SPACES = {" ": "␣", "\n": "⏎", "\t": "⇥", "\r": "←"}
CONTINUED = "…"
"""Shown for a token that holds only further bytes of a character shown before."""


@cache
def _bytes_of_characters() -> dict[str, int]:
    """Return what byte each character of GPT-2's byte-level alphabet stands for.

    Printable bytes of Latin-1 stand for themselves, the others for the characters from 256 on
    (Radford et al. 2019, the released encoder).
    """
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + i): byte for i, byte in enumerate(others)}


def _shown(text: str) -> str:
    """Return text without the space before it; white space alone as visible signs."""
    return text.strip() or "".join(SPACES.get(sign, sign) for sign in text) or "␣"


def readable(piece: str) -> tuple[str, bool]:
    """Turn a vocabulary entry back into text.

    Parameters
    ----------
    piece : str
        WordPiece ("##ing"), SentencePiece ("▁the", "<0x0A>") or byte-level BPE ("Ġthe").

    Returns
    -------
    (str, bool)
        The text, and whether a word starts there.
    """
    if byte := re.fullmatch(r"<0x([0-9A-F]{2})>", piece):
        return _shown(chr(int(byte[1], 16))), False
    if piece.startswith("##") and len(piece) > 2:
        return piece[2:], False
    if "▁" in piece:
        return _shown(piece.replace("▁", " ")), piece.startswith("▁")
    table = _bytes_of_characters()
    if all(sign in table for sign in piece):
        text = bytes(table[sign] for sign in piece).decode("utf-8", errors="replace")
        return _shown(text), text[:1].isspace()
    return _shown(piece), True


def tokens_from_offsets(
    text: str, pieces: Sequence[str], offsets: Sequence[tuple[int, int]], special: Sequence[bool]
) -> tuple[Token, ...]:
    """Read tokens off the text that the person typed, capitals and all.

    Parameters
    ----------
    text : str
    pieces : sequence of str, length N
        Vocabulary entries, for tokens that stand for no part of the text.
    offsets : sequence of (int, int), length N
        First and one past last character of each token.
    special : sequence of bool, length N
    """
    tokens, reached = [], 0
    for piece, (begin, end), is_special in zip(pieces, offsets, special, strict=True):
        if is_special:
            tokens.append(Token(piece, special=True))
        elif begin == end or piece == "▁":
            tokens.append(Token(readable(piece)[0], word_start=False))
        else:
            spaced = begin == 0 or text[begin - 1].isspace() or text[begin].isspace()
            new = text[max(begin, reached) : end]
            tokens.append(Token(_shown(new) if new else CONTINUED, word_start=spaced and begin >= reached))
            reached = end
    return tuple(tokens)


def tokens_from_pieces(pieces: Sequence[str], special: Sequence[bool]) -> tuple[Token, ...]:
    """Read tokens off the vocabulary alone, for tokenizers that do not say where each came from."""
    tokens = []
    for piece, is_special in zip(pieces, special, strict=True):
        text, starts = (piece, True) if is_special else readable(piece)
        tokens.append(Token(text, special=is_special, word_start=starts))
    return tuple(tokens)


def patch_tokens(
    grid: tuple[int, int], before: Sequence[str] = (), after: Sequence[str] = ()
) -> tuple[Token, ...]:
    """Return the tokens of an image: special ones, then patches row by row, then special ones."""
    rows, columns = grid
    patches = [Token(f"{r},{c}", patch=(r, c)) for r in range(rows) for c in range(columns)]
    return (
        *(Token(name, special=True) for name in before),
        *patches,
        *(Token(name, special=True) for name in after),
    )
