"""Choose how a model's input is made ready, from what its folder holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from explorer.errors import GramscopeError
from explorer.models.configs import refuse_remote_code
from explorer.models.images import ImageReader
from explorer.models.loading import Loaded
from explorer.models.offline import transformers
from explorer.models.patience import read_through
from explorer.models.pictures import Preprocessing
from explorer.models.prepared import Reader
from explorer.models.readable import OPENS, not_shown
from explorer.models.safety import read_json
from explorer.models.text import TextReader

TOKENIZER_FILES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "spm.model",
)
TRIAL = "a 漢 ∑ zqx"
LARGEST_SIDE = 8192
"""Pixels."""


def positions_of(loaded: Loaded) -> int | None:
    """Return the most tokens that the model can read; None where positions are relative.

    RoBERTa and MPNet count positions from behind the padding index.
    """
    if loaded.config.model_type == "t5":
        return None
    table: Any = getattr(getattr(loaded.body, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    most = getattr(loaded.config, "max_position_embeddings", None)
    return most if most is None or padding is None else most - padding - 1


def tokenizer_of(folder: Path) -> Any:
    """Return the folder's tokenizer; None if it has none.

    Raises
    ------
    GramscopeError
        If its files are damaged or ask for remote code.
    """
    if not any((folder / name).exists() for name in TOKENIZER_FILES):
        return None
    settings = folder / "tokenizer_config.json"
    if settings.exists():
        refuse_remote_code(read_json(settings), settings.name)
    try:
        for path in filter(Path.is_file, (folder / name for name in TOKENIZER_FILES)):
            read_through(path)
        tokenizer = transformers("models.auto.tokenization_auto").AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        tokenizer(TRIAL, return_special_tokens_mask=True)  # some faults show in use only
        return tokenizer
    except Exception as error:  # each tokenizer raises what it likes
        raise GramscopeError(
            f"The tokenizer in {folder.name} cannot be read. Download its files again, or remove them to "
            "type token numbers instead.",
            str(error),
        ) from error


def preprocessing_of(folder: Path, config: Any) -> Preprocessing | None:
    """Return what the folder says of images; None if it says nothing.

    Raises
    ------
    GramscopeError
        If it makes no sense.
    """
    path = folder / "preprocessor_config.json"
    if not path.exists():
        return None
    settings = read_json(path)
    size = config.image_size
    try:
        found = Preprocessing.from_settings(settings, (size, size) if isinstance(size, int) else tuple(size))
        _try(found)
        return found
    except Exception as error:  # whatever stands in the file is put to use
        raise GramscopeError(
            f"{path.name} makes no sense. Download it again, or remove it for the stated default.", str(error)
        ) from error


def _try(preprocessing: Preprocessing) -> None:
    """Raise whatever comes of using settings that make no sense."""
    sides = (*(preprocessing.size or ()), *(preprocessing.crop or ()), preprocessing.shortest or 1)
    if not all(type(side) is int and 0 < side <= LARGEST_SIDE for side in sides):
        raise ValueError(f"sizes of {sides} pixels")
    Image.Resampling(preprocessing.resample)
    values = preprocessing.normalise(preprocessing.frame(np.zeros((8, 8, 3), np.uint8)))
    if values.shape[1] != 3 or not values.isfinite().all():
        raise ValueError("the mean or the standard deviation suit no picture")


def _refuse_without(folder: Path, loaded: Loaded, settings: Sequence[str], tokens: str) -> None:
    missing = [name for name in settings if getattr(loaded.config, name, None) is None]
    if missing:
        why = f"its config gives no {missing[0]}, so its tokens are not {tokens}"
        raise not_shown(folder.name, type(loaded.model), why)


def reader_for(folder: Path, loaded: Loaded) -> Reader:
    """Return what makes inputs ready for a model.

    Raises
    ------
    GramscopeError
        If the model reads neither text nor images.
    """
    reads = loaded.body.main_input_name
    if reads == "input_ids":
        _refuse_without(folder, loaded, ("vocab_size",), "words of a vocabulary")
        return TextReader(
            tokenizer_of(folder), loaded.config.vocab_size, positions_of(loaded), loaded.arguments
        )
    if reads == "pixel_values":
        _refuse_without(folder, loaded, ("image_size", "patch_size"), "the patches of a picture")
        return ImageReader(loaded.config, preprocessing_of(folder, loaded.config))
    raise GramscopeError(
        f"{folder.name} ({type(loaded.model).__name__}) reads {reads}: only models of text and of images can "
        f"be shown. {OPENS}"
    )
