"""A head recomputed from what was captured is what the untouched model feeds to its output projection."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from explorer.models.base import Capture, Head
from explorer.models.huggingface import HuggingFaceSource
from explorer.models.open import open_path
from explorer.params import Input
from tests.models.conftest import FAMILIES, Family

CPU = torch.device("cpu")
BIASED = ("t5", "switch_transformers", "mpnet", "gemma2", "beit", "beit_shared")
"""Families whose scores are not the queries times the keys alone."""
IDS = Input(text=" ".join(map(str, range(7, 19))))


def attend(head: Head) -> Tensor:
    """Attention as `Head` defines it, in float64."""
    scores = head.scale * head.q.double() @ head.k.double().T
    if head.softcap is not None:
        scores = head.softcap * torch.tanh(scores / head.softcap)
    if head.bias is not None:
        scores = scores + head.bias.double()
    if head.mask is not None:
        scores = scores.masked_fill(~head.mask, -torch.inf)
    return scores.softmax(-1) @ head.v.double()


def untouched_outputs(folder: Path, family: Family, arguments: dict[str, Tensor]) -> list[Tensor]:
    """What each layer's output projection reads in a model that knows nothing of us, (N, Hq Dv) each."""
    model = getattr(transformers, family.model).from_pretrained(folder, dtype="auto")
    assert model.config._attn_implementation != "gramscope"
    read: list[Tensor] = []
    for name, module in model.named_modules():
        if re.search(family.output, name):
            module.register_forward_pre_hook(lambda _, args: read.append(args[0].detach().flatten(0, -2)))
    body = model.vision_model if "vision_config" in family.settings else model
    body = model.get_encoder() if model.config.is_encoder_decoder else body
    with torch.no_grad():
        body(**arguments)
    return [outputs.reshape(-1, outputs.shape[-1]) for outputs in read]


def capture_all(folder: Path, input: Input) -> tuple[HuggingFaceSource, Capture]:
    source = open_path(folder)
    assert isinstance(source, HuggingFaceSource)
    return source, source.capture(range(source.layers), input, CPU)


@pytest.mark.parametrize("name", FAMILIES)
def test_heads_agree_with_the_untouched_model(name: str, tiny: Callable[[str], Path]) -> None:
    family = FAMILIES[name]
    source, capture = capture_all(tiny(name), _input(family))
    assert (source.layers, source.heads) == (3, 4)
    assert len(capture.tokens) == family.tokens
    truth = untouched_outputs(tiny(name), family, source.prepare(1, _input(family), CPU).arguments)
    assert len(truth) == 3
    for layer in range(3):
        for index in range(4):
            head = capture.head(layer, index)
            expected = truth[layer].unflatten(-1, (4, -1))[:, index].double()
            error = (attend(head) - expected).norm() / expected.norm()
            assert error < 5e-6, (layer, index, error)


def _input(family: Family) -> Input:
    return Input() if family.tokens > 12 else IDS


@pytest.mark.parametrize("name", FAMILIES)
def test_values_are_the_layer_input_times_the_value_weights(name: str, tiny: Callable[[str], Path]) -> None:
    _, capture = capture_all(tiny(name), _input(FAMILIES[name]))
    for layer in range(3):
        for index in range(4):
            head = capture.head(layer, index)
            assert head.x is not None and head.w_v is not None
            bias = head.v - head.x @ head.w_v.T
            torch.testing.assert_close(bias, bias[:1].expand_as(bias), atol=2e-5, rtol=0)


def _scale(name: str, layer: int, width: int) -> float:
    own = {"t5": 1.0, "switch_transformers": 1.0, "gemma2": 9**-0.5}
    if name == "gpt2_layer_scaled":
        return width**-0.5 / (layer + 1)
    return own.get(name, width**-0.5)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_scale_is_the_family_s_own(name: str, tiny: Callable[[str], Path]) -> None:
    _, capture = capture_all(tiny(name), _input(FAMILIES[name]))
    for layer in range(3):
        head = capture.head(layer, 0)
        assert head.scale == pytest.approx(_scale(name, layer, head.q.shape[-1]), rel=1e-6)
        assert head.plain_kernel == (name not in BIASED)


def test_queries_that_the_model_scales_are_unscaled(tiny: Callable[[str], Path]) -> None:
    source, capture = capture_all(tiny("opt"), IDS)
    for layer in range(3):
        head = capture.head(layer, 1)
        projection: Any = source.loaded.body.decoder.layers[layer].self_attn.q_proj  # type: ignore[union-attr]
        assert head.x is not None
        expected = projection(head.x).view(-1, 4, 12)[:, 1]
        torch.testing.assert_close(head.q, expected)
