"""What is known of an opened model, in words."""

from __future__ import annotations

from typing import Any

from explorer.models.loading import Loaded
from explorer.models.prepared import Reader


def mask_of(loaded: Loaded) -> str:
    """Name what hides keys from queries: "none", "causal", "causal, sliding window of 4,096"."""
    causal = any(getattr(module, "is_causal", False) for module in loaded.body.modules())
    window = getattr(loaded.config, "sliding_window", None)
    if not causal:
        return "none"
    return f"causal, sliding window of {window:,}" if window else "causal"


def describe(loaded: Loaded, reader: Reader) -> dict[str, str]:
    """Return what `gramscope inspect` prints, in its order."""
    config: Any = loaded.config
    heads = config.num_attention_heads
    size = sum(parameter.numel() * parameter.element_size() for parameter in loaded.model.parameters())
    return {
        "family": f"{config.model_type} ({type(loaded.model).__name__})",
        "input": reader.kind,
        "layers": str(config.num_hidden_layers),
        "heads": str(heads),
        "head_dim": str(getattr(config, "head_dim", None) or config.hidden_size // heads),
        "KV heads": str(getattr(config, "num_key_value_heads", None) or heads),
        "mask": mask_of(loaded),
        "dtype": str(loaded.model.dtype).removeprefix("torch."),
        "size": f"{size:,} bytes",
        "missing": "; ".join((*reader.missing, *loaded.notes)) or "nothing",
    }
