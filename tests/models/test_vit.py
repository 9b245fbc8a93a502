"""The vision transformer against transformers' own, and its attention watched, exchanged, differentiated."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from explorer.errors import Stopped
from explorer.models import offline
from explorer.models.vit import Vit, VitConfig
from explorer.models.vit_attention import rpc, scaled, softmax, symmetric
from explorer.models.vit_find import find_models
from explorer.models.vit_layout import build, infer_config

DATA = Path(__file__).parents[1] / "data"
SIZES: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48,
    "image_size": 32, "patch_size": 8, "layer_norm_eps": 1e-6,
}  # fmt: skip
SMALL = VitConfig(dim=24, depth=3, heads=3, hidden=32, patch=(2, 2), grid=(3, 4), classes=5)
NAMES = (
    (r"^(vit|deit)\.", ""),
    (r"^embeddings\.patch_embeddings\.projection", "patch_embed.proj"),
    (r"^embeddings\.position_embeddings", "pos_embed"),
    (r"^embeddings\.distillation_token", "dist_token"),
    (r"^embeddings\.", ""),
    (r"^(encoder\.layer|layers)\.", "blocks."),
    (r"\.attention\.o_proj\.", ".attn.proj."),
    (r"\.layernorm_before\.", ".norm1."),
    (r"\.layernorm_after\.", ".norm2."),
    (r"\.layer_scale(\d)\.lambda1", r".ls\1.gamma"),
    (r"\.mlp\.down_proj\.", ".mlp.w3."),
    (r"^layernorm\.", "norm."),
    (r"^(cls_)?classifier\.", "head."),
    (r"^distillation_classifier\.", "head_dist."),
)


def in_timms_names(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Rename transformers' parameters and join the projections, as conversion scripts do the other way."""
    renamed: dict[str, Tensor] = {}
    for name, tensor in state.items():
        for pattern, replacement in NAMES:
            name = re.sub(pattern, replacement, name)
        renamed[name] = tensor
    for name in [name for name in renamed if ".attention.q_proj." in name]:
        parts = [renamed.pop(name.replace("q_proj", f"{part}_proj")) for part in "qkv"]
        renamed[name.replace("attention.q_proj", "attn.qkv")] = torch.cat(parts)
    for name in [name for name in renamed if ".mlp.gate_proj." in name]:
        parts = [renamed.pop(name.replace("gate_proj", part)) for part in ("gate_proj", "up_proj")]
        renamed[name.replace("gate_proj", "w12")] = torch.cat(parts)
    return renamed


def randomised(config: VitConfig, seed: int = 0) -> Vit:
    torch.manual_seed(seed)
    model = Vit(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.3)
    return model.eval()


def images(config: VitConfig, count: int = 2) -> Tensor:
    return torch.randn(count, config.channels, *config.size, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    ("kind", "extra"),
    [
        ("ViTForImageClassification", {"num_labels": 5}),
        ("ViTForImageClassification", {"qkv_bias": False}),
        ("DeiTForImageClassificationWithTeacher", {}),
        ("Dinov2Model", {"mlp_ratio": 2}),
        ("Dinov2Model", {"use_swiglu_ffn": True}),
        ("Dinov2WithRegistersModel", {"mlp_ratio": 2}),
    ],
)
def test_agrees_with_transformers(kind: str, extra: dict[str, Any]) -> None:
    transformers = offline.transformers()
    torch.manual_seed(0)
    cls = getattr(transformers, kind)
    theirs = cls(cls.config_class(**SIZES, **extra)).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_(0, 0.2)
    (found,) = find_models(in_timms_names(theirs.state_dict()))
    ours = build(infer_config(found.parameters, {}, heads=4), found.parameters)
    pixels = images(ours.config)
    with torch.no_grad():
        expected = theirs(pixels)
        result = ours(pixels) if hasattr(expected, "logits") else ours.norm(ours.run(pixels))
    wanted = expected.logits if hasattr(expected, "logits") else expected.last_hidden_state
    torch.testing.assert_close(result, wanted, rtol=1e-4, atol=1e-5)


def test_what_is_watched_gives_what_the_output_projection_reads() -> None:
    config = replace(SMALL, qk_norm=True)
    model = randomised(config)
    read: list[Tensor] = []
    hook = model.attention(1).proj.register_forward_pre_hook(lambda module, args: read.append(args[0]))
    with torch.no_grad(), model.watching([1]) as seen:
        model.run(images(config))
    hook.remove()
    ((x, q, k, v),) = seen[1]
    weights = (q @ k.mT * 8**-0.5).softmax(-1)
    torch.testing.assert_close((weights @ v).transpose(1, 2).flatten(2), read[0])
    bias = model.attention(1).qkv.bias[-24:].reshape(3, 1, 8)
    torch.testing.assert_close(x[:, None] @ model.attention(1).value_weights().mT + bias, v)


def test_watching_ends_also_after_an_exception_and_nests() -> None:
    model = randomised(SMALL)
    pixels = images(SMALL)
    with model.watching([0]) as outer:
        with pytest.raises(KeyError), model.watching([0, 2]) as inner:
            model.run(pixels)
            raise KeyError
        assert len(inner[0]) == len(inner[2]) == 1
        assert outer[0] == []
        model.run(pixels)
    assert len(outer[0]) == 1
    model.run(pixels)
    assert len(outer[0]) == len(inner[2]) == 1


def test_threads_watch_and_exchange_each_for_itself() -> None:
    model = randomised(SMALL)
    pixels = images(SMALL)
    before = model(pixels)
    with ThreadPoolExecutor(1) as pool, model.watching([0]) as seen, model.attending(symmetric):
        assert torch.equal(pool.submit(model, pixels).result(), before)
        assert seen[0] == []
        assert not torch.equal(model(pixels), before)
        assert len(seen[0]) == 1


def test_another_attention_is_used_in_the_chosen_layers_only_and_gone_after() -> None:
    model = randomised(SMALL)
    pixels = images(SMALL)
    asked: list[int] = []

    def noting(q: Tensor, k: Tensor, v: Tensor, scale: float, layer: int) -> Tensor:
        asked.append(layer)
        return v

    before = model(pixels)
    with pytest.raises(ValueError), model.attending(noting, [2]):
        changed = model(pixels)
        raise ValueError
    assert asked == [2]
    assert not torch.equal(changed, before)
    assert torch.equal(model(pixels), before)


def test_softmax_in_the_place_of_softmax_changes_no_bit() -> None:
    model = randomised(SMALL)
    pixels = images(SMALL)
    before = model(pixels)
    with model.attending(lambda q, k, v, scale, layer: scaled_dot_product_attention(q, k, v, scale=scale)):
        assert torch.equal(model(pixels), before)


def test_one_iteration_with_a_large_penalty_is_symmetric_attention() -> None:
    model = randomised(SMALL)
    pixels = images(SMALL)
    with model.attending(symmetric):
        expected = model(pixels)
    with model.attending(rpc(width=24, lam=1e6, iterations=1)):
        torch.testing.assert_close(model(pixels), expected)


def test_keys_are_queries_where_the_layout_has_no_others() -> None:
    config = replace(SMALL, keys_are_queries=True)
    model = randomised(config)
    with torch.no_grad(), model.watching([0]) as seen:
        expected = model(images(config))
    assert torch.equal(seen[0][0].q, seen[0][0].k)
    assert model.attention(0).qkv.out_features == 48
    with torch.no_grad(), model.attending(symmetric):
        torch.testing.assert_close(model(images(config)), expected)


def test_scaled_attention_agrees_with_the_authors() -> None:
    with np.load(DATA / "scaled_attention.npz") as vectors:
        q, k, v, s, out = (torch.from_numpy(vectors[name]) for name in ("q0", "k0", "v0", "s0", "out0"))
    result = scaled(float(s))(q[None], k[None], v[None], q.shape[-1] ** -0.5, 0)
    torch.testing.assert_close(result[0].reshape(out.shape), out, rtol=1e-9, atol=1e-12)
    plain = softmax(q[None], k[None], v[None], 0.3, 0)
    torch.testing.assert_close(scaled(0.0)(q[None], k[None], v[None], 0.3, 0), plain)


@pytest.mark.parametrize("shape", [(1,), (3,), (3, 1, 1)])
def test_a_scale_of_attention_may_be_one_or_one_a_head(shape: tuple[int, ...]) -> None:
    config = replace(SMALL, attention_scale=shape)
    model = randomised(config)
    with torch.no_grad(), model.watching([0]) as seen:
        model.run(images(config), last=0)
        _, q, k, v = seen[0][0]
        expected = scaled(model.attention(0).s.reshape(-1, 1, 1))(q, k, v, 8**-0.5, 0)
        result = model.attention(0).attend(q, k, v, 8**-0.5, 0)
    torch.testing.assert_close(result, expected)


@pytest.mark.parametrize(
    "attend", [softmax, symmetric, rpc(width=24, iterations=2), rpc(width=24, form="pcp")]
)
def test_gradients_reach_the_pixels(attend: Any) -> None:
    model = randomised(SMALL).double()
    pixels = images(SMALL, 1).double().requires_grad_()
    direction = torch.randn(pixels.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    with model.attending(attend):
        (gradient,) = torch.autograd.grad(model(pixels).square().sum(), pixels)
        with torch.no_grad():
            step = 1e-6 * direction
            change = model(pixels + step).square().sum() - model(pixels - step).square().sum()
    assert float((gradient * direction).sum()) == pytest.approx(float(change) / 2e-6, rel=1e-5)


def test_stops_between_two_blocks_and_tells_of_layers() -> None:
    model = randomised(SMALL)
    told: list[tuple[int, int]] = []
    with pytest.raises(Stopped):
        model.run(
            images(SMALL), None, lambda: len(told) == 2, lambda done, total, what: told.append((done, total))
        )
    assert told == [(1, 3), (2, 3)]


def test_a_run_to_an_early_layer_does_no_more() -> None:
    model = randomised(SMALL)
    with torch.no_grad(), model.watching([0, 1, 2]) as seen:
        model.run(images(SMALL), last=1)
    assert [len(seen[layer]) for layer in range(3)] == [1, 1, 0]


def test_mean_of_patches_is_the_readout_without_a_class_token() -> None:
    config = replace(SMALL, class_token=False, positioned=0, norm=False, fc_norm=True)
    model = randomised(config)
    pixels = images(config)
    expected = model.head(model.fc_norm(model.run(pixels).mean(1)))
    torch.testing.assert_close(model(pixels), expected)
