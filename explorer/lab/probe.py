"""Prompts put aside: never trained on, the same for every picture of a run."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from explorer.lab.corruption import corrupt
from explorer.lab.prompts import Prompts
from explorer.lab.setting import Setting
from explorer.maths import attention_pca as pca
from explorer.maths.attention_pca_limits import leading_direction

SHOWN_LENGTH = 64
LARGEST = 2**18
SEED = 20_260


class Probe:
    """Held-out prompts and what PCA of one prompt makes of them.

    Attributes
    ----------
    x : Tensor, shape (n, L, d)
    directions : Tensor, shape (n, d)
        What is to be found in each.
    pca : float
        Mean |cos| of each prompt's own sample PCA with it.
    """

    def __init__(self, prompts: Prompts, setting: Setting, count: int | None = None) -> None:
        generator = torch.Generator().manual_seed(SEED + setting.seed)
        length = setting.length or SHOWN_LENGTH
        count = count or max(4, min(64, LARGEST // length**2))
        x, self.directions = prompts.sample(count, length, generator)
        self.x = corrupt(x, setting, prompts, generator)
        self.pca = self._mean_cosine(leading_direction(self.x.mT @ self.x))

    def _mean_cosine(self, found: Tensor) -> float:
        return float((found * self.directions).sum(1).abs().mean())

    def recovery(self, kind: pca.Kind, w: Tensor) -> float:
        """Return the mean |cos| of the heads' readout with each prompt's own direction."""
        return self._mean_cosine(pca.readout(pca.attend(kind, self.x, w)))

    def weights(self, kind: pca.Kind, w: Tensor) -> np.ndarray:
        """Return what the first prompt's first token gives every token, shape (L, R)."""
        return pca.first_weights(kind, self.x[:1], w)[0].T.numpy()

    def projections(self, m: Tensor) -> np.ndarray:
        """Return the first prompt's tokens along the learned directions (d, R), shape (L, R)."""
        return (self.x[0] @ m).numpy()
