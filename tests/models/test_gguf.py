"""A GGUF file gives the heads of the model that it was made from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from explorer.errors import GramscopeError, Stopped
from explorer.models.open import open_path
from tests.models.conftest import FAMILIES
from tests.models.test_attention_calls import CPU, IDS, opened

gguf = pytest.importorskip("gguf")
pytest.importorskip("accelerate")

NAMES = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
}  # fmt: skip
WHOLE = {"token_embd": "model.embed_tokens", "output": "lm_head", "output_norm": "model.norm"}


def interleaved(weight: np.ndarray, heads: int) -> np.ndarray:
    """llama.cpp rotates neighbouring features, transformers the two halves."""
    return weight.reshape(heads, 2, -1, weight.shape[-1]).swapaxes(1, 2).reshape(weight.shape)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny Llama as GGUF."""
    return write_llama(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


def write_llama(path: Path) -> Path:
    model = FAMILIES["llama"].make()
    config, weights = model.config, {name: value.numpy() for name, value in model.state_dict().items()}
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(config.vocab_size)
    for ours, theirs in WHOLE.items():
        writer.add_tensor(f"{ours}.weight", weights[f"{theirs}.weight"])
    for layer in range(config.num_hidden_layers):
        for ours, theirs in NAMES.items():
            weight = weights[f"model.layers.{layer}.{theirs}.weight"]
            turned = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
            weight = interleaved(weight, turned[ours]) if ours in turned else weight
            writer.add_tensor(f"blk.{layer}.{ours}.weight", np.ascontiguousarray(weight))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_heads_are_those_of_the_original(llama: Path, tiny: Callable[[str], Path]) -> None:
    told: list[tuple[int, int]] = []
    source = open_path(llama, progress=lambda done, total, what: told.append((done, total)))
    assert len(told) == 30 and told == sorted(told) and told[-1][0] == told[-1][1]
    assert source.name == "tiny" and source.facts["KV heads"] == "2" and source.facts["mask"] == "causal"
    ours = source.capture([0, 2], IDS, CPU)
    expected = opened(tiny("llama")).capture([0, 2], IDS, CPU)
    for layer in (0, 2):
        assert np.allclose(ours.layers[layer].q, expected.layers[layer].q, atol=1e-6)
        assert np.allclose(ours.layers[layer].v, expected.layers[layer].v, atol=1e-6)


def test_reading_stops_when_asked(llama: Path) -> None:
    answers = iter([False, True])
    with pytest.raises(Stopped):
        open_path(llama, lambda: next(answers))


def test_a_folder_with_one_gguf_opens_it(llama: Path) -> None:
    assert open_path(llama.parent).layers == 3


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.9])
def test_a_truncated_file_is_named(llama: Path, tmp_path: Path, share: float) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(llama.read_bytes()[: int(share * llama.stat().st_size)])
    with pytest.raises(GramscopeError, match=r"a\.gguf (is an empty file|cannot be read|is not a GGUF file)"):
        open_path(path)


def test_missing_packages_are_named(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.models.gguf.NEEDED", ("gguf", "nowhere_to_be_found"))
    with pytest.raises(GramscopeError, match=r"nowhere_to_be_found cannot be found: run .*gramscope\[gguf\]"):
        open_path(llama)
