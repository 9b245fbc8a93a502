"""Files as people have them: endings in capitals, nothing inside, far too much, or something else inside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from explorer.__main__ import main
from explorer.errors import GramscopeError
from explorer.models import batch
from explorer.models.batch import count_entries, read_tensor
from explorer.models.open import open_path
from explorer.models.text import TextReader
from explorer.params import Input
from tests.models.conftest import ENCODER, Family

CPU = torch.device("cpu")
HEADS = {name: torch.randn(2, 6, 8, generator=torch.Generator().manual_seed(0)) for name in "qkv"}


def reader() -> TextReader:
    return TextReader(None, 99, 12, ("input_ids",))


def test_endings_in_capitals_are_the_same(tmp_path: Path) -> None:
    save_file(HEADS, tmp_path / "A.SAFETENSORS")
    np.savez(tmp_path / "a.npz", **{name: part.numpy() for name, part in HEADS.items()})
    (tmp_path / "a.npz").rename(tmp_path / "B.NPZ")
    for name in ("A.SAFETENSORS", "B.NPZ"):
        source = open_path(tmp_path / name)
        assert torch.equal(source.capture([0], Input(), CPU).head(0, 1).q, HEADS["q"][1])
    np.save(tmp_path / "c.npy", np.arange(3))
    assert read_tensor((tmp_path / "c.npy").rename(tmp_path / "C.NPY")).tolist() == [0, 1, 2]
    assert [token.text for token in reader().read(Input(path=str(tmp_path / "C.NPY"))).tokens] == list("012")


def test_a_folder_of_weights_in_capitals_opens(tmp_path: Path) -> None:
    Family("BertModel", ENCODER, "").make().save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "MODEL.SAFETENSORS")
    assert open_path(tmp_path).layers == 3


@pytest.mark.parametrize("ending", ["pt", "pth", "bin", "ckpt", "safetensors", "npz", "gguf"])
def test_an_empty_file_is_called_so(ending: str, tmp_path: Path) -> None:
    (tmp_path / f"a.{ending}").touch()
    with pytest.raises(GramscopeError, match=rf"a\.{ending} is an empty file"):
        open_path(tmp_path / f"a.{ending}")


def test_of_a_huge_text_the_beginning_is_read_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "LARGEST_TEXT", 1_000_000)
    path = tmp_path / "huge.txt"
    path.write_text("1 2 3\n" * 166_000 + "4 5 6 ∑" * 200_000, encoding="utf-8")
    assert count_entries([str(path)]) == 166_000
    prepared = reader().read(Input(path=str(path), index=3))
    assert prepared.notes == (
        "huge.txt has 3 MB: only its first 1 MB were read, and lines beyond are not counted.",
    )
    path.write_text("∑" * 400_000, encoding="utf-8")
    assert batch.read_line(path, 0) == "∑" * 333_333


def test_a_text_that_fits_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "LARGEST_TEXT", 11)
    (tmp_path / "a.txt").write_bytes(b"1 2 3\n4 5 6")
    assert count_entries([str(tmp_path / "a.txt")]) == 2
    assert reader().read(Input(path=str(tmp_path / "a.txt"))).notes == ()


def test_pictures_are_no_text(tmp_path: Path) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    with pytest.raises(GramscopeError, match=r"reads text, and test_\w+ is a folder\. Give a text"):
        reader().read(Input(path=str(tmp_path)))
    with pytest.raises(GramscopeError, match=r"reads text, and a\.png is a picture"):
        reader().read(Input(path=str(tmp_path / "a.png")))


def test_a_head_of_one_token_says_what_that_means(tmp_path: Path) -> None:
    np.savez(tmp_path / "one.npz", **{name: part[:, :1].numpy() for name, part in HEADS.items()})
    with pytest.raises(GramscopeError, match="1 head of 2 tokens, or 2 heads of 1 token"):
        open_path(tmp_path / "one.npz")
    notes = open_path(tmp_path / "one.npz", heads=2).capture([0], Input(), CPU).notes
    assert any("one token attends to itself alone" in note for note in notes)


def test_the_folder_where_one_stands_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "notes.txt").write_text("hi")
    monkeypatch.chdir(tmp_path / "odd")
    assert main(["inspect", "."]) == 1
    assert capsys.readouterr().err.startswith("gramscope: odd holds no weights")


def test_nothing_but_a_sentence_is_printed_of_an_unusual_pickle(tmp_path: Path) -> None:
    code = """
import sys, torch, warnings
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch.save({"a": torch.zeros(4, 4)}, sys.argv[1], pickle_protocol=4)
from explorer.__main__ import main
sys.exit(main(["inspect", sys.argv[1]]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.pt")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert (
        done.stderr.startswith("gramscope: a.pt is a pickle with instructions that are not followed")
        and done.stderr.count("\n") == 1
    )
