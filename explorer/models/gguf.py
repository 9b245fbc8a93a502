"""GGUF files, through transformers' own support."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from explorer.errors import GramscopeError, Stopped
from explorer.models.attention_calls import register
from explorer.models.base import ShouldStop, never
from explorer.models.checkpoint import refuse_not_finite
from explorer.models.gguf_header import GgufHeader, read_header
from explorer.models.huggingface import HuggingFaceSource
from explorer.models.loading import Loaded, refuse_larger, watch
from explorer.models.offline import transformers
from explorer.models.patience import read_through
from explorer.models.readable import refuse_unreadable, refuse_without_heads
from explorer.models.readers import positions_of
from explorer.models.safety import Progress, refuse_empty_file, silent
from explorer.models.text import TextReader

NEEDED = ("gguf", "accelerate")


def _refuse_without_packages() -> None:
    lacking = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if lacking:
        raise GramscopeError(
            f"GGUF files need {' and '.join(NEEDED)}; {' and '.join(lacking)} cannot be found: "
            "run  pip install 'gramscope[gguf]'  and start again."
        )


def _refuse_deep(path: Path, config: Any, header: GgufHeader) -> None:
    if config.num_hidden_layers > header.blocks:
        raise GramscopeError(
            f"{path.name} is to be a model of {config.num_hidden_layers:,} layers, and holds the tensors of "
            f"{header.blocks}: it is damaged. Copy it again."
        )


def _load(path: Path, header: GgufHeader) -> Loaded:
    place: dict[str, Any] = {"gguf_file": path.name, "local_files_only": True}
    config = transformers("models.auto.configuration_auto").AutoConfig.from_pretrained(path.parent, **place)
    _refuse_deep(path, config, header)
    config.use_cache = False
    mapping = transformers("models.auto.modeling_auto").MODEL_FOR_CAUSAL_LM_MAPPING
    refuse_larger(mapping[type(config)], config, header.widest, header.stored)
    model, info = mapping[type(config)].from_pretrained(
        path.parent, config=config, dtype="auto", attn_implementation=register(), output_loading_info=True,
        quantization_config=transformers().GgufConfig(dequantize=True), **place,
    )  # fmt: skip
    return watch(model, info)


@contextmanager
def _watching(path: Path, should_stop: ShouldStop, progress: Progress) -> Iterator[None]:
    """Report the bytes of the tensors unpacked, where transformers would draw a bar in the terminal.

    It makes the table of tensors' names anew for every module of the model, which takes most of the time
    for many layers; here it is made once.
    """
    names: Any = importlib.import_module("gguf")
    unpacking = transformers("modeling_gguf_pytorch_utils")

    def each(tensors: Sequence[Any], **_: Any) -> Iterator[Any]:
        done, total = 0, sum(int(tensor.n_bytes) for tensor in tensors)
        for tensor in tensors:
            if should_stop():
                raise Stopped
            yield tensor
            done += int(tensor.n_bytes)
            progress(done, total, f"reading {path.name}")

    bar, table = unpacking.tqdm, names.get_tensor_name_map
    unpacking.tqdm, names.get_tensor_name_map = each, cache(table)
    try:
        yield
    finally:
        unpacking.tqdm, names.get_tensor_name_map = bar, table


def _tokenizer(path: Path) -> Any:
    """Return the tokenizer in the file; None where it holds none that transformers can build."""
    try:
        return transformers("models.auto.tokenization_auto").AutoTokenizer.from_pretrained(
            path.parent, gguf_file=path.name, local_files_only=True, trust_remote_code=False
        )
    except Exception:  # each tokenizer raises what it likes; the reader states what stands in
        return None


def open_gguf(path: Path, should_stop: ShouldStop = never, progress: Progress = silent) -> HuggingFaceSource:
    """Open a GGUF file; quantised weights are unpacked.

    Parameters
    ----------
    progress : callable
        Told of bytes unpacked.

    Raises
    ------
    GramscopeError
        If packages are missing, or the file is damaged or of a family that transformers does not read.
    Stopped
        If `should_stop` said so.
    """
    refuse_empty_file(path)
    _refuse_without_packages()
    try:
        read_through(path, should_stop)
        header = read_header(path)
        with _watching(path, should_stop, progress):
            loaded = _load(path, header)
    except (GramscopeError, Stopped):
        raise
    except Exception as error:  # the parser of a damaged file raises what it likes
        raise GramscopeError(
            f"{path.name} cannot be read: it is damaged, or of a family that transformers does not "
            "read from GGUF.",
            f"{type(error).__name__}: {error}",
        ) from error
    refuse_without_heads(path.stem, loaded)
    for name, parameter in loaded.model.named_parameters():
        refuse_not_finite(name, parameter, path.name)
    reader = TextReader(_tokenizer(path), loaded.config.vocab_size, positions_of(loaded), loaded.arguments)
    source = HuggingFaceSource(path.stem, loaded, reader)
    refuse_unreadable(source, should_stop)
    return source
