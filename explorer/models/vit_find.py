"""Find vision transformers in timm's layout inside whatever people wrap them in.

Nested dicts are flattened to dotted names, so that a wrapper ({"model": …}, {"teacher": …}) and a prefix
("module.", "_orig_mod.", "backbone.") are the same thing: what stands before `patch_embed.proj.weight`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from explorer.models.nested import leaves

PATCHES = "patch_embed.proj.weight"
PARTS = frozenset(
    {"patch_embed", "cls_token", "dist_token", "reg_token", "pos_embed", "norm_pre", "blocks", "norm"}
    | {"fc_norm", "head", "head_dist"}
)
SYNONYMS = (
    (r"^register_tokens$", "reg_token"),
    (r"^blocks\.\d+\.(\d+)\.", r"blocks.\1."),
    (r"\.gamma_([12])$", r".ls\1.gamma"),
    (r"\.mlp\.w12\.", ".mlp.fc1."),
    (r"\.mlp\.w3\.", ".mlp.fc2."),
)
"""DINOv2's registers, chunks of blocks and gated layers, and DeiT III's layer scale, in timm's words."""
PREFERRED = (
    frozenset({"ema", "shadow"}),
    frozenset({"teacher", "momentum", "target"}),
    frozenset[str](),
    frozenset({"student", "online"}),
)
"""Which of several models is meant, by the words before its names: averaged weights first, as in timm."""
SETTINGS = ("args", "config", "hparams", "hyper_parameters", "model_args")


@dataclass(frozen=True, eq=False)
class Found:
    """One model in a file.

    Attributes
    ----------
    prefix : str
        What stood before its parameters' names.
    parameters : dict of str to Tensor
        By timm's names.
    unused : tuple of str
        Parts beside it that a vision transformer does not need (projection heads, decoders).
    """

    prefix: str
    parameters: dict[str, Tensor]
    unused: tuple[str, ...]


def flatten(value: Any) -> dict[str, Tensor]:
    """Return the tensors in nested dicts and lists by dotted name."""
    return {name: leaf for name, leaf in leaves(value) if isinstance(leaf, Tensor)}


def settings_in(value: Any) -> dict[str, Any]:
    """Return the arguments that were saved beside the weights."""
    settings: dict[str, Any] = {}
    for name in SETTINGS:
        saved = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(saved, argparse.Namespace):
            saved = vars(saved)
        if isinstance(saved, Mapping):
            settings |= {str(key): entry for key, entry in saved.items()}
    return settings


def holds_vit(names: Iterable[str]) -> bool:
    """Whether dotted names include a vision transformer's."""
    return bool(_prefixes(list(names)))


def _prefixes(names: list[str]) -> list[str]:
    anchors = [name.removesuffix(PATCHES) for name in names if f".{name}".endswith(f".{PATCHES}")]
    return [
        prefix
        for prefix in anchors
        if any(re.match(re.escape(prefix) + r"blocks\.0\.(0\.)?attn\.qkv\.weight$", name) for name in names)
    ]


def _rank(prefix: str) -> tuple[int, int, str]:
    words = set(re.findall("[a-z]+", prefix.lower()))
    marked = [rank for rank, marks in enumerate(PREFERRED) if marks & words]
    return (marked[0] if marked else PREFERRED.index(frozenset())), len(prefix), prefix


def find_models(named: Mapping[str, Tensor]) -> list[Found]:
    """Return the vision transformers among named tensors, the one that is meant first."""
    return [_gather(named, prefix) for prefix in sorted(_prefixes(list(named)), key=_rank)]


def _gather(named: Mapping[str, Tensor], prefix: str) -> Found:
    inside = {name.removeprefix(prefix): t for name, t in named.items() if name.startswith(prefix)}
    parameters, unused = {}, set()
    for name, tensor in inside.items():
        for pattern, replacement in SYNONYMS:
            name = re.sub(pattern, replacement, name)
        part = name.split(".")[0]
        if part in PARTS and not re.match(r"head(_dist)?\.(?!weight$|bias$)", name):
            parameters[name] = tensor
        else:
            unused.add(part if part not in PARTS else f"{part} (not linear)")
    return Found(prefix, parameters, tuple(sorted(unused)))
