"""What a capture keeps, shows and costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from explorer.errors import GramscopeError, Stopped
from explorer.models.capture import capture_heads
from explorer.params import Input
from tests.models.conftest import FAMILIES
from tests.models.test_attention_calls import CPU, IDS, hooks, opened
from tests.models.test_families import attend, untouched_outputs


def test_only_the_layers_asked_for_are_kept_and_later_ones_not_run(tiny: Callable[[str], Path]) -> None:
    source = opened(tiny("bert"))
    ran: list[int] = []
    for number, layer in enumerate(source.loaded.body.encoder.layer):  # type: ignore[union-attr]
        layer.register_forward_hook(lambda *_, number=number: ran.append(number))
    assert list(source.capture([1], IDS, CPU).layers) == [1]
    assert ran == [0]


def test_kept_tensors_hold_nothing_else_alive(tiny: Callable[[str], Path]) -> None:
    for name in ("bert", "gpt2", "gpt_neox", "llama", "phi3"):
        heads = opened(tiny(name)).capture([1], IDS, CPU).layers[1]
        for part in (heads.q, heads.k, heads.v):
            assert part.untyped_storage().nbytes() == part.numel() * part.element_size(), name
            assert not part.requires_grad


def test_causal_mask_is_shown_and_full_attention_has_none(tiny: Callable[[str], Path]) -> None:
    llama = opened(tiny("llama")).capture([0], IDS, CPU).head(0, 3)
    assert llama.mask is not None and torch.equal(llama.mask, torch.ones(12, 12, dtype=torch.bool).tril())
    assert opened(tiny("bert")).capture([0], IDS, CPU).head(0, 0).mask is None


def test_sliding_window_is_shown(tiny: Callable[[str], Path]) -> None:
    mask = opened(tiny("mistral")).capture([1], IDS, CPU).head(1, 0).mask
    rows, columns = torch.arange(12)[:, None], torch.arange(12)
    assert mask is not None and torch.equal(mask, (columns <= rows) & (columns > rows - 5))


def test_padding_is_shown(tiny: Callable[[str], Path]) -> None:
    source = opened(tiny("bert"))
    ids, seen = torch.arange(7, 13)[None], torch.tensor([[1, 1, 1, 1, 0, 0]])
    kept = capture_heads(
        source.loaded.body, lambda: source.loaded.body(input_ids=ids, attention_mask=seen), [0]
    )
    assert kept[0].mask is not None
    assert torch.equal(kept[0].mask, seen.bool().expand(6, 6))


def test_query_heads_name_the_key_head_that_serves_them(tiny: Callable[[str], Path]) -> None:
    capture = opened(tiny("llama")).capture([2], IDS, CPU)
    assert [capture.head(2, index).kv_index for index in range(4)] == [0, 0, 1, 1]


@pytest.mark.parametrize("name", ["bert", "llama", "gpt2", "opt", "vit"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_agrees_to_its_own_precision(name: str, dtype: torch.dtype, tmp_path: Path) -> None:
    family = FAMILIES[name]
    family.make().to(dtype).save_pretrained(tmp_path)
    source = opened(tmp_path)
    input = Input() if source.kind == "image" else IDS
    capture = source.capture([0, 1, 2], input, CPU)
    assert capture.layers[0].q.dtype == dtype
    prepared = {
        key: value.to(dtype) if value.is_floating_point() else value
        for key, value in source.prepare(1, input, CPU).arguments.items()
    }
    for layer, output in enumerate(untouched_outputs(tmp_path, family, prepared)):
        for index in range(4):
            expected = output.unflatten(-1, (4, -1))[:, index].double()
            error = (attend(capture.head(layer, index)) - expected).norm() / expected.norm()
            assert error < 2 * torch.finfo(dtype).eps


def test_a_stop_is_obeyed_between_layers_and_leaves_nothing(tiny: Callable[[str], Path]) -> None:
    source = opened(tiny("bert"))
    before, reached = hooks(source.loaded.model), []

    def stop() -> bool:
        reached.append(1)
        return len(reached) == 2

    with pytest.raises(Stopped):
        source.capture([2], IDS, CPU, stop)
    assert hooks(source.loaded.model) == before


def test_progress_counts_layers(tiny: Callable[[str], Path]) -> None:
    told: list[tuple[int, int, str]] = []
    opened(tiny("bert")).capture([2], IDS, CPU, progress=lambda *report: told.append(report))
    assert told == [(1, 3, "layer 0"), (2, 3, "layer 1"), (3, 3, "layer 2")]


def test_a_layer_that_is_not_there_is_named(tiny: Callable[[str], Path]) -> None:
    with pytest.raises(GramscopeError, match=r"no layer 7: .* layers 0 to 2"):
        opened(tiny("bert")).capture([7], IDS, CPU)
