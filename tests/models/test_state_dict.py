"""Checkpoints of vision transformers as people save them: wrapped, prefixed, renamed, or made to hurt."""

from __future__ import annotations

import argparse
import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from explorer.errors import GramscopeError, Stopped
from explorer.models.choices import NeedsHeads
from explorer.models.open import open_path
from explorer.models.state_dict import open_state_dict
from explorer.models.vit import VitConfig
from explorer.models.vit_source import StateDictSource
from explorer.params import Input
from tests.models.test_safety import Hostile
from tests.models.test_vit import SMALL, images, randomised

CPU = torch.device("cpu")
State = dict[str, Tensor]


def small(**changes: Any) -> tuple[VitConfig, State]:
    config = replace(SMALL, **changes)
    return config, dict(randomised(config).state_dict())


def reopened(value: Any, tmp_path: Path, heads: int | None = 3, name: str = "a.pth") -> StateDictSource:
    torch.save(value, tmp_path / name)
    source = open_state_dict(tmp_path / name, heads=heads)
    assert source is not None
    return source


def prefixed(prefix: str) -> Callable[[State], Any]:
    return lambda state: {prefix + name: tensor for name, tensor in state.items()}


def under(*keys: str) -> Callable[[State], Any]:
    def wrap(state: State) -> Any:
        value: Any = OrderedDict(state)
        for key in reversed(keys):
            value = {key: value, "epoch": 3}
        return value

    return wrap


def after_training(state: State) -> Any:
    optimizer = {
        "state": {0: {"step": torch.tensor(3.0), "exp_avg": torch.zeros(3)}},
        "param_groups": [{"lr": 0.1, "params": [0]}],
    }
    return {
        "optimizer": optimizer,
        "model": state,
        "args": argparse.Namespace(lr=0.1, num_heads=3),
        "epoch": 9,
    }


@pytest.mark.parametrize(
    "wrap",
    [
        dict,
        *(under(key) for key in ("model", "state_dict", "model_state_dict", "module", "teacher", "student")),
        *(under(key) for key in ("model_ema", "state_dict_ema", "ema", "net")),
        *(prefixed(prefix) for prefix in ("module.", "model.", "backbone.", "_orig_mod.", "encoder.")),
        prefixed("module._orig_mod.model.backbone."),
        lambda state: under("state_dict", "model")(prefixed("_orig_mod.module.")(state)),
        after_training,
    ],
)
def test_opens_whatever_it_is_wrapped_in(wrap: Callable[[State], Any], tmp_path: Path) -> None:
    config, state = small()
    source = reopened(wrap(state), tmp_path)
    assert source.model.config == config
    pixels = images(config)
    assert torch.equal(source.logits(pixels, CPU), randomised(config)(pixels))


@pytest.mark.parametrize(
    ("names", "opened"),
    [
        (("model", "model_ema"), "model_ema."),
        (("student", "teacher"), "teacher."),
        (("state_dict", "state_dict_ema"), "state_dict_ema."),
        (("base_encoder", "momentum_encoder"), "momentum_encoder."),
        (("encoder", "student"), "encoder."),
    ],
)
def test_averaged_weights_come_first_and_the_others_are_named(
    names: tuple[str, str], opened: str, tmp_path: Path
) -> None:
    states = {name: dict(randomised(SMALL, seed).state_dict()) for seed, name in enumerate(names)}
    source = reopened(states, tmp_path)
    assert source.facts["parameters under"] == opened
    (other,) = set(names) - {opened[:-1]}
    assert source.facts["other models in the file"] == other + "."
    assert torch.equal(source.model.state_dict()["norm.bias"], states[opened[:-1]]["norm.bias"])


@pytest.mark.parametrize(
    "changes",
    [
        {"dist_token": True, "positioned": 2, "dist_classes": 5},
        {"registers": 4, "positioned": 5, "grid": (5, 5)},
        {"registers": 4, "positioned": 1, "grid": (5, 5)},
        {"registers": 2, "positioned": 0, "grid": (4, 4)},
        {"class_token": False, "positioned": 0, "grid": (4, 4), "norm": False, "fc_norm": True},
        {"qk_norm": True, "layer_scale": True},
        {"gated": True, "norm_pre": True},
        {"keys_are_queries": True},
        {"attention_scale": (1,)},
        {"attention_scale": ()},
        {"channels": 1, "classes": 0},
        {"patch": (2, 4)},
        {"grid": (10, 20)},
    ],
)
def test_sizes_are_read_off_the_shapes(changes: dict[str, Any], tmp_path: Path) -> None:
    config, state = small(**changes)
    source = reopened(state, tmp_path)
    assert source.model.config == config
    capture = source.capture([0, 2], Input(), CPU)
    tokens = config.prefix + config.patches
    assert len(capture.tokens) == tokens
    assert [token.special for token in capture.tokens] == [True] * config.prefix + [False] * config.patches
    head = capture.head(2, 1)
    assert head.q.shape == head.v.shape == (tokens, 8)
    assert capture.grid == config.grid
    assert capture.image is not None
    assert capture.image.shape == (*config.size, 3)
    assert head.x is not None and head.w_v is not None
    bias = state["blocks.2.attn.qkv.bias"][-24:].reshape(3, 8)[1]
    torch.testing.assert_close(head.x @ head.w_v.T + bias, head.v)
    assert source.symmetric == config.keys_are_queries == torch.equal(head.q, head.k)


def test_other_words_for_the_same_parts(tmp_path: Path) -> None:
    config, state = small(registers=4, positioned=1, grid=(5, 5), layer_scale=True, gated=True)
    renamed = {}
    for name, tensor in state.items():
        name = name.replace("reg_token", "register_tokens").replace("mlp.fc1", "mlp.w12")
        name = name.replace("mlp.fc2", "mlp.w3").replace("blocks.", "blocks.0.")
        renamed[name] = tensor
    source = reopened(renamed | {"mask_token": torch.zeros(1, 24)}, tmp_path)
    assert source.model.config == config
    assert source.facts["not used"] == "mask_token"
    gammas = {
        name.replace("ls1.gamma", "gamma_1").replace("ls2.gamma", "gamma_2"): t for name, t in state.items()
    }
    assert reopened(gammas, tmp_path).model.config == config


def test_projection_heads_and_decoders_are_left_aside(tmp_path: Path) -> None:
    _, state = small(classes=0)
    extra = {"head.mlp.0.weight": torch.zeros(3, 24), "decoder_blocks.0.norm1.weight": torch.zeros(8)}
    source = reopened({"teacher": state | extra}, tmp_path)
    assert source.facts["not used"] == "decoder_blocks, head (not linear)"
    with pytest.raises(GramscopeError, match="no classification head"):
        source.predict(Input(), CPU)


@pytest.mark.parametrize(("width", "heads"), [(192, 3), (384, 6), (768, 12), (1024, 16), (1280, 16)])
def test_heads_follow_from_known_widths(width: int, heads: int, tmp_path: Path) -> None:
    _, state = small(dim=width, heads=heads, depth=1, hidden=8)
    assert reopened(state, tmp_path, heads=None).heads == heads


def test_heads_are_asked_for_where_nothing_says(tmp_path: Path) -> None:
    _, state = small()
    torch.save(state, tmp_path / "a.pt")
    with pytest.raises(NeedsHeads) as caught:
        open_path(tmp_path / "a.pt")
    assert caught.value.choices == (1, 2, 3)
    assert open_path(tmp_path / "a.pt", heads=2).heads == 2
    with pytest.raises(GramscopeError, match="5 heads do not divide"):
        open_path(tmp_path / "a.pt", heads=5)


@pytest.mark.parametrize(
    "value",
    [
        lambda state: {"model": state, "args": argparse.Namespace(num_heads=6)},
        lambda state: {"state_dict": state, "hyper_parameters": {"num_heads": 6}},
    ],
)
def test_heads_may_be_among_the_arguments(value: Callable[[State], Any], tmp_path: Path) -> None:
    _, state = small()
    assert reopened(value(state), tmp_path, heads=None).heads == 6


def test_heads_follow_from_the_norm_of_the_queries(tmp_path: Path) -> None:
    _, state = small(qk_norm=True)
    assert reopened(state, tmp_path, heads=None).heads == 3


def test_the_image_size_among_the_arguments_shapes_the_grid(tmp_path: Path) -> None:
    _, state = small(grid=(2, 8))
    source = reopened({"model": state, "config": {"img_size": [4, 16]}}, tmp_path)
    assert source.model.config.grid == (2, 8)
    guessed = reopened(state, tmp_path)
    assert guessed.model.config.grid == (4, 4)


def test_safetensors_with_a_setting_of_timm_beside_it(tmp_path: Path) -> None:
    _, state = small(grid=(4, 4))
    save_file(state, tmp_path / "model.safetensors", metadata={"num_heads": "3"})
    settings = {"architecture": "vit_x", "pretrained_cfg": {"mean": [0.5] * 3, "std": [0.25] * 3}}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    source = open_path(tmp_path)
    assert isinstance(source, StateDictSource)
    assert source.heads == 3
    assert source.facts["missing"] == "nothing"
    pixels = source.capture([0], Input(), CPU).image
    assert pixels is not None
    values = (torch.from_numpy(pixels.copy()) / 255 - 0.5) / 0.25
    torch.testing.assert_close(source.values(Input())[0].permute(1, 2, 0), values)


def test_what_the_file_does_not_say_is_stated(tmp_path: Path) -> None:
    _, state = small()
    source = reopened(state, tmp_path)
    notes = source.capture([0], Input(), CPU).notes
    assert notes[0] == "Not in the file: how images were normalised: ImageNet's mean and deviation are used."
    assert "3 × 4 is assumed" in notes[1]


def test_half_precision_is_kept_and_mixtures_become_single(tmp_path: Path) -> None:
    _, state = small()
    half = {name: tensor.bfloat16() for name, tensor in state.items()}
    source = reopened(half, tmp_path)
    assert source.facts["dtype"] == "bfloat16"
    assert source.capture([1], Input(), CPU).layers[1].q.dtype == torch.bfloat16
    mixed = half | {"norm.weight": state["norm.weight"]}
    assert reopened(mixed, tmp_path).facts["dtype"] == "float32"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"blocks.1.norm2.weight": None}, r"blocks\.1\.norm2\.weight is missing"),
        ({"blocks.1.attn.rel_pos.weight": torch.zeros(3)}, r"rel_pos\.weight has no place"),
        ({"pos_embed": None}, "'pos_embed' is missing"),
        ({"norm.weight": torch.zeros(7)}, r"shape \(7,\) where \(24,\) fits"),
        ({"pos_embed": torch.zeros(13)}, "shapes are not those"),
        ({"patch_embed.proj.weight": torch.zeros(24, 12)}, "shapes are not those"),
        ({"patch_embed.proj.weight": torch.zeros(24, 3, 0, 0)}, "shapes are not those"),
        ({"patch_embed.proj.weight": torch.zeros(24, 5, 2, 2)}, "5 channels"),
        ({"norm.weight": torch.ones(24, dtype=torch.int8)}, "quantised"),
        ({"blocks.7.norm1.weight": torch.ones(24)}, "missing"),
    ],
)
def test_what_would_be_wrong_is_refused_in_words(
    change: dict[str, Tensor | None], says: str, tmp_path: Path
) -> None:
    _, state = small()
    broken = {name: tensor for name, tensor in (state | change).items() if tensor is not None}
    with pytest.raises(GramscopeError, match=says):
        reopened(broken, tmp_path)


@pytest.mark.parametrize("name", ["qkv", "proj"])
def test_a_linear_map_may_lack_its_bias(name: str, tmp_path: Path) -> None:
    config, state = small()
    without = {key: tensor for key, tensor in state.items() if not key.endswith(f"attn.{name}.bias")}
    source = reopened(without, tmp_path)
    expected = randomised(config)
    with torch.no_grad():
        for layer in range(config.depth):
            getattr(expected.attention(layer), name).bias.zero_()
    assert torch.equal(source.logits(images(config), CPU), expected(images(config)))


def test_broken_weights_are_told_of(tmp_path: Path) -> None:
    _, state = small()
    state["blocks.1.attn.qkv.weight"] = torch.full_like(state["blocks.1.attn.qkv.weight"], torch.nan)
    source = reopened(state, tmp_path)
    source.capture([0], Input(), CPU)
    with pytest.raises(GramscopeError, match="Layer 1 of a gives NaN or infinity"):
        source.capture([1], Input(), CPU)


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("wrapper", ["", "model", "state_dict", "teacher", "args", "optimizer"])
def test_a_hostile_pickle_around_a_model_is_refused(wrapper: str, zipped: bool, tmp_path: Path) -> None:
    _, state = small()
    evil = Hostile(tmp_path / "hurt")
    value: Any = {"model": state, wrapper or "evil": {"inner": evil}}
    if wrapper == "model":
        value = {"model": state | {"evil": evil}}
    torch.save(value, tmp_path / "a.pth", _use_new_zipfile_serialization=zipped)
    with pytest.raises(GramscopeError, match="convert it to safetensors"):
        open_state_dict(tmp_path / "a.pth", heads=3)
    assert not (tmp_path / "hurt").exists()


@pytest.mark.parametrize(
    "value",
    [
        {"alpha": torch.zeros(3)},
        {"optimizer": {"state": {0: {"exp_avg": torch.zeros(3)}}}},
        torch.zeros(3),
        [torch.zeros(3)],
        {"patch_embed.proj.weight": torch.zeros(24, 3, 2, 2)},
    ],
)
def test_other_files_are_left_to_others(value: Any, tmp_path: Path) -> None:
    torch.save(value, tmp_path / "a.pt")
    assert open_state_dict(tmp_path / "a.pt") is None
    if isinstance(value, dict) and "alpha" in value:
        save_file(value, tmp_path / "a.safetensors")
        assert open_state_dict(tmp_path / "a.safetensors") is None


def test_a_dict_that_holds_itself_ends(tmp_path: Path) -> None:
    value: dict[str, Any] = {"model": small()[1]}
    value["self"] = value
    assert reopened(value, tmp_path).layers == 3


def test_lists_of_the_same_lists_are_not_walked_for_ever(tmp_path: Path) -> None:
    value: Any = [0] * 100
    for _ in range(5):
        value = [value] * 100
    torch.save({"model": small()[1], "laughs": value}, tmp_path / "a.pth")
    with pytest.raises(GramscopeError, match="more entries than any checkpoint has"):
        open_state_dict(tmp_path / "a.pth", heads=3)


def test_one_model_under_two_names_is_two(tmp_path: Path) -> None:
    _, state = small()
    source = reopened({"model": state, "model_ema": state}, tmp_path)
    assert (source.facts["parameters under"], source.facts["other models in the file"]) == (
        "model_ema.",
        "model.",
    )


def test_stops_while_reading_and_while_running(tmp_path: Path) -> None:
    _, state = small()
    source = reopened(state, tmp_path)
    with pytest.raises(Stopped):
        source.capture([2], Input(), CPU, should_stop=lambda: True)
    with pytest.raises(Stopped):
        open_state_dict(tmp_path / "a.pth", heads=3, should_stop=lambda: True)


def test_another_attention_through_the_source_and_a_layer_that_is_not_there(tmp_path: Path) -> None:
    config, state = small()
    source = reopened(state, tmp_path)
    pixels = images(config)
    before = source.logits(pixels, CPU)
    with source.attending(lambda call: call.proceed(), [0, 1]):
        assert torch.equal(source.logits(pixels, CPU), before)
    with source.attending(lambda call: call.softmax(), [0, 1]):
        assert torch.equal(source.logits(pixels, CPU), before)
    with source.attending(lambda call: call.v, [0, 1]), source.attending(lambda call: call.proceed(), [0, 1]):
        nested = source.logits(pixels, CPU)
    with source.attending(lambda call: call.v, [0, 1]):
        assert torch.equal(source.logits(pixels, CPU), nested)
        assert not torch.equal(source.logits(pixels, CPU), before)
    assert torch.equal(source.logits(pixels, CPU), before)
    with pytest.raises(GramscopeError, match="There is no layer 3"):
        source.capture([3], Input(), CPU)


def test_the_untrained_twin_is_seeded_and_reads_the_same(tmp_path: Path) -> None:
    _, state = small()
    source = reopened(state, tmp_path)
    first, again, other = (
        source.untrained(seed).capture([1], Input(), CPU).layers[1].k for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert 0.01 < float(first.std()) < 1.0
