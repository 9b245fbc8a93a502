"""Seeded damage to files: bytes for every kind, structure for JSON."""

from __future__ import annotations

import copy
import json
import random
import struct
from typing import Any

NUMBERS = (
    0,
    1,
    2,
    127,
    128,
    255,
    256,
    65_535,
    2**24,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**53,
    2**63 - 1,
    2**64 - 1,
)
VALUES: tuple[Any, ...] = (
    0, 1, -1, 7, 10**5, 2**31, 2**63, 10**30, 0.5, 1e308, -1e-300, True, None, "", "x" * 5000, "\x00",
    "../../etc/passwd", "os.system", [], {}, [[]], [0] * 1000, {"a": {"b": []}}, "float8_e5m2", float("nan"),
)  # fmt: skip


def damaged(seed_bytes: bytes, seed: int, structured: bool) -> bytes:
    """Return the file with one to four of its parts changed; the same for the same seed."""
    draw = random.Random(seed)
    if structured and draw.random() < 0.8:
        return _damaged_json(seed_bytes, draw)
    data = bytearray(seed_bytes)
    for _ in range(draw.randint(1, 4)):
        draw.choice(WAYS)(data, draw)
    return bytes(data)


def _place(data: bytearray, draw: random.Random) -> int:
    """Half of the time in the first 512 bytes, where headers are."""
    most = len(data) if draw.random() < 0.5 else min(len(data), 512)
    return draw.randrange(max(most, 1))


def _flip(data: bytearray, draw: random.Random) -> None:
    if data:
        data[_place(data, draw)] ^= 1 << draw.randrange(8)


def _byte(data: bytearray, draw: random.Random) -> None:
    if data:
        data[_place(data, draw)] = draw.randrange(256)


def _number(data: bytearray, draw: random.Random) -> None:
    width = draw.choice((2, 4, 8))
    number = draw.choice(NUMBERS) % (1 << 8 * width)
    at = _place(data, draw)
    data[at : at + width] = number.to_bytes(width, draw.choice(("little", "big")))


def _cut(data: bytearray, draw: random.Random) -> None:
    del data[_place(data, draw) :]


def _drop(data: bytearray, draw: random.Random) -> None:
    at = _place(data, draw)
    del data[at : at + draw.randint(1, 64)]


def _repeat(data: bytearray, draw: random.Random) -> None:
    at = _place(data, draw)
    data[at:at] = data[at : at + draw.randint(1, 64)] * draw.randint(1, 8)


def _float(data: bytearray, draw: random.Random) -> None:
    at = _place(data, draw) & ~3
    data[at : at + 4] = struct.pack("<f", draw.choice((float("nan"), float("inf"), -1e38, 1e-45)))


WAYS = (_flip, _byte, _number, _cut, _drop, _repeat, _float)


def _damaged_json(seed_bytes: bytes, draw: random.Random) -> bytes:
    value = json.loads(seed_bytes)
    for _ in range(draw.randint(1, 3)):
        _damage(value, draw)
    return json.dumps(value).encode()


def _damage(value: Any, draw: random.Random) -> None:
    """Change one entry, as deep down as chance has it."""
    while isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = draw.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and draw.random() < 0.8:
            value = value[key]
            continue
        if draw.random() < 0.15:
            del value[key]
        elif isinstance(value[key], int | float) and draw.random() < 0.3:
            value[key] = value[key] * draw.choice((-1, 2, 1000)) + draw.choice((0, 1))
        else:
            value[key] = copy.deepcopy(draw.choice(VALUES))  # a later change must not reach the list
        return
