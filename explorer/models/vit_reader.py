"""Images made ready for a vision transformer that comes without settings of its own."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from torch import Tensor

from explorer.models.images import ImageReader
from explorer.models.pictures import Preprocessing
from explorer.models.safety import read_json
from explorer.models.vit import VitConfig

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Grey(Preprocessing):
    """For a model of one channel: the mean of red, green and blue."""

    def frame(self, pixels: np.ndarray) -> np.ndarray:
        """Resize and crop uint8 (H, W, 3), and take its colours away."""
        grey = Preprocessing.frame(self, pixels).mean(-1, keepdims=True).round().astype(np.uint8)
        return np.repeat(grey, 3, axis=-1)

    def normalise(self, pixels: np.ndarray) -> Tensor:
        """Turn uint8 (H, W, 3), all channels equal, into float32 (1, 1, H, W)."""
        return Preprocessing.normalise(self, pixels)[:, :1]

    def pixels_of(self, values: Tensor) -> np.ndarray:
        """Turn normalised values (1, 1, H, W) back into uint8 (H, W, 3)."""
        return Preprocessing.pixels_of(self, values.expand(-1, 3, -1, -1))


def preprocessing_for(config: VitConfig, timm: dict[str, Any]) -> tuple[Preprocessing, tuple[str, ...]]:
    """Return what is done to images, and which of it is a default.

    Parameters
    ----------
    timm : dict
        "pretrained_cfg" of timm's config.json, where that lies beside the weights.
    """
    stated = "mean" in timm and "std" in timm
    mean = tuple(timm["mean"]) if stated else IMAGENET_MEAN
    std = tuple(timm["std"]) if stated else IMAGENET_STD
    if config.channels == 1:
        mean, std = (sum(mean) / len(mean),) * 3, (sum(std) / len(std),) * 3
    square = config.size[0] == config.size[1]
    kind = Grey if config.channels == 1 else Preprocessing
    made = kind(
        size=None if square else config.size,
        shortest=config.size[0] if square else None,
        crop=config.size if square else None,
        mean=mean,
        std=std,
    )
    return made, () if stated else ("how images were normalised: ImageNet's mean and deviation are used",)


def timm_settings(folder: Path) -> dict[str, Any]:
    """Return "pretrained_cfg" of a timm config.json in a folder; empty where there is none."""
    path = folder / "config.json"
    found = read_json(path).get("pretrained_cfg") if path.is_file() else None
    return found if isinstance(found, dict) else {}


class VitReader(ImageReader):
    """Reads images for a `Vit`.

    Parameters
    ----------
    config : VitConfig
    preprocessing : Preprocessing
    missing : tuple of str
        What the file does not say, and what stands in for it.
    """

    def __init__(self, config: VitConfig, preprocessing: Preprocessing, missing: tuple[str, ...]) -> None:
        described = SimpleNamespace(
            image_size=config.size,
            patch_size=config.patch,
            num_channels=config.channels,
            model_type="deit" if config.dist_token else "vit",
            num_register_tokens=config.registers,
        )
        super().__init__(described, preprocessing)
        self.missing = missing
        if not config.class_token:
            self.special = self.special[1:]
