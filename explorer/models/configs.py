"""The config of a Hugging Face folder: which family it is, and whether it may be opened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sized
from pathlib import Path
from typing import Any

from explorer.errors import GramscopeError
from explorer.models.offline import transformers
from explorer.models.safety import read_json

FINGERPRINTS = (
    (r"albert_layer_groups", "albert"),
    (r"(^|\.)electra\.|embeddings_project\.", "electra"),
    (r"\.attention\.attn\.[qkvo]\.|relative_attention_bias.*mpnet", "mpnet"),
    (r"attention\.q_lin\.", "distilbert"),
    (r"^roberta\.", "roberta"),
    (r"\.attention\.self\.query\.", "bert"),
    (r"gpt_neox\.|\.attention\.query_key_value\.", "gpt_neox"),
    (r"(^|\.)h\.\d+\.attn\.c_attn\.", "gpt2"),
    (r"text_model\.encoder\.layers", "clip"),
    (r"pre_layrnorm", "clip_vision_model"),
    (r"SelfAttention\.q\.", "t5"),
    (r"encoder\.layers\.\d+\.self_attn\.k_proj", "bart"),
    (r"decoder\.layers\.\d+\.self_attn\.k_proj", "opt"),
    (r"self_attn\.dense\.", "phi"),
    (r"self_attn\.qkv_proj\.", "phi3"),
    (r"register_tokens", "dinov2_with_registers"),
    (r"layer_scale1", "dinov2"),
    (r"distillation_token", "deit"),
    (r"attention\.attention\.query\.", "vit"),
    (r"pre_feedforward_layernorm", "gemma2"),
    (r"self_attn\.q_norm\.", "qwen3"),
    (r"self_attn\.q_proj\.bias", "qwen2"),
    (r"self_attn\.q_proj\.weight", "llama"),
)
"""Parameter names by which a family is known, the particular before the general."""

DEPTH = re.compile(r"(layers|blocks|depth|n_layer)$")
"""Settings of how many layers a model has, of which each brings weights of its own."""


def family_of(names: Iterable[str]) -> str | None:
    """Recognise transformers' model_type from parameter names; None if nothing fits."""
    text = "\n".join(names)
    return next((family for pattern, family in FINGERPRINTS if re.search(pattern, text, re.M)), None)


def refuse_remote_code(settings: dict[str, Any], name: str) -> None:
    """Raise if a settings file asks for code of its own to be run."""
    if settings.get("auto_map"):
        raise GramscopeError(
            f"{name} asks for program code from its author (auto_map), which is never run. If the model is "
            "of a standard family, remove auto_map from the file; or open its weights alone.",
            str(settings["auto_map"]),
        )


def _family_of_architecture(settings: dict[str, Any]) -> str | None:
    for architecture in settings.get("architectures") or ():
        found = getattr(transformers(), str(architecture), None)
        config_class = getattr(found, "config_class", None)
        if config_class is not None:
            return config_class.model_type
    return None


def _refuse_nonsense(settings: dict[str, Any], names: Sized, file: str) -> None:
    """Raise where building the model would take for ever, or fail in a way that says nothing."""
    if not isinstance(settings.get("architectures") or [], list):
        raise GramscopeError(f"{file} makes no sense: its “architectures” are no list. Download it again.")
    if not isinstance(settings.get("model_type") or "", str):
        raise GramscopeError(f"{file} makes no sense: its “model_type” is no name. Download it again.")
    for key, value in nested_items(settings):
        if DEPTH.search(key) and isinstance(value, int) and value > len(names):
            raise GramscopeError(
                f"{file} says {key} {value}, and the files hold {len(names)} weights in all: they belong to "
                "another model, or the config is damaged. Download it again."
            )


def nested_items(settings: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield every key with its value, those of tables in the table too."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from nested_items(value)
        yield key, value


def read_config(folder: Path, names: Iterable[str]) -> tuple[Any, tuple[str, ...]]:
    """Return the transformers configuration of a folder, and what had to be guessed.

    Parameters
    ----------
    names : iterable of str
        The parameters' names, asked where the file does not say which family it is.

    Raises
    ------
    GramscopeError
        If there is no config, it asks for remote code, or names no family that transformers knows.
    """
    path = folder / "config.json"
    if not path.exists():
        raise GramscopeError(
            f"{folder.name} has no config.json, so nothing says what model its weights are. "
            "Copy the config beside them, or open the weight file alone."
        )
    settings, names = read_json(path), list(names)
    refuse_remote_code(settings, path.name)
    _refuse_nonsense(settings, names, path.name)
    said = settings.get("model_type") or _family_of_architecture(settings)
    family = said or family_of(names)
    if family is None:
        raise GramscopeError(
            f"{path.name} names no model_type and no known architecture, and the weights' names fit none. "
            "Add the model_type, as “bert”."
        )
    try:
        config_class = transformers("models.auto.configuration_auto").CONFIG_MAPPING[family]
    except KeyError as error:
        raise GramscopeError(
            f"{path.name} names the family “{family}”, which this transformers "
            f"({transformers().__version__}) does not know. A newer transformers may."
        ) from error
    try:
        config = config_class.from_dict({**settings, "model_type": family})
    except Exception as error:  # validation raises what each family likes
        raise GramscopeError(
            f"{path.name} does not make sense for the family “{family}”.", str(error)
        ) from error
    return config, () if said else (f"The family was taken to be “{family}” from the parameters' names.",)
