"""The exact numbers beside the measured curves, and where there are none."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.lab.corruption import corrupt
from explorer.lab.probe import SEED
from explorer.lab.prompts import Prompts
from explorer.lab.references import second_moment
from explorer.lab.setting import Setting
from explorer.lab.snapshot import Limits, has_gap
from explorer.maths.attention_pca_limits import Quadratic, bbp_cosine, critical_coupling, loss_over_coupling

DRAWS = 1024
TOKENS = 2**16


@dataclass(frozen=True, eq=False)
class Benchmarks:
    """What holds whatever the coupling is; `limits` adds what depends on it.

    Attributes
    ----------
    quadratic : Quadratic or None
        The infinite-prompt loss of the leading directions, in units of σ_1.
    free : float or None
        The infinite-prompt loss of the best free W: 0 where all prompts share Σ.
    critical : float or None
        The transition in λσ_1; None where no direction leads, or several are trained.
    """

    quadratic: Quadratic | None
    free: float | None
    scale: float
    critical: float | None
    pca: float
    bbp: float | None

    def limits(self, coupling: float | None) -> Limits:
        """Return the limits at a coupling λσ_1; None for a free matrix."""
        if self.quadratic is None or coupling is None:
            return Limits(self.free, None, self.critical, self.pca, self.bbp)
        best, present = self.quadratic.best * self.scale, self.quadratic.at(coupling) * self.scale
        return Limits(best, present, self.critical, self.pca, self.bbp)


def benchmarks(prompts: Prompts, setting: Setting, pca: float) -> Benchmarks:
    """Work out what `setting` is held against; `pca` is what one prompt's sample PCA reaches."""
    generator = torch.Generator().manual_seed(SEED)
    covariance = prompts.covariances(DRAWS, generator)
    quadratic = free = critical = None
    if setting.structure == "free":
        free = 0.0 if covariance.ndim == 2 else None
    elif prompts.has_direction:
        rank = setting.rank if setting.structure != "one" else 1
        quadratic = loss_over_coupling(covariance, prompts.basis[:, :rank])
    if setting.structure == "one" and prompts.has_direction and has_gap(prompts.eigenvalues, 1):
        seen = _seen(prompts, setting, covariance, generator)
        critical = critical_coupling(seen.double(), prompts.basis.double())
    return Benchmarks(quadratic, free, prompts.scale, critical, pca, _bbp(setting))


def _seen(prompts: Prompts, setting: Setting, covariance: Tensor, generator: torch.Generator) -> Tensor:
    """Return the covariances that decide the transition.

    A linear head on a finite prompt sees its sample covariance, exactly (tokens are exchangeable); a softmax
    head sees the population's, up to O(1/L), and under contamination that of the contaminated tokens.
    """
    if setting.length is None or (setting.kind == "softmax" and not setting.corrupts):
        return prompts.covariance if covariance.ndim == 2 else covariance
    count = max(16, min(DRAWS, TOKENS // setting.length))
    x, _ = prompts.sample(count, setting.length, generator)
    x = corrupt(x, setting, prompts, generator)
    return x.mT @ x / setting.length if setting.kind == "linear" else second_moment(x.flatten(0, 1))


def _bbp(setting: Setting) -> float | None:
    data = setting.data
    if data.family == "spiked" and data.theta > 0 and setting.length is not None and not setting.corrupts:
        return float(bbp_cosine(data.theta, data.d / setting.length))
    return None
