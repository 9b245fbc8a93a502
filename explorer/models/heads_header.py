"""What a file of captured heads says besides the heads: whose they are, and how their tokens read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from explorer import __version__
from explorer.errors import GramscopeError
from explorer.models.base import Capture, Token

KEY = "gramscope"
"""Name of the header, in a safetensors file's own one or as an array of one string in an .npz."""
IMAGE = "image"


@dataclass(frozen=True, eq=False)
class Header:
    """Everything of a `Capture` but its layers; empty where the file does not say.

    Attributes
    ----------
    ours : bool
        Whether `save_heads` wrote the file, so that its axes are known.
    """

    ours: bool = False
    name: str = ""
    tokens: tuple[Token, ...] = ()
    grid: tuple[int, int] | None = None
    truncated_from: int | None = None
    notes: tuple[str, ...] = ()
    text: str = ""
    image: np.ndarray | None = None

    @classmethod
    def of(cls, entries: Mapping[str, Any]) -> Header:
        """Read it from a file's entries: our own header, or plain "tokens".

        Raises
        ------
        GramscopeError
            If it makes no sense.
        """
        try:
            return cls._parse(entries)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise GramscopeError(
                "The file's description of its heads is damaged. Export them again, or remove it.", str(error)
            ) from error

    @classmethod
    def _parse(cls, entries: Mapping[str, Any]) -> Header:
        image = entries.get(IMAGE)
        if KEY not in entries:
            return cls(tokens=tuple(Token(text) for text in _texts(entries.get("tokens"))))
        said = json.loads(entries[KEY])
        return cls(
            ours=True,
            name=str(said["name"]),
            tokens=tuple(
                Token(str(text), bool(special), _pair(patch), bool(starts))
                for text, special, patch, starts in said["tokens"]
            ),
            grid=_pair(said["grid"]),
            truncated_from=None if said["truncated_from"] is None else int(said["truncated_from"]),
            notes=tuple(map(str, said["notes"])),
            text=str(said["text"]),
            image=image.numpy() if isinstance(image, Tensor) else None,
        )


def header_text(capture: Capture, name: str) -> str:
    """Write everything of a capture but its layers and its image as JSON."""
    said = {
        "program": f"Gramscope {__version__}",
        "name": name,
        "tokens": [(token.text, token.special, token.patch, token.word_start) for token in capture.tokens],
        "grid": capture.grid,
        "truncated_from": capture.truncated_from,
        "notes": capture.notes,
        "text": capture.text,
    }
    return json.dumps(said, ensure_ascii=False)


def _pair(value: Any) -> tuple[int, int] | None:
    return None if value is None else (int(value[0]), int(value[1]))


def _texts(value: Any) -> list[str]:
    """Return token texts from a list, or from the JSON of one."""
    found = json.loads(value) if isinstance(value, str) else value
    return [str(text) for text in found] if isinstance(found, list | tuple) else []
