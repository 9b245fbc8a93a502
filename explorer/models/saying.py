"""What a model is asked, and what it says: a class, the next token, a masked one, or an embedding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from explorer.answers import Kind
from explorer.errors import GramscopeError
from explorer.models.base import ShouldStop, Source, Token, never
from explorer.models.digits import DigitsSource
from explorer.models.huggingface import HuggingFaceSource
from explorer.models.model_heads import head_of
from explorer.models.prepared import Prepared
from explorer.models.vit_source import StateDictSource
from explorer.params import Input

Speaker = HuggingFaceSource | StateDictSource


@dataclass(frozen=True, eq=False)
class Question:
    """What a model is asked about one input.

    Attributes
    ----------
    kind : str
    words : str
        The question, as in "the masked token, in the place of “cat”".
    say : callable
        Runs the model: probabilities (C,) that add up to 1, or an embedding (C,).
    name : callable
        Names an answer by its number.
    truth : int or None
        The number of the true answer, where it is known.
    place : int or None
        The masked token.
    note : str
        Why nothing better can be asked; empty: it can.
    """

    kind: Kind
    words: str
    say: Callable[[torch.device], Tensor]
    name: Callable[[int], str] = str
    truth: int | None = None
    place: int | None = None
    note: str = ""


def ask(
    source: Source,
    input: Input,
    device: torch.device,
    place: int | None = None,
    clean: Question | None = None,
    should_stop: ShouldStop = never,
) -> Question:
    """Make the best question that a model's own head answers.

    Parameters
    ----------
    place : int or None
        The token to mask, of a masked language model; None: one in the middle.
    clean : Question or None
        What was asked of the clean input, where this one is contaminated: the same is asked.

    Raises
    ------
    GramscopeError
        If the source is no model, or the input does not suit it.
    Stopped
        If `should_stop` said so while the input was attacked.
    """
    if isinstance(source, StateDictSource):
        return _of_vit(source, input, source.prepare(input, device, should_stop))
    if not isinstance(source, HuggingFaceSource):
        raise GramscopeError(
            "These are heads without a model around them: nothing is said. Open a checkpoint or the sample."
        )
    prepared = source.prepare(source.layers, input, device, should_stop)
    says = None if source.loaded.headless else head_of(type(source.loaded.model).__name__)
    config = source.loaded.model.config
    if config.is_encoder_decoder or says is None:
        return _embedding(source, prepared, _why_embedding(source))
    if says == "classes":
        return _classes(source, prepared)
    return _next(source, prepared) if says == "next" else _masked(source, prepared, place, clean)


def _of_vit(source: StateDictSource, input: Input, prepared: Prepared) -> Question:
    values = prepared.arguments["pixel_values"]
    if not source.model.config.classes:
        return Question(
            "embedding", "its embedding (the class token, or the mean of the patches)", _embed(source, values)
        )
    digits = isinstance(source, DigitsSource)

    def say(device: torch.device) -> Tensor:
        return _probabilities(source.logits(values, device)[0])

    return Question(
        "classes", "which digit it shows" if digits else "which class it shows", say,
        name=str if digits else "class {}".format, truth=source.label(input),
    )  # fmt: skip


def _embed(source: StateDictSource, values: Tensor) -> Callable[[torch.device], Tensor]:
    def say(device: torch.device) -> Tensor:
        model = source.model.to(device)
        x = model.norm(model.run(values.to(device, model.pos_embed.dtype)))[0]
        return (x[0] if model.config.class_token else x.mean(0)).double().cpu()

    return say


def _probabilities(logits: Tensor) -> Tensor:
    return logits.double().cpu().softmax(-1)


def _why_embedding(source: HuggingFaceSource) -> str:
    if source.loaded.headless:
        return "The file lacks the weights of the model's head, so its embedding is compared."
    return "This model has no head that names anything, so its embedding is compared."


def _embedding(source: HuggingFaceSource, prepared: Prepared, note: str) -> Question:
    """Compare embeddings: the class token of an image, or the mean over the patches, or a text's tokens."""
    image = source.kind == "image"
    classed = image and prepared.tokens[0].special

    def say(device: torch.device) -> Tensor:
        x = source.run(prepared, device).last_hidden_state[0].double().cpu()
        return x[0] if classed else x.mean(0)

    mean = f"the mean over the {'patches' if image else 'tokens'}"
    words = f"its embedding ({'the class token' if classed else mean})"
    return Question("embedding", words, say, note=note)


def _classes(source: HuggingFaceSource, prepared: Prepared) -> Question:
    config = source.loaded.model.config
    if config.num_labels < 2 or config.problem_type in ("regression", "multi_label_classification"):
        return _embedding(source, prepared, "Its head names no single class, so its embedding is compared.")
    names = config.id2label

    def name(number: int) -> str:
        text = str(names.get(number, number))
        return f"class {number}" if text in (f"LABEL_{number}", str(number)) else text.split(",")[0]

    def say(device: torch.device) -> Tensor:
        return _probabilities(source.run(prepared, device, whole=True).logits[0])

    return Question("classes", "which class it is", say, name)


def _next(source: HuggingFaceSource, prepared: Prepared) -> Question:
    def say(device: torch.device) -> Tensor:
        return _probabilities(source.run(prepared, device, whole=True).logits[0, -1])

    return Question("next", "the next token after the last one", say, _token_names(source))


def _masked(
    source: HuggingFaceSource, prepared: Prepared, place: int | None, clean: Question | None
) -> Question:
    mask = getattr(_tokenizer(source), "mask_token_id", None)
    if mask is None or "input_ids" not in prepared.arguments:
        return _embedding(
            source,
            prepared,
            "Without its tokenizer the mask token is not known, so its embedding is compared.",
        )
    if clean is not None:
        return _masked_again(source, prepared, clean, mask)
    ids = prepared.arguments["input_ids"][0]
    at = _typed_mask(ids, mask) if place is None else place
    at = _middle(prepared.tokens) if at is None else min(at, len(ids) - 1)
    truth = int(ids[at])
    hidden = f", in the place of “{prepared.tokens[at].text}”" if truth != mask else ""
    return Question(
        "masked", f"the masked token {at}{hidden}", _masked_at(source, prepared, at, mask, insert=False),
        _token_names(source), None if truth == mask else truth, at,
    )  # fmt: skip


def _masked_again(source: HuggingFaceSource, prepared: Prepared, clean: Question, mask: int) -> Question:
    """Ask for the same token in a text of which some words are others, or gone."""
    assert clean.place is not None
    origin = prepared.origin or tuple(range(len(prepared.tokens)))
    at = next((j for j, place in enumerate(origin) if place >= clean.place), len(origin) - 1)
    say = _masked_at(source, prepared, at, mask, insert=origin[at] != clean.place)
    return replace(clean, say=say, place=at)


def _masked_at(
    source: HuggingFaceSource, prepared: Prepared, at: int, mask: int, insert: bool
) -> Callable[[torch.device], Tensor]:
    """Put the mask in the place of a token, or before it where its word is gone."""
    rest = at if insert else at + 1
    arguments = {
        name: torch.cat([values[:, :at], values[:, at : at + 1], values[:, rest:]], 1)
        for name, values in prepared.arguments.items()
    }
    arguments["input_ids"][:, at] = mask
    asked = replace(prepared, arguments=arguments)

    def say(device: torch.device) -> Tensor:
        return _probabilities(source.run(asked, device, whole=True).logits[0, at])

    return say


def _typed_mask(ids: Tensor, mask: int) -> int | None:
    typed = (ids == mask).nonzero().flatten().tolist()
    return typed[0] if typed else None


def _middle(tokens: tuple[Token, ...]) -> int:
    """Return a whole word in the middle, or what else there is."""
    plain = [i for i, token in enumerate(tokens) if not token.special] or list(range(len(tokens)))
    words = [i for i in plain if tokens[i].text.isalpha() and tokens[i].word_start] or plain
    return words[len(words) // 2]


def _tokenizer(source: HuggingFaceSource) -> object | None:
    return getattr(source.reader, "tokenizer", None)


def _token_names(source: HuggingFaceSource) -> Callable[[int], str]:
    tokenizer = _tokenizer(source)

    def name(number: int) -> str:
        text = str(tokenizer.decode([number])) if tokenizer is not None else f"token {number}"  # type: ignore[attr-defined]
        return text.strip() or repr(text)

    return name
