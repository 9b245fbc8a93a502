"""A model is asked what its own head answers, and nothing by a head that is not in its file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from explorer.errors import GramscopeError
from explorer.models.digits import sample_source
from explorer.models.saying import ask
from explorer.params import Change, Input
from tests.models.conftest import FAMILIES, transformers
from tests.models.test_attention_calls import CPU, IDS, opened
from tests.sources import FixedSource


def truth(folder: Path, name: str, arguments: dict[str, torch.Tensor]) -> Any:
    model = getattr(transformers, FAMILIES[name].model).from_pretrained(folder)
    with torch.no_grad():
        return model.eval()(**arguments).logits[0].double()


@pytest.mark.parametrize("name", ["gpt2", "llama", "opt", "gpt_neox"])
def test_the_next_token_is_what_the_untouched_model_says(name: str, tiny: Callable[[str], Path]) -> None:
    source = opened(tiny(name))
    question = ask(source, IDS, CPU)
    logits = truth(tiny(name), name, source.prepare(3, IDS, CPU).arguments)
    assert (question.kind, question.truth) == ("next", None)
    assert torch.equal(question.say(CPU), logits[-1].softmax(-1))
    assert question.name(7) == "token 7"


@pytest.mark.parametrize("name", ["vit", "deit"])
def test_a_class_is_what_the_untouched_model_says(name: str, tiny: Callable[[str], Path]) -> None:
    source = opened(tiny(name))
    question = ask(source, Input(), CPU)
    logits = truth(tiny(name), name, source.prepare(3, Input(), CPU).arguments)
    assert question.kind == "classes"
    assert torch.equal(question.say(CPU), logits.softmax(-1))
    assert question.name(1) == "class 1"


def test_classes_have_their_names(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    FAMILIES["vit"].make().save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {
        "id2label": {"0": "tabby, tabby cat", "1": "dog"},
        "label2id": {"tabby, tabby cat": 0, "dog": 1},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    question = ask(opened(tmp_path), Input(), CPU)
    assert (question.name(0), question.name(1)) == ("tabby", "dog")


@pytest.mark.parametrize("name", ["bert", "llama", "vit", "phi3"])
def test_a_head_is_found_by_its_weights_whatever_the_config_says(name: str, tmp_path: Path) -> None:
    FAMILIES[name].make().save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    for architectures in (None, [type(FAMILIES[name].make().base_model).__name__]):
        (tmp_path / "config.json").write_text(json.dumps(config | {"architectures": architectures}))
        loaded = opened(tmp_path).loaded
        assert type(loaded.model).__name__ == FAMILIES[name].model
        assert not loaded.headless and loaded.notes == ()


@pytest.mark.parametrize(("name", "head"), [("bert", "cls"), ("llama", "lm_head"), ("vit", "classifier")])
def test_a_head_that_is_not_in_the_file_says_nothing(name: str, head: str, tmp_path: Path) -> None:
    FAMILIES[name].make().save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    left = {key: value for key, value in weights.items() if not key.startswith(head)}
    assert len(left) < len(weights)
    save_file(left, tmp_path / "model.safetensors", metadata={"format": "pt"})
    source = opened(tmp_path)
    question = ask(source, Input() if source.kind == "image" else IDS, CPU)
    assert question.kind == "embedding" and "lacks the weights" in question.note


@pytest.mark.parametrize("name", ["roberta", "dinov2", "clip", "t5", "bart"])
def test_without_a_head_it_is_the_embedding(name: str, tiny: Callable[[str], Path]) -> None:
    source = opened(tiny(name))
    input = Input() if source.kind == "image" else IDS
    question = ask(source, input, CPU)
    assert question.kind == "embedding" and "embedding" in question.note
    with torch.no_grad():
        state = source.loaded.body(**source.prepare(3, input, CPU).arguments).last_hidden_state[0].double()
    assert torch.equal(question.say(CPU), state[0] if source.kind == "image" else state.mean(0))


@pytest.fixture
def masked(minilm: Path, tmp_path: Path) -> Any:
    """A tiny masked language model that reads with a real tokenizer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm)
    settings = FAMILIES["bert"].settings | {"vocab_size": len(tokenizer)}
    model = transformers.BertForMaskedLM(transformers.BertConfig(**settings)).eval()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    return opened(tmp_path), model, tokenizer


TEXT = Input(text="the old dog walked along the river")


def test_a_masked_token_is_hidden_and_asked_for(masked: Any) -> None:
    source, model, tokenizer = masked
    question = ask(source, TEXT, CPU, place=3)
    ids = source.prepare(3, TEXT, CPU).arguments["input_ids"].clone()
    assert question.kind == "masked" and "dog" in question.words
    assert question.truth == int(ids[0, 3]) and question.name(question.truth) == "dog"
    ids[0, 3] = tokenizer.mask_token_id
    with torch.no_grad():
        logits = model(ids).logits[0, 3].double()
    torch.testing.assert_close(question.say(CPU), logits.softmax(-1), rtol=1e-5, atol=1e-9)


def test_a_typed_mask_is_the_question(masked: Any) -> None:
    question = ask(masked[0], Input(text="the old [MASK] walked"), CPU)
    assert question.place == 3 and question.truth is None


def test_one_in_the_middle_is_asked_for_by_default(masked: Any) -> None:
    question = ask(masked[0], TEXT, CPU)
    assert question.place == 4 and "walked" in question.words


@pytest.mark.parametrize("kind", ["swap", "mask", "delete"])
@pytest.mark.parametrize("seed", range(4))
def test_the_same_token_is_asked_for_in_a_changed_text(masked: Any, kind: Any, seed: int) -> None:
    source, model, tokenizer = masked
    clean = ask(source, TEXT, CPU, place=3)
    changed = replace(TEXT, change=Change(kind, 0.4, seed))
    question = ask(source, changed, CPU, clean=clean)
    prepared = source.prepare(3, changed, CPU)
    ids, places = prepared.arguments["input_ids"][0].tolist(), list(prepared.origin or range(9))
    before = sum(place < 3 for place in places)
    asked = [*ids[:before], tokenizer.mask_token_id, *ids[before + (3 in places) :]]
    with torch.no_grad():
        logits = model(torch.tensor([asked])).logits[0, before].double()
    assert (question.place, question.truth, question.words) == (before, clean.truth, clean.words)
    torch.testing.assert_close(question.say(CPU), logits.softmax(-1), rtol=1e-5, atol=1e-9)


def test_digits_are_asked_for_by_the_sample() -> None:
    source = sample_source()
    question = ask(source, Input(index=5), CPU)
    assert question.kind == "classes" and question.name(3) == "3"
    assert question.truth == source.label(Input(index=5))
    torch.testing.assert_close(question.say(CPU).float(), source.predict(Input(index=5), CPU))


def test_bare_heads_say_nothing() -> None:
    with pytest.raises(GramscopeError, match="Open a checkpoint"):
        ask(FixedSource(), Input(), CPU)
