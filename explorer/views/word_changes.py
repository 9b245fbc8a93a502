"""Which words of a contaminated text stand for which words of the clean one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from explorer.result import Result

CONTEXT = 3
"""How many lost words a note names."""


def notes(result: Result) -> dict[int, str]:
    """Return what stood in the clean text, in a phrase, by the row of each token that is not as it was.

    Words are what white space separates. Empty where the text is clean, or none.
    """
    if not result.clean_text or result.clean_text == result.text:
        return {}
    words = list(_words(result))
    old = result.clean_text.split()
    new = ["".join(result.tokens[row].text for row in rows) for rows in words]
    found: dict[int, str] = {}
    for (what, begin, end), (first, last) in _changes(old, new):
        if what == "delete" and first < len(words):
            found[words[first][0]] = f"before it stood {_quoted(old[begin:end])}"
        for word in range(first, last):
            one = old[begin + word - first : begin + word - first + 1]
            was = one if last - first == end - begin else old[begin:end]
            note = f"was {_quoted(was)}" if was else "new"
            found.update(dict.fromkeys(words[word], note))
    return found


def _changes(
    old: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[tuple[str, int, int], tuple[int, int]]]:
    before, after = ([word.casefold() for word in words] for words in (old, new))
    match = SequenceMatcher(None, before, after, autojunk=False)
    for what, begin, end, first, last in match.get_opcodes():
        if what != "equal":
            yield (what, begin, end), (first, last)


def _words(result: Result) -> Iterator[list[int]]:
    """Yield the rows of each word; special tokens are none, unless they stand in place of one."""
    word: list[int] = []
    for row, token in enumerate(result.tokens):
        replaced = bool(result.contaminated[row])
        starts = token.word_start or token.special
        if starts and word:
            yield word
            word = []
        if not token.special or replaced:
            word.append(row)
    if word:
        yield word


def _quoted(words: Sequence[str]) -> str:
    more = " …" if len(words) > CONTEXT else ""
    return f"‘{' '.join(words[:CONTEXT])}{more}’"
