"""Train a small vision transformer on digits, one token a pixel: softmax, symmetric or RPC-Attention."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer import __version__
from explorer.errors import Stopped
from explorer.models.base import ShouldStop, never
from explorer.models.digits_data import MEAN, SPLIT_SEED, STD, Digits, as_input, load_digits
from explorer.models.safety import Progress, silent
from explorer.models.vit import Vit, VitConfig
from explorer.models.vit_attention import rpc
from explorer.settings import atomic_write

DigitsVariant = Literal["softmax", "symmetric", "rpc"]
VARIANTS: tuple[DigitsVariant, ...] = ("softmax", "symmetric", "rpc")
CONFIG = VitConfig(
    dim=48, depth=4, heads=3, hidden=96, patch=(1, 1), grid=(8, 8), channels=1, classes=10
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Training:
    """How a model is trained.

    Attributes
    ----------
    steps, batch : int
    rate : float
        Largest learning rate of AdamW, reached after `warmup` of the steps, then falling as a cosine.
    warmup, decay, smoothing, clip : float
        Share of the steps; weight decay; label smoothing; largest norm of the gradient.
    shift : int
        Images are moved by up to so many pixels in each direction.
    lam, iterations : float, int
        λ and iterations of the published, symmetric pursuit in every layer of the RPC model.
    """

    steps: int = 900
    batch: int = 48
    rate: float = 3e-3
    warmup: float = 0.15
    decay: float = 0.05
    smoothing: float = 0.05
    clip: float = 1.0
    shift: int = 1
    lam: float = 4.0
    iterations: int = 2


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model, the loss of every step, and the share of the test images that it names rightly."""

    model: Vit
    losses: tuple[float, ...]
    accuracy: float


def sincos_positions(grid: tuple[int, int], dim: int) -> Tensor:
    """Return sines and cosines of the row and of the column, a quarter of `dim` each, (P, dim).

    A start that tells neighbours apart from strangers; with random positions the same number of
    steps leaves a third of the digits misread.
    """
    quarter = dim // 4
    frequencies = math.pi / max(grid) * 4.0 ** (torch.arange(quarter) / quarter)
    axes = [torch.arange(length)[:, None] * frequencies for length in grid]
    rows, columns = (torch.cat([angle.sin(), angle.cos()], dim=1) for angle in axes)
    shape = (*grid, 2 * quarter)
    return torch.cat([rows[:, None].expand(shape), columns[None].expand(shape)], dim=-1).flatten(0, 1)


def new_model(variant: DigitsVariant, seed: int, training: Training) -> Vit:
    """Return an untrained model with its attention in place."""
    config = replace(CONFIG, keys_are_queries=variant != "softmax")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Vit(config)
        for parameter in model.parameters():
            if parameter.ndim == 2:
                nn.init.xavier_uniform_(parameter)
        assert model.cls_token is not None
        nn.init.trunc_normal_(model.cls_token, std=0.02)
    with torch.no_grad():
        model.pos_embed[0, config.positioned :] = sincos_positions(config.grid, config.dim)
    if variant == "rpc":
        model.attend_by_default(rpc(width=config.dim, lam=training.lam, iterations=training.iterations))
    return model


def accuracy(model: Vit, digits: Digits) -> float:
    """Return the share of the images that the model names rightly."""
    with torch.no_grad():
        named = model(as_input(digits.images)).argmax(-1)
    return float((named == torch.from_numpy(digits.labels)).double().mean())


@contextmanager
def _one_thread() -> Iterator[None]:
    """Compute on one thread: the same sums on any machine, and no waiting where the cores are busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _batches(digits: Digits, training: Training, rng: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    images, labels = as_input(digits.images), torch.from_numpy(digits.labels).long()
    while True:
        for chosen in torch.randperm(len(digits), generator=rng).split(training.batch):
            yield _shifted(images[chosen], training.shift, rng), labels[chosen]


def _shifted(images: Tensor, by: int, rng: torch.Generator) -> Tensor:
    """Move each image by its own draw, paper coming in at the edges."""
    count, _, height, width = images.shape
    padded = functional.pad(images[:, 0], (by, by, by, by), value=-MEAN / STD)
    down, right = torch.randint(0, 2 * by + 1, (2, count, 1), generator=rng)
    rows, columns = down + torch.arange(height), right + torch.arange(width)
    return padded[torch.arange(count)[:, None, None], rows[:, :, None], columns[:, None, :]][:, None]


def train_digits(
    variant: DigitsVariant,
    seed: int = 0,
    out: Path | None = None,
    *,
    training: Training | None = None,
    progress: Progress = silent,
    should_stop: ShouldStop = never,
) -> Trained:
    """Train one model, seeded: the same seed gives the same model on the same machine.

    Parameters
    ----------
    variant : {"softmax", "symmetric", "rpc"}
        "symmetric": the keys are the queries (SymViT); "rpc": the same with principal attention
        pursuit in every layer (RPC-SymViT, arXiv 2406.13762).
    seed : int
        Of the initial weights, the order and the shifts; the split of the data is always the same.
    out : Path, optional
        Where to write the checkpoint (safetensors, with how it was made in its header).
    training : Training, optional
    progress : callable
        Told of steps, with the loss.

    Raises
    ------
    GramscopeError
        If `out` cannot be written.
    Stopped
        If `should_stop` said so between two steps.
    """
    training = training or Training()
    with _one_thread():
        model = new_model(variant, seed, training)
        losses = _descend(model, variant, seed, training, progress, should_stop)
        trained = Trained(model.eval(), losses, accuracy(model, load_digits("test")))
    if out is not None:
        atomic_write(out, _checkpoint(trained, variant, seed, training))
    return trained


def _descend(
    model: Vit, variant: str, seed: int, training: Training, progress: Progress, should_stop: ShouldStop
) -> tuple[float, ...]:
    optimizer = torch.optim.AdamW(model.parameters(), training.rate, weight_decay=training.decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, training.rate, total_steps=training.steps, pct_start=training.warmup
    )
    batches = _batches(load_digits("train"), training, torch.Generator().manual_seed(seed))
    losses = []
    for step in range(training.steps):
        if should_stop():
            raise Stopped
        images, labels = next(batches)
        loss = functional.cross_entropy(model(images), labels, label_smoothing=training.smoothing)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), training.clip)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        progress(step + 1, training.steps, f"training {variant}, seed {seed}: loss {losses[-1]:.3f}")
    return tuple(losses)


def _checkpoint(trained: Trained, variant: str, seed: int, training: Training) -> bytes:
    from safetensors.torch import save

    header = {
        "gramscope": "digits",
        "program": f"Gramscope {__version__}",
        "variant": variant,
        "heads": str(CONFIG.heads),
        "config": json.dumps(asdict(trained.model.config)),
        "training": json.dumps(asdict(training)),
        "seed": str(seed),
        "split_seed": str(SPLIT_SEED),
        "test_accuracy": repr(trained.accuracy),
        "versions": json.dumps({name: version(name) for name in ("torch", "numpy")}),
    }
    return save(trained.model.state_dict(), metadata=header)
