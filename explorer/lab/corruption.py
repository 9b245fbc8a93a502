"""Contamination of prompts, and its removal by principal attention pursuit."""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.lab.prompts import Prompts
from explorer.lab.setting import Setting
from explorer.maths.rpc import pap


def corrupt(x: Tensor, setting: Setting, prompts: Prompts, generator: torch.Generator) -> Tensor:
    """Contaminate prompts as `setting` says, and clean them where it says so.

    Parameters
    ----------
    x : Tensor, shape (B, L, d)
    """
    if not setting.corrupts:
        return x
    if setting.contamination != "none" and setting.level > 0:
        deviation = float(prompts.covariance.trace() / prompts.d) ** 0.5
        x = contaminate(x, setting, deviation, generator)
    return clean(x, setting.iterations) if setting.clean else x


def clean(x: Tensor, iterations: int) -> Tensor:
    """Return prompts without the sparse part that principal attention pursuit finds in them.

    The published form with its own λ, on each prompt in units of its deviation; queries, keys and values are
    the prompt's tokens, W = d, as on a head (Teo and Nguyen, arXiv 2406.13762). One iteration is clipping,
    for L is still 0 then; the pursuit need not converge, and more iterations can clean less.
    """
    deviation = x.std((-2, -1), correction=0, keepdim=True)
    k = x / deviation
    found = pap(
        k, k, k, x.shape[-1] ** -0.5,
        form="published", queries="symmetric", width=x.shape[-1], iterations=iterations,
    )  # fmt: skip
    return x - deviation * found.sparse


def contaminate(x: Tensor, setting: Setting, deviation: float, generator: torch.Generator) -> Tensor:
    """Hit tokens or entries; sizes are in units of `deviation`, an entry's deviation in clean data.

    sparse: a fraction gets ± magnitude added; replace: becomes ± magnitude; tokens: a fraction of the tokens
    is moved by magnitude in a random direction each; gaussian: noise with deviation `level`.
    """
    noise = torch.randn(x.shape, generator=generator)
    if setting.contamination == "gaussian":
        return x + setting.level * deviation * noise
    size = setting.magnitude * deviation
    if setting.contamination == "tokens":
        hit = torch.rand(*x.shape[:2], 1, generator=generator) < setting.level
        return x + hit * size * noise / torch.linalg.vector_norm(noise, dim=-1, keepdim=True)
    hit = torch.rand(x.shape, generator=generator) < setting.level
    return torch.where(hit, size * noise.sign() + (0 if setting.contamination == "replace" else x), x)
