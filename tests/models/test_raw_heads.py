"""Heads captured elsewhere, and the way back: names, axes, and the same numbers bit for bit."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.base import Capture, LayerHeads, Source, Token
from explorer.models.choices import NeedsHeads
from explorer.models.open import open_path
from explorer.models.raw_heads import RawHeadsSource, open_raw_heads
from explorer.models.raw_names import Place, read_name
from explorer.models.safetensors_file import read_metadata
from explorer.models.save_heads import save_heads
from explorer.models.synthetic import SyntheticSource
from explorer.params import Input
from tests.models.test_safety import Hostile

CPU = torch.device("cpu")
DATA = Path(__file__).parents[1] / "data"


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def heads(*shape: int) -> dict[str, Any]:
    return {name: draw(*shape, seed=seed) for seed, name in enumerate("qkv")}


def opened(
    value: dict[str, Any], folder: Path, suffix: str = ".pt", count: int | None = None
) -> RawHeadsSource:
    path = folder / f"a{suffix}"
    if suffix == ".npz":
        np.savez(path, **{n: v.numpy() if isinstance(v, Tensor) else v for n, v in value.items()})
    elif suffix == ".safetensors":
        save_file(value, path)
    else:
        torch.save(value, path)
    source = open_raw_heads(path, heads=count)
    assert source is not None
    return source


def layer(source: Source, number: int = 0, index: int = 0) -> LayerHeads:
    return source.capture([number], Input(index=index), CPU).layers[number]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("q", Place("q")),
        ("Keys", Place("k")),
        ("V", Place("v")),
        ("layer3.q", Place("q", 3)),
        ("layers.3.self_attn.k_proj", Place("k", 3)),
        ("query_states_0", Place("q", 0)),
        ("l5h11_v", Place("v", 5, 11)),
        ("layer_2/head_0/queries", Place("q", 2, 0)),
        ("h.4.attn.value", Place("v", 4)),
        ("blocks.7.attn.queryStates", Place("q", 7)),
        ("hidden_states", Place("x")),
        ("layer3.input", Place("x", 3)),
        ("W_V", Place("w_v")),
        ("v.weight", Place("w_v")),
        ("num_heads", Place("heads")),
        ("layer0.position_bias", Place("bias", 0)),
        ("qkv", None),
        ("encoder.layer.0.attention.self.query.weight", None),
        ("eigenvalues", None),
        ("layer1.block2.head3.q4", None),
    ],
)
def test_names(name: str, place: Place | None) -> None:
    assert read_name(name) == place


@pytest.mark.parametrize("suffix", [".npz", ".safetensors", ".pt"])
@pytest.mark.parametrize("names", ["qkv", ("query", "key", "value"), ("Q", "K", "V")])
def test_each_kind_of_file(suffix: str, names: Any, tmp_path: Path) -> None:
    value = dict(zip(names, heads(3, 7, 4).values(), strict=True))
    source = opened(value, tmp_path, suffix)
    assert (source.kind, source.layers, source.heads) == ("heads", 1, 3)
    for name, part in zip("qkv", value.values(), strict=True):
        assert torch.equal(getattr(layer(source), name), part)
    assert open_path(tmp_path / f"a{suffix}").facts == source.facts


def test_layers_keep_their_numbers(tmp_path: Path) -> None:
    value = {f"layer{n}.{name}": part for n in (3, 7) for name, part in heads(2, 5, 4).items()}
    source = opened(value, tmp_path, ".safetensors")
    assert source.numbers == (3, 7)
    assert source.layers == 8
    assert source.capture([7, 3], Input(), CPU).head(7, 1).layer == 7
    with pytest.raises(GramscopeError, match=r"no layer 0\. Choose one that it has: 3, 7"):
        layer(source)


def test_nested_dicts_and_lists(tmp_path: Path) -> None:
    part = heads(2, 5, 4)
    assert opened({"attention": {3: part, 4: part}}, tmp_path).numbers == (3, 4)
    assert opened({"layers": [part, part]}, tmp_path).numbers == (0, 1)


def test_heads_saved_one_by_one(tmp_path: Path) -> None:
    value = {f"l2h{h}_{name}": draw(6, 4, seed=h) for h in (11, 3) for name in "qkv"}
    source = opened(value, tmp_path, ".npz")
    assert torch.equal(layer(source, 2).k, torch.stack([draw(6, 4, seed=3), draw(6, 4, seed=11)]))
    assert "heads shown from 0 on are the file's 3, 11" in " ".join(source.notes)


def test_the_vectors_of_a_real_bert_open() -> None:
    source = open_path(DATA / "reproduction_minilm.npz")
    assert source.kind == "heads"
    assert isinstance(source, RawHeadsSource)
    head = source.capture([source.numbers[0]], Input(), CPU).head(source.numbers[0], 0)
    assert head.k.shape == (91, 32)
    assert len(head.tokens) == 91


@pytest.mark.parametrize(
    ("q", "k", "extra", "read"),
    [
        ((7, 4), (7, 4), {}, (1, 7, 4)),
        ((1, 7, 4), (1, 7, 4), {}, (1, 7, 4)),
        ((3, 7, 4), (3, 7, 4), {}, (3, 7, 4)),
        ((1, 3, 7, 4), (1, 3, 7, 4), {}, (3, 7, 4)),
        ((4, 7, 8), (2, 7, 8), {}, (4, 7, 8)),
        ((7, 4, 8), (7, 2, 8), {}, (4, 7, 8)),
        ((7, 3, 4), (7, 3, 4), {"x": (7, 12)}, (3, 7, 4)),
        ((1, 7, 3, 4), (1, 7, 3, 4), {"x": (1, 7, 12)}, (3, 7, 4)),
        ((3, 7, 4), (3, 7, 4), {"x": (3, 12)}, (7, 3, 4)),
        ((7, 3, 4), (7, 3, 4), {"mask": (7, 7)}, (3, 7, 4)),
        ((4, 7), (4, 7), {"x": (7, 12)}, (1, 7, 4)),
    ],
)
def test_axes_are_recognised(
    q: tuple[int, ...],
    k: tuple[int, ...],
    extra: dict[str, tuple[int, ...]],
    read: tuple[int, ...],
    tmp_path: Path,
) -> None:
    value = {"q": draw(*q), "k": draw(*k), "v": draw(*k, seed=1)}
    source = opened(value | {name: draw(*shape) for name, shape in extra.items()}, tmp_path)
    found = layer(source).q
    assert found.shape == read
    assert sorted(found.flatten().tolist()) == sorted(value["q"].flatten().tolist())
    if q == (7, 3, 4) or q == (7, 4, 8):
        assert torch.equal(found, value["q"].transpose(0, 1))
    if q == (4, 7):
        assert torch.equal(found[0], value["q"].T)


def test_values_tell_the_axes_apart_by_their_width(tmp_path: Path) -> None:
    value = {"q": draw(4, 7), "k": draw(4, 7), "v": draw(5, 7)}
    assert torch.equal(layer(opened(value, tmp_path)).v[0], value["v"].T)


def test_axes_that_fit_both_ways_are_asked_for(tmp_path: Path) -> None:
    value = heads(9, 3, 4)
    with pytest.raises(NeedsHeads, match="3 heads of 9 tokens, or 9 heads of 3 tokens") as caught:
        opened(value, tmp_path)
    assert caught.value.choices == (3, 9)
    assert open_path(tmp_path / "a.pt", heads=3).heads == 3
    assert torch.equal(layer(open_path(tmp_path / "a.pt", heads=9)).q, value["q"])


def test_heads_side_by_side_are_asked_for_and_split(tmp_path: Path) -> None:
    value = heads(5, 384)
    with pytest.raises(NeedsHeads) as caught:
        opened(value, tmp_path)
    assert caught.value.choices[0] == 6
    assert caught.value.choices[-1] == 1
    source = opened(value, tmp_path, count=6)
    assert torch.equal(layer(source).q[1], value["q"][:, 64:128])
    assert opened(value | {"num_heads": 12}, tmp_path).heads == 12
    with pytest.raises(GramscopeError, match="7 heads do not divide"):
        opened(value, tmp_path, count=7)


def test_four_dimensions_are_layers_or_with_numbered_names_a_batch(tmp_path: Path) -> None:
    value = heads(2, 3, 7, 4) | {"x": draw(2, 7, 12)}
    stacked = opened(value, tmp_path)
    assert (stacked.numbers, stacked.samples) == ((0, 1), 1)
    assert torch.equal(layer(stacked, 1).q, value["q"][1])
    assert torch.equal(layer(stacked, 1).x, value["x"][1])
    batch = opened({f"layer4.{name}": part for name, part in value.items()}, tmp_path)
    assert (batch.numbers, batch.samples) == ((4,), 2)
    assert torch.equal(layer(batch, 4, index=1).v, value["v"][1])
    assert torch.equal(layer(batch, 4, index=3).x, value["x"][1])


def test_what_else_is_known_is_kept(tmp_path: Path) -> None:
    x, w_v = draw(7, 12), draw(6, 12, seed=5)
    value = {
        "q": draw(2, 7, 4), "k": draw(2, 7, 4, seed=1), "v": (x @ w_v.T + 3).reshape(7, 2, 3).transpose(0, 1),
        "x": x, "scale": 0.25, "tokens": list("abcdefg"), "softcap": 30.0, "bias": draw(2, 7, 7),
        "mask": torch.ones(7, 7).tril(),
    }  # fmt: skip
    for given in (w_v, w_v.T.contiguous(), w_v.reshape(2, 3, 12)):
        source = opened(value | {"w_v": given}, tmp_path)
        found = layer(source)
        assert (found.scale, found.softcap) == (0.25, 30.0)
        assert torch.equal(found.w_v, w_v.reshape(2, 3, 12))
        assert torch.equal(found.mask, torch.ones(7, 7, dtype=torch.bool).tril())
        assert torch.equal(found.bias, value["bias"])
        assert [token.text for token in source.capture([0], Input(), CPU).tokens] == list("abcdefg")
    strange = opened(value | {"w_v": draw(6, 12, seed=6), "input": "the text"}, tmp_path)
    assert layer(strange).w_v is None
    assert "the shape or the numbers of w_v do not fit" in " ".join(strange.notes)


@pytest.mark.parametrize(
    "mask",
    [
        torch.ones(4, 4, dtype=torch.bool).tril(),
        torch.ones(4, 4, dtype=torch.int64).tril(),
        torch.zeros(4, 4).masked_fill(torch.ones(4, 4, dtype=torch.bool).triu(1), -torch.inf),
        torch.zeros(1, 1, 4, 4).masked_fill(torch.ones(4, 4, dtype=torch.bool).triu(1), -10000.0),
    ],
)
def test_masks_in_every_convention(mask: Tensor, tmp_path: Path) -> None:
    found = layer(opened(heads(2, 4, 3) | {"mask": mask}, tmp_path)).mask
    assert torch.equal(found, torch.ones(4, 4, dtype=torch.bool).tril())


def test_a_mask_of_tokens_hides_their_keys(tmp_path: Path) -> None:
    found = layer(opened(heads(2, 3, 4) | {"mask": torch.tensor([1, 1, 0])}, tmp_path)).mask
    assert torch.equal(found, torch.tensor([[True, True, False]] * 3))


def test_safetensors_may_say_more_in_their_header(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    save_file(heads(2, 3, 4), path, metadata={"scale": "0.5", "tokens": json.dumps(["a", "b", "c"])})
    source = open_raw_heads(path)
    assert source is not None
    assert layer(source).scale == 0.5
    assert source.capture([0], Input(), CPU).tokens[2] == Token("c")


def test_a_scale_that_nobody_stated_is_named(tmp_path: Path) -> None:
    source = opened(heads(2, 7, 4), tmp_path)
    assert layer(source).scale == 0.5
    assert "1/√D is used" in source.notes[0]


def test_keys_that_are_queries_are_told_of(tmp_path: Path) -> None:
    value = heads(2, 7, 4)
    assert not opened(value, tmp_path).symmetric
    assert opened(value | {"q": value["k"].clone()}, tmp_path).symmetric


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"v": None}, "Layer 0 has no v"),
        ({"k": draw(2, 8, 4)}, "no order of heads, tokens and head_dim fits"),
        ({"k": draw(7, 4)}, "same number of dimensions"),
        ({"q": torch.zeros(2, 7, 4, dtype=torch.int32)}, "q holds torch.int32 where floating-point"),
        ({"q": torch.full((2, 7, 4), torch.nan)}, "q holds NaN or infinity"),
        (
            {"q": torch.zeros(2, 7, 4, dtype=torch.complex64)},
            "real numbers, and is a tensor of torch.complex64",
        ),
        ({name: torch.zeros(0, 7, 4) for name in "qkv"}, "empty"),
        ({"tokens": list("abc")}, "3 tokens otherwise"),
        ({"scale": draw(3)}, "scale should be one number"),
        ({"gramscope": "{"}, "description of its heads is damaged"),
        ({"gramscope": json.dumps({"name": "", "tokens": [3]})}, "description of its heads is damaged"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    value = {name: part for name, part in (heads(2, 7, 4) | change).items() if part is not None}
    with pytest.raises(GramscopeError, match=says):
        opened(value, tmp_path)


def test_heads_of_different_shape_in_a_layer_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match="differ in shape"):
        opened({f"l0h{h}_{name}": draw(5 + h, 4) for h in range(2) for name in "qkv"}, tmp_path)


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_a_hostile_pickle_around_heads_is_refused(zipped: bool, tmp_path: Path) -> None:
    value = heads(2, 7, 4) | {"tokens": Hostile(tmp_path / "hurt")}
    torch.save(value, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    with pytest.raises(GramscopeError, match="convert it to safetensors"):
        open_raw_heads(tmp_path / "a.pt")
    np.savez(tmp_path / "a.npz", q=np.array([Hostile(tmp_path / "hurt")], dtype=object))
    with pytest.raises(GramscopeError, match="plain NumPy arrays"):
        open_raw_heads(tmp_path / "a.npz")
    assert not (tmp_path / "hurt").exists()


@pytest.mark.parametrize("value", [{"alpha": torch.zeros(3)}, {"q": torch.zeros(3, 2)}])
@pytest.mark.parametrize("suffix", [".pt", ".safetensors", ".npz"])
def test_other_files_are_left_to_others(value: dict[str, Tensor], suffix: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        opened(value, tmp_path, suffix)


def test_whole_numbers_of_the_other_byte_order(tmp_path: Path) -> None:
    value = heads(2, 7, 4)
    np.savez(tmp_path / "a.npz", **{name: part.numpy().astype(">f4") for name, part in value.items()})
    assert torch.equal(layer(open_path(tmp_path / "a.npz")).q, value["q"])


def full_capture(dtype: torch.dtype) -> Capture:
    tokens = (
        Token("[CLS]", special=True),
        Token("0,0", patch=(0, 0)),
        Token("ing", word_start=False),
        Token("ü"),
    )
    k = draw(2, 4, 8).to(dtype)
    symmetric = LayerHeads(k.repeat(2, 1, 1), k, draw(2, 4, 3).to(dtype), 0.1 + 0.2)
    full = LayerHeads(
        draw(4, 4, 8, seed=1).to(dtype), k, draw(2, 4, 3, seed=2).to(dtype), 1 / 3,
        mask=torch.ones(1, 4, dtype=torch.bool).expand(4, 4).tril(), bias=draw(4, 4, 4), softcap=50.0,
        x=draw(4, 6), w_v=None,
    )  # fmt: skip
    shared = LayerHeads(k, k, k, 8**-0.5)
    image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    return Capture(tokens, {2: symmetric, 5: full, 6: shared}, image, (2, 2), 99, ("A note.",), "text ü\n")


@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_what_is_saved_opens_bit_for_bit(suffix: str, dtype: torch.dtype, tmp_path: Path) -> None:
    capture = full_capture(dtype)
    path = tmp_path / f"heads{suffix}"
    save_heads(capture, path, name="bert, “layer” 2")
    source = open_path(path)
    assert source.name == "bert, “layer” 2"
    again = source.capture([2, 5, 6], Input(), CPU)
    for name in ("tokens", "grid", "truncated_from", "notes", "text"):
        assert getattr(again, name) == getattr(capture, name)
    assert np.array_equal(again.image, capture.image)
    for number, before in capture.layers.items():
        for field in fields(LayerHeads):
            wanted, found = getattr(before, field.name), getattr(again.layers[number], field.name)
            if not isinstance(wanted, Tensor):
                assert found == wanted
                continue
            keeps = suffix == ".safetensors" or wanted.dtype != torch.bfloat16
            assert found.dtype == (wanted.dtype if keeps else torch.float32)
            assert torch.equal(found, wanted.to(found.dtype))


@pytest.mark.parametrize("shape", [(9, 3, 4), (5, 300)])
@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
def test_saved_heads_are_never_asked_about(shape: tuple[int, ...], suffix: str, tmp_path: Path) -> None:
    part = draw(*shape) if len(shape) == 3 else draw(*shape)[None]
    tokens = tuple(Token(str(n)) for n in range(part.shape[1]))
    save_heads(Capture(tokens, {0: LayerHeads(part, part, part, 1.0)}), tmp_path / f"a{suffix}")
    assert torch.equal(layer(open_path(tmp_path / f"a{suffix}")).q, part)


def test_a_synthetic_head_comes_back(tmp_path: Path) -> None:
    source = SyntheticSource()
    capture = source.capture([0], Input(), CPU)
    save_heads(capture, tmp_path / "a.safetensors", name=source.name)
    again = open_path(tmp_path / "a.safetensors").capture([0], Input(), CPU).head(0, 0)
    before = capture.head(0, 0)
    assert torch.equal(again.k, before.k)
    assert (again.width, again.scale, again.tokens) == (before.width, before.scale, before.tokens)


def test_saving_replaces_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = full_capture(torch.float32)
    path = tmp_path / "a.safetensors"
    path.write_bytes(b"before")
    with monkeypatch.context() as patch, pytest.raises(GramscopeError, match="no space left"):
        patch.setattr(Path, "replace", lambda *args: (_ for _ in ()).throw(OSError(28, "no space")))
        save_heads(capture, path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.glob("*.safetensors")) == [path]
    assert not list(tmp_path.glob(".gramscope*"))
    save_heads(capture, path)
    assert json.loads(read_metadata(path)["gramscope"])["grid"] == [2, 2]


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GramscopeError, match=r"written as \.safetensors or \.npz"):
        save_heads(full_capture(torch.float32), tmp_path / "a.pt")
    with pytest.raises(GramscopeError, match="does not exist"):
        save_heads(full_capture(torch.float32), tmp_path / "gone" / "a.npz")
