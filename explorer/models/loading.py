"""From a Hugging Face folder to a model, without its code, the network or a pickle having a say."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor, device, nn, random

from explorer.errors import GramscopeError
from explorer.models.attention_calls import NAME, register, tap
from explorer.models.base import ShouldStop, never
from explorer.models.checkpoint import read_weights, weight_files
from explorer.models.configs import nested_items, read_config
from explorer.models.model_heads import class_with_head, head_of
from explorer.models.offline import transformers
from explorer.models.readable import OWN_CODE, not_shown
from explorer.models.safety import Progress, silent


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model, and the part of it that is watched.

    Attributes
    ----------
    model : Module
        The whole, with its head.
    body : Module
        The stack of self-attention layers that `Source.layers` counts: the encoder of an
        encoder–decoder, the vision tower of CLIP.
    config : object
        The body's transformers configuration.
    notes : tuple of str
        What was not in the files.
    headless : bool
        Whether what comes after the layers was not in the files and is random: it says nothing then.
    """

    model: Any
    body: nn.Module
    config: Any
    notes: tuple[str, ...] = ()
    headless: bool = False

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the body's forward accepts by name."""
        return tuple(inspect.signature(self.body.forward).parameters)


def model_class(config: Any, weights: Collection[str] = ()) -> Any:
    """Return the class that the config names, or one whose head is among the weights, or the bare model.

    Parameters
    ----------
    weights : collection of str
        Names in the checkpoint: they have a head or not, whatever the config calls the model.
    """
    named = (getattr(transformers(), str(name), None) for name in config.architectures or ())
    found = next((kind for kind in named if hasattr(kind, "from_pretrained")), None)
    if found is None or head_of(found.__name__) is None:
        found = class_with_head(config, weights) or found
    if found is not None:
        return found
    try:
        return transformers("models.auto.modeling_auto").MODEL_MAPPING[type(config)]
    except KeyError as error:
        raise GramscopeError(f"transformers has no model for the family “{config.model_type}”.") from error


def body_of(model: Any) -> Any:
    """Return the part of a model whose self-attention is shown."""
    vision = next((module for module in model.modules() if type(module).__name__ == "CLIPVisionModel"), None)
    if vision is not None:
        return vision
    if model.config.is_encoder_decoder:
        return model.get_encoder()
    base = model.base_model
    return base if base.main_input_name in inspect.signature(base.forward).parameters else model


def _refuse_missing(missing: set[str], model: Any, body: nn.Module) -> tuple[str, ...]:
    """Raise if the body lacks weights; return a note if only what comes after it does."""
    prefix = next(name for name, module in model.named_modules() if module is body)
    own = {f"{prefix}.{name}" if prefix else name for name, _ in body.named_parameters()}
    needed = sorted(name for name in missing & own if "pooler" not in name)
    if needed:
        raise GramscopeError(
            f"The files lack {len(needed)} of the model's weights, {needed[0]} first: they belong to another "
            "model, or the download is incomplete.",
            "\n".join(needed),
        )
    if missing:
        return (f"{len(missing)} weights outside the layers were not in the files and are random.",)
    return ()


def watch(model: Any, info: dict[str, Any]) -> Loaded:
    """Choose what is watched of a loaded model; `info` is transformers' loading report.

    Raises
    ------
    GramscopeError
        If weights of the watched part were not in the files, or it cannot be watched.
    """
    body = body_of(model)
    if not hasattr(body, "config"):
        raise not_shown("This model", type(model), f"its attention {OWN_CODE}")
    tap(body)
    notes = _refuse_missing(set(info["missing_keys"]), model, body)
    return Loaded(model.requires_grad_(False), body, _sizes(body.config), notes, headless=bool(notes))


def _sizes(config: Any) -> Any:
    """Return a configuration with a decoder's own sizes, not those of the encoder that it came with."""
    if config.is_encoder_decoder or not hasattr(config, "decoder_layers"):
        return config
    own = copy.copy(config)
    own.num_hidden_layers, own.num_attention_heads = config.decoder_layers, config.decoder_attention_heads
    return own


def refuse_larger(kind: Any, config: Any, widest: int, stored: int) -> None:
    """Raise ValueError if the model would need far more numbers than there are, before it takes the memory.

    It is laid out without memory to count them, where a setting exceeds every dimension of the weights.

    Parameters
    ----------
    kind : type
        The model's class.
    widest, stored : int
        The largest dimension of the weights, and how many numbers they are.
    """
    if all(value <= widest for _, value in nested_items(config.to_dict()) if type(value) is int):
        return
    with device("meta"):
        needed = sum(parameter.numel() for parameter in kind(config).parameters())
    if needed > 2 * stored:
        raise ValueError(f"the config describes a model of {needed:,} numbers, and the files hold {stored:,}")


def build(config: Any, weights: dict[str, Tensor]) -> Loaded:
    """Make the model of a configuration and fill it.

    Raises
    ------
    GramscopeError
        If the weights are not the model's, or its attention cannot be watched.
    """
    config.use_cache = False
    kind = model_class(config, weights)
    try:
        widest = max((max(weight.shape, default=0) for weight in weights.values()), default=0)
        refuse_larger(kind, config, widest, sum(weight.numel() for weight in weights.values()))
        model, info = kind.from_pretrained(
            None, config=config, state_dict=weights, dtype="auto",
            attn_implementation=register(), output_loading_info=True,
        )  # fmt: skip
    except Exception as error:  # each family raises what it likes
        if isinstance(error, KeyError) and NAME in error.args:
            raise not_shown("This model", kind, f"its attention {OWN_CODE}") from error
        raise GramscopeError(
            f"The weights could not be put into a {kind.__name__}: they do not fit the config.", str(error)
        ) from error
    return watch(model, info)


def reinitialised(loaded: Loaded, seed: int) -> Loaded:
    """Return the same architecture as training would start from; torch's own seed is left alone."""
    model = loaded.model
    with random.fork_rng(devices=[]):
        random.manual_seed(seed)
        fresh = type(model)._from_config(
            copy.deepcopy(model.config), attn_implementation=register(), dtype=model.dtype
        )
    return watch(fresh.eval(), {"missing_keys": ()})


def load_folder(
    folder: Path,
    chosen: Path | None = None,
    should_stop: ShouldStop = never,
    progress: Progress = silent,
) -> Loaded:
    """Load a Hugging Face folder, by the weight file that was `chosen` where it has several.

    Raises
    ------
    GramscopeError
        If anything is missing, broken or unsafe; see `read_config` and `read_weights`.
    Stopped
        If `should_stop` said so.
    """
    weights = read_weights(weight_files(folder, chosen), should_stop, progress)
    progress(0, 0, f"building {folder.name}")
    config, notes = read_config(folder, weights)
    loaded = build(config, weights)
    return replace(loaded, notes=(*notes, *loaded.notes))
