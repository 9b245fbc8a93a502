"""Read a vision transformer's configuration off the shapes of its parameters, and build it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.models.choices import NeedsHeads
from explorer.models.vit import Vit, VitConfig

KNOWN_HEADS = {
    192: 3, 256: 4, 320: 5, 384: 6, 512: 8, 640: 10, 768: 12, 1024: 16, 1152: 16, 1280: 16, 1408: 16,
    1536: 24, 1664: 16,
}  # fmt: skip
"""Heads of timm's, DeiT's and DINOv2's models by width."""
HEAD_DIMS = range(8, 257)
PLAIN = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def count_heads(parameters: Mapping[str, Tensor], settings: Mapping[str, Any], heads: int | None) -> int:
    """Return how many heads there are: as told, as saved, as the shapes say, or as the width has it.

    Raises
    ------
    NeedsHeads
        If nothing says.
    GramscopeError
        If the number does not divide the width.
    """
    dim = parameters["patch_embed.proj.weight"].shape[0]
    found = heads or next(_heads_said(parameters, settings), None) or KNOWN_HEADS.get(dim)
    if found is None:
        fitting = [number for number in range(1, dim + 1) if dim % number == 0 and dim // number in HEAD_DIMS]
        fitting.sort(key=lambda number: abs(math.log2(dim / number / 64)))
        raise NeedsHeads(f"How many heads has this model of width {dim}? The file does not say.", fitting)
    if found < 1 or dim % found:
        raise GramscopeError(f"{found} heads do not divide the model's width of {dim}. Choose a divisor.")
    return found


def _heads_said(parameters: Mapping[str, Tensor], settings: Mapping[str, Any]) -> Iterator[int]:
    for name in ("num_heads", "n_heads", "heads", "num_attention_heads"):
        said = settings.get(name)
        if isinstance(said, int | str) and str(said).isdigit():
            yield int(said)
    norm = parameters.get("blocks.0.attn.q_norm.weight")
    if norm is not None and norm.numel():
        yield parameters["patch_embed.proj.weight"].shape[0] // norm.numel()
    scale = parameters.get("blocks.0.attn.s")
    if scale is not None and scale.numel() > 1:
        yield scale.numel()


def _image_size(settings: Mapping[str, Any]) -> tuple[int, int] | None:
    for name in ("img_size", "image_size", "input_size"):
        said = settings.get(name)
        if isinstance(said, int):
            return said, said
        if isinstance(said, list | tuple) and len(said) >= 2 and all(isinstance(n, int) for n in said):
            return said[-2], said[-1]
    return None


def _place_positions(
    length: int, leading: list[int], patch: tuple[int, int], size: tuple[int, int] | None
) -> tuple[int, tuple[int, int]]:
    """Return how many of `length` positions belong to leading tokens, and the grid of the rest."""
    if size is not None:
        grid = size[0] // patch[0], size[1] // patch[1]
        for count in leading:
            if grid[0] * grid[1] == length - count:
                return count, grid
    grids = [(count, _most_square(length - count)) for count in leading if length > count]
    if not grids:
        raise GramscopeError("The model has no position for any patch: it cannot be shown.")
    return min(grids, key=lambda entry: entry[1][1] / entry[1][0])


def _most_square(count: int) -> tuple[int, int]:
    rows = next(rows for rows in range(math.isqrt(count), 0, -1) if count % rows == 0)
    return rows, count // rows


def infer_config(
    parameters: Mapping[str, Tensor], settings: Mapping[str, Any], heads: int | None = None
) -> VitConfig:
    """Read the configuration off the shapes.

    Parameters
    ----------
    parameters : dict of str to Tensor
        By timm's names.
    settings : dict
        What was saved beside them (number of heads, image size), where it was.
    heads : int or None
        As the person says.

    Raises
    ------
    NeedsHeads
        If nothing says how many heads there are.
    GramscopeError
        If this is not a plain vision transformer.
    """
    try:
        return _infer(parameters, settings, heads)
    except KeyError as error:
        raise GramscopeError(
            f"The checkpoint looks like a vision transformer, but its parameter {error} is missing. "
            "Variants without absolute positions (BEiT, EVA, Swin) are not supported."
        ) from error
    except (ValueError, IndexError) as error:
        raise GramscopeError(
            "The parameters' shapes are not those of a vision transformer.", str(error)
        ) from error


def _infer(parameters: Mapping[str, Tensor], settings: Mapping[str, Any], heads: int | None) -> VitConfig:
    dim, channels, height, width = parameters["patch_embed.proj.weight"].shape
    if not min(parameters["patch_embed.proj.weight"].shape):
        raise ValueError("patches of no size")
    if channels not in (1, 3):
        raise GramscopeError(
            f"The model reads images of {channels} channels; only grey and colour are shown."
        )
    blocks = {int(match[1]) for name in parameters if (match := re.match(r"blocks\.(\d+)\.", name))}
    rows = parameters["blocks.0.attn.qkv.weight"].shape[0]
    hidden = parameters["blocks.0.mlp.fc2.weight"].shape[1]
    scale = parameters.get("blocks.0.attn.s")
    class_token, dist_token = "cls_token" in parameters, "dist_token" in parameters
    registers = parameters["reg_token"].shape[1] if "reg_token" in parameters else 0
    named = class_token + dist_token
    positioned, grid = _place_positions(
        parameters["pos_embed"].shape[1],
        [named + registers, named, 0],
        (height, width),
        _image_size(settings),
    )
    return VitConfig(
        dim=dim, depth=len(blocks), heads=count_heads(parameters, settings, heads), hidden=hidden,
        patch=(height, width), grid=grid, channels=channels,
        classes=_outputs(parameters, "head"), dist_classes=_outputs(parameters, "head_dist"),
        class_token=class_token, dist_token=dist_token, registers=registers, positioned=positioned,
        keys_are_queries=rows == 2 * dim,
        attention_scale=None if scale is None else tuple(scale.shape),
        qk_norm="blocks.0.attn.q_norm.weight" in parameters or "blocks.0.attn.k_norm.weight" in parameters,
        layer_scale="blocks.0.ls1.gamma" in parameters,
        gated=parameters["blocks.0.mlp.fc1.weight"].shape[0] == 2 * hidden,
        norm_pre="norm_pre.weight" in parameters, norm="norm.weight" in parameters,
        fc_norm="fc_norm.weight" in parameters,
    )  # fmt: skip


def _outputs(parameters: Mapping[str, Tensor], head: str) -> int:
    weight = parameters.get(f"{head}.weight")
    return 0 if weight is None else weight.shape[0]


def build(config: VitConfig, parameters: Mapping[str, Tensor]) -> Vit:
    """Return the model with these parameters, ready to run; a linear map without a bias gets zeros.

    Raises
    ------
    GramscopeError
        If the parameters are not the model's, one for one, in name and shape.
    """
    with torch.device("meta"):
        model = Vit(config)
    needed = model.state_dict()
    given = dict(parameters)
    for name in needed.keys() - given.keys():
        if re.search(r"\b(proj|qkv|fc1|fc2|head|head_dist)\.bias$", name):
            given[name] = torch.zeros(needed[name].shape, dtype=given["pos_embed"].dtype)
    wrong = [f"{name} is missing" for name in sorted(needed.keys() - given.keys())]
    wrong += [f"{name} has no place" for name in sorted(given.keys() - needed.keys())]
    wrong += [
        f"{name} has shape {tuple(given[name].shape)} where {tuple(needed[name].shape)} fits"
        for name in sorted(needed.keys() & given.keys())
        if given[name].shape != needed[name].shape
    ]
    if wrong:
        raise GramscopeError(
            f"The checkpoint is close to a vision transformer in timm's layout, but {wrong[0]}"
            f"{f', and {len(wrong) - 1} more' if len(wrong) > 1 else ''}: its attention would be wrong.",
            "\n".join(wrong),
        )
    model.load_state_dict(_one_format(given), assign=True)
    return model.requires_grad_(False).eval()


def _one_format(parameters: dict[str, Tensor]) -> dict[str, Tensor]:
    """Bring parameters of several number formats, or of 8 bits, to single precision."""
    if not all(tensor.is_floating_point() for tensor in parameters.values()):
        raise GramscopeError("The weights are quantised to whole numbers. Save them unquantised.")
    formats = {tensor.dtype for tensor in parameters.values()}
    if len(formats) == 1 and formats <= set(PLAIN):
        return parameters
    return {name: tensor.float() for name, tensor in parameters.items()}
