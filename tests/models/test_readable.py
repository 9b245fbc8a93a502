"""A model without heads that can be read is refused when it is opened, with what it is and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.errors import GramscopeError
from explorer.models.inspect import inspect_path
from explorer.models.open import open_path
from explorer.models.readable import OPENS, attention_kinds
from tests.models.conftest import BART, CLIP, DECODER, ENCODER, TEXT, VISION, Family, transformers

PYRAMID = {
    "image_size": 32,
    "patch_size": 4,
    "embed_dim": 16,
    "depths": [1, 1],
    "num_heads": [2, 4],
    "window_size": 4,
}
CONVOLUTIONS = {"hidden_sizes": [8, 16], "depths": [1, 1]}
AUDIO = TEXT | {
    "intermediate_size": 48, "conv_dim": (16, 16), "conv_stride": (5, 2), "conv_kernel": (10, 3),
    "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2,
}  # fmt: skip
OWN = r"its attention \(\w+.*\) is computed by the family’s own code"
NONE = "it has no attention"
STAGES = r"number of heads changes from stage to stage \(2, 4\)"
MAMBA = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2}
REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "swin": ("SwinModel", PYRAMID, STAGES),
    "swinv2": ("Swinv2Model", PYRAMID, STAGES),
    "resnet": ("ResNetModel", {"embedding_size": 8} | CONVOLUTIONS, NONE),
    "convnext": ("ConvNextModel", {"num_stages": 2} | CONVOLUTIONS, NONE),
    "mamba": ("MambaModel", MAMBA | {"state_size": 4}, NONE),
    "mamba2": (
        "Mamba2Model",
        MAMBA | {"state_size": 4, "num_heads": 8, "head_dim": 8, "n_groups": 1},
        NONE,
    ),
    "rwkv": ("RwkvModel", MAMBA, "no number of heads"),
    "deberta": ("DebertaV2Model", ENCODER | {"relative_attention": True}, OWN),
    "bloom": ("BloomModel", {"vocab_size": 99, "hidden_size": 32, "n_layer": 2, "n_head": 4}, OWN),
    "mpt": ("MptModel", {"vocab_size": 99, "d_model": 32, "n_layers": 2, "n_heads": 4}, OWN),
    "xlnet": ("XLNetModel", {"vocab_size": 99, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}, OWN),
    "longformer": ("LongformerModel", ENCODER | {"attention_window": 4}, OWN),
    "bigbird": ("BigBirdModel", ENCODER | {"block_size": 4}, OWN),
    "funnel": (
        "FunnelModel",
        {"vocab_size": 99, "block_sizes": [1, 1], "d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 48},
        OWN,
    ),
    "canine": (
        "CanineModel",
        {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
         "num_hash_buckets": 64},
        "no vocab_size, so its tokens are not words",
    ),
    "fsmt": (
        "FSMTModel", BART | {"langs": ["en", "de"], "src_vocab_size": 99, "tgt_vocab_size": 99},
        "its attention is computed by the family’s own code",
    ),
    "falcon": ("FalconModel", TEXT, "its attention is computed by the family’s own code"),
    "gpt_neo": (
        "GPTNeoModel",
        {"vocab_size": 99, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "max_position_embeddings": 64,
         "attention_types": [[["global", "local"], 1]]},
        "its attention is computed by the family’s own code",
    ),
    "gpt_oss": (
        "GptOssModel", DECODER | {"head_dim": 8, "num_local_experts": 2, "num_experts_per_tok": 1},
        "its first layer adds a sink to its softmax",
    ),
    "lfm2": (
        "Lfm2Model", DECODER | {"layer_types": ["conv", "full_attention", "conv"]},
        "only 1 of its 3 layers have softmax attention",
    ),
    "diffllama": ("DiffLlamaModel", DECODER, "its 3 layers attend 6 times"),
    "vit_mae": ("ViTMAEModel", VISION, "5 queries and 5 keys for an input of 17 tokens"),
    "videomae": ("VideoMAEModel", VISION | {"num_frames": 4}, "needs other inputs as well"),
    "siglip": (
        "SiglipModel", {name: CLIP[name] for name in ("text_config", "vision_config")},
        "joins other models \\(text_config, vision_config\\)",
    ),
    "detr": (
        "DetrModel",
        {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
         "decoder_attention_heads": 4, "num_queries": 5, "use_timm_backbone": False, "backbone": None,
         "backbone_config": transformers.ResNetConfig(
             **CONVOLUTIONS, embedding_size=8, out_features=["stage2"])},
        "gives no image_size, so its tokens are not the patches",
    ),
    "whisper": (
        "WhisperModel",
        BART | {"num_mel_bins": 8, "max_source_positions": 20, "pad_token_id": 0, "bos_token_id": 1,
                "eos_token_id": 2, "decoder_start_token_id": 2},
        "reads input_features: only models of text and of images",
    ),
    "wav2vec2": ("Wav2Vec2Model", AUDIO, "reads input_values: only models of text and of images"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_readable_heads_is_refused_when_it_is_opened(name: str, tmp_path: Path) -> None:
    model, settings, why = REFUSED[name]
    Family(model, settings, "").make().save_pretrained(tmp_path)
    with pytest.raises(GramscopeError, match=why) as said:
        open_path(tmp_path)
    assert model in str(said.value)
    if name != "videomae":
        assert str(said.value).endswith(OPENS)
    with pytest.raises(GramscopeError, match=why):
        inspect_path(tmp_path)


def test_latent_attention_counts_as_attention_whatever_its_class_is_called() -> None:
    assert attention_kinds(torch.nn.Sequential(type("FlashMLA", (torch.nn.Module,), {})())) == "FlashMLA"


def test_a_decoder_alone_has_its_own_layers_and_heads(tmp_path: Path) -> None:
    Family("BartForCausalLM", BART, "").make().save_pretrained(tmp_path / "bart")
    source = open_path(tmp_path / "bart")
    assert (source.layers, source.heads) == (BART["decoder_layers"], BART["decoder_attention_heads"])
