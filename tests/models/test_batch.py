"""Files and folders of inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from explorer.errors import GramscopeError
from explorer.models.batch import count_entries, entry_of, image_files, read_line, read_tensor


def test_blank_lines_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\n\n  \ntwo\n", encoding="utf-8")
    assert count_entries([str(path)]) == 2
    assert [read_line(path, index) for index in range(3)] == ["one", "two", "one"]


@pytest.mark.parametrize(("data", "says"), [(b"\xff\xfe\x00", "UTF-8"), (b" \n", "holds no text")])
def test_files_without_text_are_refused(tmp_path: Path, data: bytes, says: str) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    with pytest.raises(GramscopeError, match=says):
        read_line(tmp_path / "a.txt", 0)


def test_a_folder_of_images_is_sorted_and_counted(tmp_path: Path) -> None:
    for name in ("b.png", "a.JPG", "notes.txt"):
        Image.new("RGB", (4, 4)).save(tmp_path / name, "PNG")
    assert [path.name for path in image_files(tmp_path)] == ["a.JPG", "b.png"]
    assert count_entries([str(tmp_path)]) == 2 and count_entries([str(tmp_path / "b.png")]) == 1


def test_entries_are_counted_through_all_files(tmp_path: Path) -> None:
    first, second, third = tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "c.npy"
    first.write_text("one\n\ntwo\n")
    second.write_text("three\n")
    np.save(third, np.arange(3))
    files = [str(file) for file in (first, second, third)]
    assert count_entries(files) == 4
    expected = [(first, 0), (first, 1), (second, 0), (third, 0), (first, 0)]
    assert [entry_of(files, index) for index in range(5)] == expected


def test_a_folder_without_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match="holds no images"):
        count_entries([str(tmp_path)])


def test_tensor_files_hold_one_tensor_of_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    torch.save({"x": torch.arange(3)}, tmp_path / "a.pt")
    assert torch.equal(read_tensor(tmp_path / "a.npy"), read_tensor(tmp_path / "a.pt"))
    torch.save([torch.zeros(1)] * 2, tmp_path / "b.pt")
    with pytest.raises(GramscopeError, match="holds 2 tensors"):
        read_tensor(tmp_path / "b.pt")
    np.save(tmp_path / "b.npy", np.array(["a"]))
    with pytest.raises(GramscopeError, match="not numbers"):
        read_tensor(tmp_path / "b.npy")
