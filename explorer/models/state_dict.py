"""Open checkpoints that hold a vision transformer's parameters and no more: timm's, DeiT's, the papers'."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from explorer.models.base import ShouldStop, never
from explorer.models.safetensors_file import read_header, read_metadata
from explorer.models.safety import Progress, load_tensors, refuse_empty_file, silent
from explorer.models.vit_find import Found, find_models, flatten, holds_vit, settings_in
from explorer.models.vit_layout import build, infer_config
from explorer.models.vit_reader import VitReader, preprocessing_for, timm_settings
from explorer.models.vit_source import StateDictSource


def open_state_dict(
    path: Path,
    *,
    heads: int | None = None,
    should_stop: ShouldStop = never,
    progress: Progress = silent,
) -> StateDictSource | None:
    """Open a checkpoint in timm's ViT/DeiT layout, whatever it is wrapped in.

    Parameters
    ----------
    path : Path
        What torch.save wrote, or safetensors.
    heads : int or None
        As the person says, where the file does not.
    progress : callable
        Told of bytes read.

    Returns
    -------
    StateDictSource or None
        None: the file is readable, and holds no such model.

    Raises
    ------
    NeedsHeads
        If the number of heads cannot be known.
    GramscopeError
        If the file is damaged or unsafe, or its model is a variant that is not supported.
    Stopped
        If `should_stop` said so.
    """
    refuse_empty_file(path)
    metadata: dict[str, str] = {}
    if path.suffix.lower() == ".safetensors":
        if not holds_vit(read_header(path)):
            return None
        metadata = read_metadata(path)
    value = load_tensors(path, should_stop, progress)
    models = find_models(flatten(value))
    if not models:
        return None
    return source_of(path, models, metadata | settings_in(value), heads)


def source_of(
    path: Path, models: list[Found], settings: dict[str, Any], heads: int | None = None
) -> StateDictSource:
    """Make a source of the first of `models`."""
    if settings.get("gramscope") == "digits":
        from explorer.models.digits import digits_source

        return digits_source(path, models[0].parameters, settings)
    config = infer_config(models[0].parameters, settings, heads)
    preprocessing, missing = preprocessing_for(config, timm_settings(path.parent))
    if config.grid[0] != config.grid[1]:
        missing += (f"the shape of the patch grid: {config.grid[0]} × {config.grid[1]} is assumed",)
    return StateDictSource(
        path.stem,
        build(config, models[0].parameters),
        VitReader(config, preprocessing, missing),
        _facts(models, missing),
        tuple(f"Not in the file: {sentence}." for sentence in missing),
    )


def _facts(models: list[Found], missing: tuple[str, ...]) -> dict[str, str]:
    opened, *others = models
    facts = {"missing": "; ".join(missing) or "nothing"}
    if opened.prefix:
        facts["parameters under"] = opened.prefix
    if others:
        facts["other models in the file"] = ", ".join(other.prefix or "(top level)" for other in others)
    if opened.unused:
        facts["not used"] = ", ".join(opened.unused)
    return facts
