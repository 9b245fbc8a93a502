"""Whatever is dropped is opened, or refused in words."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from explorer.errors import GramscopeError
from explorer.models.inspect import inspect_path
from explorer.models.open import open_path
from explorer.params import Input
from tests.models.conftest import FAMILIES
from tests.models.test_attention_calls import CPU, IDS, opened


def test_files_of_one_folder_open_it_and_of_several_do_not(tiny: Callable[[str], Path]) -> None:
    bert, gpt2 = tiny("bert"), tiny("gpt2")
    assert open_path([bert / "config.json", bert / "model.safetensors"]).layers == 3
    with pytest.raises(GramscopeError, match="are not one model"):
        open_path([bert, gpt2])


@pytest.mark.parametrize(
    "together", [("a.txt", "b.png"), ("a.pt", "b.png"), ("a.txt", "b.md"), ("a.pt", "model.safetensors")]
)
def test_what_is_said_of_files_that_do_not_go_together_is_of_them_alone(
    together: tuple[str, ...], tmp_path: Path
) -> None:
    for name in (*together, "other.pt", "another.pt"):
        (tmp_path / name).write_bytes(b"abc")
    with pytest.raises(GramscopeError, match=", ".join(together) + " are not one model") as caught:
        open_path([tmp_path / name for name in together])
    assert "other" not in str(caught.value) + caught.value.detail


def test_a_file_beside_which_a_card_was_dropped_is_opened_and_its_neighbours_are_not(tmp_path: Path) -> None:
    torch.manual_seed(0)
    for name in ("mine", "other"):
        save_file({key: torch.randn(12, 8) for key in "qkv"}, tmp_path / f"{name}.safetensors")
    (tmp_path / "README.md").write_text("heads")
    assert open_path([tmp_path / "README.md", tmp_path / "mine.safetensors"]).name.startswith("mine")


@pytest.mark.parametrize("name", ["notes.txt", "model.onnx", "model.h5", "noname"])
def test_other_files_are_refused_with_what_would_do(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"abc")
    with pytest.raises(GramscopeError, match=r"is no kind of model .* Hugging Face folder"):
        open_path(tmp_path / name)


def test_strange_tensors_are_refused_with_their_names(tmp_path: Path) -> None:
    save_file({"alpha": torch.zeros(3), "beta": torch.zeros(2)}, tmp_path / "a.safetensors")
    with pytest.raises(GramscopeError) as caught:
        open_path(tmp_path / "a.safetensors")
    assert "alpha" in str(caught.value) + caught.value.detail


def test_heads_that_lie_in_a_model_s_folder_are_opened_as_heads(
    tiny: Callable[[str], Path], tmp_path: Path
) -> None:
    shutil.copytree(tiny("bert"), tmp_path, dirs_exist_ok=True)
    torch.manual_seed(0)
    save_file({name: torch.randn(12, 8) for name in "qkv"}, tmp_path / "heads.safetensors")
    assert open_path(tmp_path / "heads.safetensors").kind == "heads"
    assert open_path(tmp_path / "model.safetensors").kind == "text"


def test_an_empty_folder_a_pipe_and_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match="holds no weights"):
        open_path(tmp_path)
    with pytest.raises(GramscopeError, match="There is nothing"):
        open_path(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe.safetensors")
    with pytest.raises(GramscopeError, match="pipe"):
        open_path(tmp_path / "pipe.safetensors")


def test_a_pipe_inside_a_folder_is_refused_at_once(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    shutil.copytree(tiny("bert"), tmp_path, dirs_exist_ok=True)
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).unlink()
        os.mkfifo(tmp_path / name)
        with pytest.raises(GramscopeError, match="pipe"):
            open_path(tmp_path)
        (tmp_path / name).unlink()
        shutil.copy(tiny("bert") / name, tmp_path / name)


def test_a_safetensors_that_is_no_safetensors_is_refused(tmp_path: Path) -> None:
    torch.save({"a": torch.zeros(1)}, tmp_path / "a.safetensors")
    with pytest.raises(GramscopeError, match="not a sound safetensors file"):
        open_path(tmp_path / "a.safetensors")


@pytest.mark.parametrize("name", FAMILIES)
def test_the_mask_is_named_as_it_is(name: str, tiny: Callable[[str], Path]) -> None:
    source = opened(tiny(name))
    head = source.capture([1], Input() if source.kind == "image" else IDS, CPU).head(1, 0)
    assert source.facts["mask"].startswith("none" if head.mask is None else "causal")
    assert ("window of 5" in source.facts["mask"]) == (name in ("mistral", "gemma2"))


def test_inspection_prints_a_line_for_each_fact(tiny: Callable[[str], Path]) -> None:
    lines = dict(line.split("  ", 1) for line in inspect_path(tiny("mistral")).splitlines())
    facts = {name.strip(): value.strip() for name, value in lines.items()}
    assert facts["family"] == "mistral (MistralForCausalLM)"
    assert facts["KV heads"] == "2" and facts["heads"] == "4" and facts["head_dim"] == "8"
    assert facts["mask"] == "causal, sliding window of 5"
    assert "a tokenizer" in facts["missing"]
