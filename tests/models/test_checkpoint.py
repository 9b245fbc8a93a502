"""Weights are found in every form that people save them in, and broken ones are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from explorer.errors import GramscopeError, Stopped
from explorer.models.checkpoint import read_weights, weight_files
from explorer.models.open import open_path
from tests.models.test_attention_calls import CPU, IDS, opened

FORMS = ["single", "sharded", "zip", "legacy", "sharded_zip", "loose"]


def save_as(form: str, whole: dict[str, torch.Tensor], folder: Path) -> None:
    """Save weights in one of the FORMS."""
    half = len(whole) // 2
    parts = [dict(list(whole.items())[:half]), dict(list(whole.items())[half:])]
    match form:
        case "single":
            save_file(whole, folder / "model.safetensors", {"format": "pt"})
        case "loose":
            save_file(whole, folder / "epoch3.safetensors")
            torch.save({"state": {}}, folder / "optimizer.pt")
        case "zip" | "legacy":
            zipped = form == "zip"
            torch.save(whole, folder / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)
        case "sharded" | "sharded_zip":
            stem, suffix = ("model", "safetensors") if form == "sharded" else ("pytorch_model", "bin")
            index: dict[str, str] = {}
            for number, part in enumerate(parts, 1):
                name = f"{stem}-{number:05}-of-00002.{suffix}"
                save_file(part, folder / name) if suffix == "safetensors" else torch.save(part, folder / name)
                index |= dict.fromkeys(part, name)
            (folder / f"{stem}.{suffix}.index.json").write_text(json.dumps({"weight_map": index}))


@pytest.fixture
def bert(tiny: Callable[[str], Path], tmp_path: Path) -> tuple[Path, dict[str, torch.Tensor]]:
    """A folder with a config alone, and the weights that belong to it."""
    (tmp_path / "config.json").write_text((tiny("bert") / "config.json").read_text())
    return tmp_path, load_file(tiny("bert") / "model.safetensors")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_heads(form: str, bert: Any, tiny: Callable[[str], Path]) -> None:
    folder, weights = bert
    save_as(form, weights, folder)
    expected = opened(tiny("bert")).capture([2], IDS, CPU).layers[2].q
    assert torch.equal(opened(folder).capture([2], IDS, CPU).layers[2].q, expected)


@pytest.mark.parametrize("form", ["sharded", "sharded_zip", "zip"])
def test_any_file_of_the_folder_opens_the_whole(form: str, bert: Any) -> None:
    folder, weights = bert
    save_as(form, weights, folder)
    for path in folder.iterdir():
        assert open_path(path).layers == 3
    assert open_path(sorted(folder.iterdir())).layers == 3


def test_the_file_that_was_picked_is_the_one_that_is_read(bert: Any) -> None:
    folder, weights = bert
    save_as("single", weights, folder)
    other = {name: value * 2 for name, value in weights.items()}
    torch.save(other, folder / "epoch9.pt")
    assert weight_files(folder, folder / "epoch9.pt") == [folder / "epoch9.pt"]
    first, second = (
        opened(path).capture([0], IDS, CPU).layers[0].q for path in (folder, folder / "epoch9.pt")
    )
    assert not torch.allclose(first, second)


def test_progress_is_in_bytes_of_all_files(bert: Any) -> None:
    folder, weights = bert
    save_as("sharded", weights, folder)
    told: list[tuple[int, int, str]] = []
    read_weights(weight_files(folder), progress=lambda *report: told.append(report))
    total = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    done = [report[0] for report in told]
    assert done == sorted(done) and {report[1] for report in told} == {total}
    assert done[-1] > 0.8 * total and "00002-of" in told[-1][2]


def test_reading_stops_when_asked(bert: Any) -> None:
    folder, weights = bert
    save_as("single", weights, folder)
    with pytest.raises(Stopped):
        open_path(folder, lambda: True)


@pytest.mark.parametrize("form", ["single", "legacy", "sharded"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_broken_weights_are_named(form: str, value: float, bert: Any) -> None:
    folder, weights = bert
    weights["bert.encoder.layer.1.attention.self.key.weight"][3, 4] = value
    save_as(form, weights, folder)
    with pytest.raises(
        GramscopeError, match=r"broken weights: bert\.encoder\.layer\.1\..*key\.weight holds NaN"
    ):
        open_path(folder)


def test_large_finite_half_weights_are_not_called_broken(bert: Any) -> None:
    folder, weights = bert
    halves = {name: value.half() for name, value in weights.items()}
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"dtype": "float16"}))
    halves["cls.predictions.bias"][:] = 60_000
    save_as("single", halves, folder)
    assert open_path(folder).facts["dtype"] == "float16"


def test_a_truncated_download_is_named(bert: Any) -> None:
    folder, weights = bert
    save_as("single", weights, folder)
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(GramscopeError, match=r"model\.safetensors .*truncated"):
        open_path(folder)


def test_weights_that_are_missing_are_counted(bert: Any) -> None:
    folder, weights = bert
    save_as("single", {name: value for name, value in weights.items() if ".layer.2." not in name}, folder)
    with pytest.raises(
        GramscopeError, match=r"lack 16 of the model's weights, bert\.encoder\.layer\.2"
    ) as caught:
        open_path(folder)
    assert "layer.2.attention.self.query.weight" in caught.value.detail


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module."])
def test_prefixes_of_wrappers_do_not_matter(prefix: str, bert: Any, tiny: Callable[[str], Path]) -> None:
    folder, weights = bert
    save_as("zip", {prefix + name: value for name, value in weights.items()}, folder)
    expected = opened(tiny("bert")).capture([2], IDS, CPU).layers[2].q
    assert torch.equal(opened(folder).capture([2], IDS, CPU).layers[2].q, expected)


def test_a_missing_head_is_a_note(bert: Any) -> None:
    folder, weights = bert
    save_as("single", {name: value for name, value in weights.items() if name.startswith("bert.")}, folder)
    source = opened(folder)
    assert "outside the layers" in source.facts["missing"]
    assert any("are random" in note for note in source.capture([0], IDS, CPU).notes)


def test_a_bare_encoder_is_found_in_a_model_with_a_head(bert: Any) -> None:
    folder, weights = bert
    bare = {name.removeprefix("bert."): value for name, value in weights.items() if name.startswith("bert.")}
    save_as("single", bare, folder)
    assert opened(folder).capture([2], IDS, CPU).head(2, 0).q.shape == (12, 8)


def test_weights_of_other_sizes_are_refused(bert: Any) -> None:
    folder, weights = bert
    weights["bert.encoder.layer.0.attention.self.key.weight"] = torch.zeros(16, 32)
    save_as("single", weights, folder)
    with pytest.raises(GramscopeError, match="do not fit the config"):
        open_path(folder)


def test_wrapped_weights_are_refused_in_words(bert: Any) -> None:
    folder, weights = bert
    torch.save({"model": weights, "epoch": 3}, folder / "pytorch_model.bin")
    with pytest.raises(GramscopeError, match=r"not a plain dict of tensors"):
        open_path(folder)


def test_a_folder_without_weights_lists_what_is_there(bert: Any) -> None:
    folder, _ = bert
    with pytest.raises(GramscopeError, match="holds no weights") as caught:
        open_path(folder)
    assert caught.value.detail == "Found: config.json"


def test_several_weight_files_are_not_guessed_between(bert: Any) -> None:
    folder, weights = bert
    for name in ("a.safetensors", "b.safetensors"):
        save_file(weights, folder / name)
    with pytest.raises(GramscopeError, match=r"several weight files \(a\.safetensors, b\.safetensors\)"):
        open_path(folder)
    assert open_path(folder / "b.safetensors").layers == 3


def test_weights_beyond_memory_are_refused_before_reading(bert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, weights = bert
    save_as("single", weights, folder)
    free = type("Memory", (), {"available": 1000})
    monkeypatch.setattr("explorer.models.checkpoint.psutil.virtual_memory", lambda: free)
    with pytest.raises(GramscopeError, match="this machine has 1,000 free"):
        open_path(folder)
