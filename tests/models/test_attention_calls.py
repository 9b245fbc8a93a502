"""Handlers see every call, change only what they mean to, and are gone afterwards."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from explorer.models.attention_call import AttentionCall
from explorer.models.attention_calls import handling, replacing
from explorer.models.huggingface import HuggingFaceSource
from explorer.models.open import open_path
from explorer.params import Input
from tests.models.conftest import FAMILIES, transformers

CPU = torch.device("cpu")
IDS = Input(text=" ".join(map(str, range(7, 19))))
FUSED = [
    "bert",
    "gpt2",
    "gpt_neox",
    "opt",
    "llama",
    "mistral",
    "qwen3",
    "phi",
    "vit",
    "deit",
    "t5",
    "bart",
    "albert",
]


def opened(folder: Path) -> HuggingFaceSource:
    source = open_path(folder)
    assert isinstance(source, HuggingFaceSource)
    return source


def arguments(source: HuggingFaceSource) -> dict[str, Tensor]:
    return source.prepare(1, Input() if source.kind == "image" else IDS, CPU).arguments


@torch.no_grad()
def state(source: HuggingFaceSource) -> Tensor:
    return source.loaded.body(**arguments(source)).last_hidden_state


def hooks(model: nn.Module) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def uniform(call: AttentionCall) -> Tensor:
    return call.values.mean(-2, keepdim=True).expand_as(call.values)


@pytest.mark.parametrize("name", FUSED)
def test_softmax_through_the_same_kernel_changes_no_bit(name: str, tiny: Callable[[str], Path]) -> None:
    source = opened(tiny(name))
    untouched = getattr(transformers, FAMILIES[name].model).from_pretrained(tiny(name))
    assert untouched.config._attn_implementation == "sdpa"
    body = untouched.get_encoder() if untouched.config.is_encoder_decoder else untouched.base_model
    with torch.no_grad():
        truth = body(**arguments(source)).last_hidden_state
    assert torch.equal(state(source), truth)
    with source.attending(AttentionCall.softmax, range(source.layers)):
        assert torch.equal(state(source), truth)


def test_mpnet_answers_like_itself(tiny: Callable[[str], Path]) -> None:
    source = opened(tiny("mpnet"))
    clean = state(source)
    with source.attending(AttentionCall.softmax, range(3)):
        assert torch.equal(state(source), clean)
    with source.attending(uniform, [2]):
        assert not torch.allclose(state(source), clean)


@pytest.mark.parametrize("name", ["bert", "llama", "gemma2", "mpnet", "vit"])
def test_a_replaced_layer_changes_itself_and_later_ones_only(name: str, tiny: Callable[[str], Path]) -> None:
    source = opened(tiny(name))
    input = Input() if source.kind == "image" else IDS
    clean = source.capture([0, 1, 2], input, CPU)
    before = hooks(source.loaded.model)
    with source.attending(uniform, [1]):
        other = source.capture([0, 1, 2], input, CPU)
    assert torch.equal(clean.layers[1].q, other.layers[1].q)
    assert not torch.allclose(clean.layers[2].q, other.layers[2].q)
    assert hooks(source.loaded.model) == before
    assert torch.equal(clean.layers[2].q, source.capture([2], input, CPU).layers[2].q)


def test_nothing_stays_after_an_exception(tiny: Callable[[str], Path]) -> None:
    source = opened(tiny("mpnet"))
    clean, before = state(source), hooks(source.loaded.model)

    def fails(call: AttentionCall) -> Tensor:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), source.attending(fails, [1]):
        state(source)
    assert hooks(source.loaded.model) == before
    assert torch.equal(state(source), clean)


def test_layers_are_numbered_anew_in_each_pass_and_by_use(tiny: Callable[[str], Path]) -> None:
    source = opened(tiny("albert"))
    seen: list[int] = []

    def watch(call: AttentionCall) -> Tensor:
        seen.append(call.layer)
        return call.proceed()

    with handling(source.loaded.body, watch):
        state(source)
        state(source)
    assert seen == [0, 1, 2, 0, 1, 2]


def test_handlers_nest_and_only_the_inner_one_counts(tiny: Callable[[str], Path]) -> None:
    source = opened(tiny("bert"))
    outer: list[int] = []

    def watch(call: AttentionCall) -> Tensor:
        outer.append(call.layer)
        return call.proceed()

    with handling(source.loaded.body, watch), replacing(source.loaded.body, uniform, [0]):
        state(source)
    assert outer == [1, 2]


def test_another_thread_is_not_concerned(tiny: Callable[[str], Path]) -> None:
    source = opened(tiny("bert"))
    clean = state(source)
    with source.attending(uniform, range(3)), ThreadPoolExecutor(1) as pool:
        assert torch.equal(pool.submit(state, source).result(), clean)
        assert not torch.allclose(state(source), clean)


def test_gradients_pass_through_a_replacement(tiny: Callable[[str], Path]) -> None:
    source = opened(tiny("vit"))
    pixels: Any = arguments(source)["pixel_values"].clone().requires_grad_()
    with source.attending(uniform, [0]):
        source.loaded.model(pixel_values=pixels).logits.sum().backward()
    assert pixels.grad.abs().sum() > 0
