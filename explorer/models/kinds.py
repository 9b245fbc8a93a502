"""Which files models come in, by their endings."""

from __future__ import annotations

WEIGHTS = frozenset({".pt", ".pth", ".bin", ".ckpt", ".safetensors"})
ARRAYS = frozenset({".npz"})
SETTINGS = frozenset({".json"})
GGUF = frozenset({".gguf"})
MODELS = WEIGHTS | ARRAYS | GGUF
COMPANIONS = SETTINGS | {".txt", ".model", ".md", ".jinja", ".py", ""}
"""What lies beside the weights of one model: its config, vocabularies, card and licence."""
