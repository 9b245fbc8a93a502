"""What a name in a file of captured heads stands for: which part, of which layer and head."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Role = Literal["q", "k", "v", "x", "w_v", "scale", "mask", "bias", "softcap", "tokens", "heads"]
ROLES: dict[str, Role] = {
    "q": "q", "query": "q", "queries": "q",
    "k": "k", "key": "k", "keys": "k",
    "v": "v", "value": "v", "values": "v",
    "x": "x", "input": "x", "inputs": "x", "hidden": "x",
    "w v": "w_v", "wv": "w_v", "v weight": "w_v", "value weight": "w_v",
    "scale": "scale", "scaling": "scale", "tau": "scale",
    "mask": "mask", "bias": "bias", "position bias": "bias", "softcap": "softcap",
    "tokens": "tokens", "num heads": "heads", "n heads": "heads", "heads": "heads",
}  # fmt: skip
LAYER = frozenset({"layer", "layers", "l", "block", "blocks"})
HEAD = frozenset({"head", "h"})
SAYS_NOTHING = frozenset(
    {"attention", "attn", "self", "states", "state", "proj", "projection", "vectors", "encoder", "decoder"}
    | {"model", "module", "transformer", "captured", "capture"}
    | LAYER
    | HEAD
)


@dataclass(frozen=True, slots=True)
class Place:
    """What a name says; `layer` and `head` are None where it does not."""

    role: Role
    layer: int | None = None
    head: int | None = None


def read_name(name: str) -> Place | None:
    """Read a name such as "q", "layer3.keys", "l5h11_v", "blocks.2.attn.q_proj" or "query_states_0".

    Returns
    -------
    Place or None
        None: it names no part of a head.
    """
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)]
    layer = head = None
    rest: list[str] = []
    for position, word in enumerate(words):
        before = words[position - 1] if position else ""
        if not word.isdigit():
            rest.append(word)
        elif head is None and (before == "head" or (before == "h" and layer is not None)):
            head = int(word)
        elif layer is None:
            layer = int(word)
        else:
            return None
    said = " ".join(rest)
    meant = " ".join(word for word in rest if word not in SAYS_NOTHING)
    role = ROLES.get(said) or ROLES.get(meant)
    return None if role is None else Place(role, layer, head)
