"""Every reader of files that a stranger may have made, each with a valid file to begin from."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from explorer.params import Input

CPU = torch.device("cpu")
WORDS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "the",
    "animal",
    "did",
    "not",
    "cross",
    "##s",
    ".",
    ",",
)


@dataclass(frozen=True)
class Reader:
    """A reader under test.

    Attributes
    ----------
    make : callable
        Writes what is valid into a folder and returns the file that gets damaged.
    read : callable
        Reads that file.
    share : int
        How many of a hundred inputs are its; dear ones get fewer.
    structured : bool
        Whether the file is JSON.
    """

    make: Callable[[Path], Path]
    read: Callable[[Path], Any]
    share: int = 6
    structured: bool = False


def shown(path: Path) -> None:
    """Open as the window does, and take the heads of the first layer."""
    from explorer.models.open import open_path

    source = open_path(path)
    source.count(Input())
    source.capture([source.first_layer], Input(), CPU)
    source.close()


def shown_folder(path: Path) -> None:
    shown(path.parent)


def heads(count: int = 2) -> dict[str, torch.Tensor]:
    draw = torch.Generator().manual_seed(0)
    return {
        f"layer{layer}.{part}": torch.randn(3, 5, 4, generator=draw)
        for layer in range(count)
        for part in "qkv"
    }


def make_safetensors(folder: Path) -> Path:
    from safetensors.torch import save_file

    save_file(heads(), folder / "heads.safetensors", metadata={"made by": "a test"})
    return folder / "heads.safetensors"


def make_zip(folder: Path) -> Path:
    torch.save(heads() | {"epoch": 3}, folder / "heads.pt")
    return folder / "heads.pt"


def make_legacy(folder: Path) -> Path:
    torch.save(heads(), folder / "heads.pt", _use_new_zipfile_serialization=False)
    return folder / "heads.pt"


def make_npz(folder: Path) -> Path:
    np.savez_compressed(folder / "heads.npz", **{name: part.numpy() for name, part in heads().items()})
    return folder / "heads.npz"


def make_own_heads(folder: Path) -> Path:
    from explorer.models.recipes import Recipe
    from explorer.models.save_heads import save_heads
    from explorer.models.synthetic import SyntheticSource

    source = SyntheticSource(Recipe(tokens=6, dim=4, components=2))
    save_heads(source.capture([0], Input(), CPU), folder / "own.safetensors", name="own")
    return folder / "own.safetensors"


def make_state_dict(folder: Path) -> Path:
    from tests.models.test_vit import SMALL, randomised

    torch.save({"model": dict(randomised(SMALL).state_dict()), "args": {"num_heads": 3}}, folder / "vit.pth")
    return folder / "vit.pth"


def make_gguf(folder: Path) -> Path:
    from tests.models.test_gguf import write_llama

    return write_llama(folder / "tiny.gguf")


def bert(folder: Path) -> None:
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(0)
    model = BertModel(BertConfig(vocab_size=len(WORDS), max_position_embeddings=64, **sizes))
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    (folder / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "BertTokenizer", "do_lower_case": true}'
    )


def part_of_bert(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        bert(folder)
        return folder / name

    return make


def make_tokenizer(folder: Path) -> Path:
    from transformers import AutoTokenizer

    bert(folder)
    AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    return folder / "tokenizer.json"


def make_preprocessor(folder: Path) -> Path:
    from transformers import ViTConfig, ViTImageProcessor, ViTModel

    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    ViTModel(ViTConfig(image_size=16, patch_size=8, **sizes)).save_pretrained(folder)
    ViTImageProcessor(size={"height": 16, "width": 16}).save_pretrained(folder)
    return folder / "preprocessor_config.json"


def make_index(folder: Path) -> Path:
    from safetensors.torch import load_file, save_file

    bert(folder)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").rename(folder / "model-1.safetensors")
    save_file(weights, folder / "model-1.safetensors", metadata={"format": "pt"})
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": dict.fromkeys(weights, "model-1.safetensors")}))
    return index


def picture(suffix: str, **options: Any) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        from PIL import Image

        pixels = np.random.default_rng(0).integers(0, 255, (12, 9, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"picture{suffix}", **options)
        return folder / f"picture{suffix}"

    return make


def read_picture(path: Path) -> None:
    from explorer.models.pictures import load_image

    assert load_image(path).ndim == 3


def make_text(folder: Path) -> Path:
    (folder / "lines.txt").write_text("The animal did not cross.\nBecause it was tired.\n\nΓ — ∑ 漢字\n")
    return folder / "lines.txt"


def read_text(path: Path) -> None:
    from explorer.models.batch import count_entries, read_line

    read_line(path, count_entries([str(path)]) - 1)


def array(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        np.save(folder / name, np.random.default_rng(0).normal(size=(20, 4)))
        return folder / name

    return make


def read_input_tensor(path: Path) -> None:
    from explorer.models.batch import read_tensor

    read_tensor(path)


def make_session(folder: Path) -> Path:
    from explorer.params import Params
    from explorer.session import Place, Session, save

    session = Session(
        params=Params(level=0.1, axes=(1, 2), input=Input(text="a b")),
        selection=frozenset({1, 5}),
        options={"spectrum": {"log": True}},
        layout={"spectrum": Place(width=300)},
    )
    save(session, folder / "a.gramscope")
    return folder / "a.gramscope"


def read_session(path: Path) -> None:
    from explorer.session import load

    load(path)


def make_csv(folder: Path) -> Path:
    rows = np.random.default_rng(0).normal(size=(20, 4))
    np.savetxt(folder / "rows.csv", rows, delimiter=",", header="a,b,c,d", comments="")
    return folder / "rows.csv"


def read_rows(path: Path) -> None:
    from explorer.lab.rows import load_rows

    load_rows(str(path), True)


READERS = {
    "safetensors": Reader(make_safetensors, shown),
    "own-heads": Reader(make_own_heads, shown),
    "torch-zip": Reader(make_zip, shown),
    "torch-legacy": Reader(make_legacy, shown),
    "npz": Reader(make_npz, shown),
    "state-dict": Reader(make_state_dict, shown, 3),
    "gguf": Reader(make_gguf, shown, 2),
    "config": Reader(part_of_bert("config.json"), shown_folder, 4, structured=True),
    "weights": Reader(part_of_bert("model.safetensors"), shown_folder, 3),
    "index": Reader(make_index, shown_folder, 2, structured=True),
    "vocabulary": Reader(part_of_bert("vocab.txt"), shown_folder, 2),
    "tokenizer": Reader(make_tokenizer, shown_folder, 3, structured=True),
    "tokenizer-config": Reader(part_of_bert("tokenizer_config.json"), shown_folder, 2, structured=True),
    "preprocessor": Reader(make_preprocessor, shown_folder, 3, structured=True),
    "png": Reader(picture(".png"), read_picture),
    "jpeg": Reader(picture(".jpg"), read_picture),
    "gif": Reader(picture(".gif"), read_picture, 3),
    "bmp": Reader(picture(".bmp"), read_picture, 3),
    "webp": Reader(picture(".webp"), read_picture, 3),
    "tiff": Reader(picture(".tiff", compression="tiff_lzw"), read_picture, 6),
    "ppm": Reader(picture(".ppm"), read_picture, 3),
    "text": Reader(make_text, read_text, 3),
    "npy": Reader(array("input.npy"), read_input_tensor, 4),
    "session": Reader(make_session, read_session, structured=True),
    "lab-csv": Reader(make_csv, read_rows, 4),
    "lab-npy": Reader(array("rows.npy"), read_rows, 4),
}
