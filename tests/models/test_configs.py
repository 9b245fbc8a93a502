"""The family is recognised from whatever says it; what asks for code or says nothing is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from explorer.errors import GramscopeError
from explorer.models.configs import family_of
from explorer.models.open import open_path
from explorer.params import Input
from tests.models.conftest import FAMILIES
from tests.models.test_attention_calls import CPU, IDS, opened


def copy_with(folder: Path, to: Path, **changes: Any) -> Path:
    """Copy a model, its config changed; None removes an entry."""
    shutil.copytree(folder, to, dirs_exist_ok=True)
    settings = json.loads((to / "config.json").read_text()) | changes
    kept = {name: value for name, value in settings.items() if value is not None}
    (to / "config.json").write_text(json.dumps(kept))
    return to


@pytest.mark.parametrize("name", FAMILIES)
def test_architectures_stand_in_for_the_model_type(
    name: str, tiny: Callable[[str], Path], tmp_path: Path
) -> None:
    source = opened(copy_with(tiny(name), tmp_path, model_type=None))
    assert source.facts["family"] == opened(tiny(name)).facts["family"]


UNALIKE = {
    "clip_vision": "clip_vision_model",
    "roberta": "bert",
    "gpt2_layer_scaled": "gpt2",
    "mistral": "llama",
    "gemma": "llama",
}
"""Families whose parameters have the names of another's, and what their names say."""


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.named])
def test_parameter_names_tell_the_family(name: str, tiny: Callable[[str], Path]) -> None:
    names = load_file(tiny(name) / "model.safetensors")
    assert family_of(names) == UNALIKE.get(name, name)


def test_parameter_names_stand_in_for_everything(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    for name in ("bert", "gpt2", "vit"):
        folder = copy_with(tiny(name), tmp_path / name, model_type=None, architectures=None)
        source = opened(folder)
        capture = source.capture([2], Input() if source.kind == "image" else IDS, CPU)
        assert capture.head(2, 3).q.isfinite().all()
        assert f"taken to be “{name}”" in source.facts["missing"] and f"“{name}”" in capture.notes[0]


def test_names_that_say_nothing_are_no_family() -> None:
    assert family_of(["state", "param_groups"]) is None


@pytest.mark.parametrize("where", ["config.json", "tokenizer_config.json"])
def test_remote_code_is_refused_and_not_run(where: str, minilm: Path, tmp_path: Path) -> None:
    for path in minilm.iterdir():
        (tmp_path / path.name).symlink_to(path)
    settings = json.loads((minilm / where).read_text())
    settings["auto_map"] = {"AutoModel": "modeling_evil.Evil", "AutoTokenizer": ["modeling_evil.Evil", None]}
    (tmp_path / where).unlink()
    (tmp_path / where).write_text(json.dumps(settings))
    (tmp_path / "modeling_evil.py").write_text(f"open({str(tmp_path / 'hurt')!r}, 'w')")
    with pytest.raises(GramscopeError, match="asks for program code"):
        open_path(tmp_path)
    assert not (tmp_path / "hurt").exists()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model_type": "frobnicator"}, "family “frobnicator”, which this transformers"),
        ({"num_attention_heads": 5}, r"does not make sense|do not fit the config"),
        ({"num_attention_heads": "many"}, r"does not make sense|do not fit the config"),
        ({"vocab_size": 5000}, "do not fit the config"),
        ({"num_hidden_layers": 4}, "lack 16 of the model's weights"),
    ],
)
def test_configs_that_do_not_fit_are_refused(
    changes: dict[str, Any], says: str, tiny: Callable[[str], Path], tmp_path: Path
) -> None:
    with pytest.raises(GramscopeError, match=says):
        open_path(copy_with(tiny("bert"), tmp_path, **changes))


def test_a_folder_without_config_is_refused_with_the_family_that_it_looks_like(
    tiny: Callable[[str], Path], tmp_path: Path
) -> None:
    shutil.copy(tiny("bert") / "model.safetensors", tmp_path)
    with pytest.raises(GramscopeError, match=r"looks like a model of the family “bert”.*config\.json"):
        open_path(tmp_path)


def test_an_unwatchable_family_is_refused_with_the_reason(tmp_path: Path) -> None:
    from tests.models.conftest import ENCODER, Family

    Family("DebertaV2Model", ENCODER, "").make().save_pretrained(tmp_path)
    with pytest.raises(GramscopeError, match=r"attention"):
        source = open_path(tmp_path)
        source.capture([0], IDS, CPU)


def test_a_model_that_hears_is_refused(tmp_path: Path) -> None:
    from tests.models.conftest import Family

    settings = {
        "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 32,
        "conv_dim": (32,), "conv_stride": (5,), "conv_kernel": (10,), "num_feat_extract_layers": 1,
        "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2,
    }  # fmt: skip
    Family("Wav2Vec2Model", settings, "").make().save_pretrained(tmp_path)
    with pytest.raises(GramscopeError, match="reads input_values: only models of text and of images"):
        open_path(tmp_path)
